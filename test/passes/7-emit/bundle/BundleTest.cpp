//===- BundleTest.cpp - bundles as their users see them -------------------===//

#include "passes/7-emit/Emit.h"
#include "passes/7-emit/bundle/BundleFolder.h"
#include "runtime/program/ProgramImage.h"
#include "runtime/program/Seal.h"
#include "runtime/program/bundle/Inspect.h"
#include "test/passes/7-emit/program/Modules.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sys/stat.h>
#include <sys/wait.h>

using namespace mlir;
using namespace pcc;
using namespace pcc::test;
namespace fs = std::filesystem;

namespace {
class BundleTest : public testing::Test {
protected:
  BundleTest() {
    loadDialects(context);
    folder = testing::TempDir() + "pcc-bundle-test-" + std::to_string(getpid());
    fs::create_directories(folder);
  }
  ~BundleTest() override { fs::remove_all(folder); }

  Status write(const std::string &name, const std::string &text = twoStages) {
    auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    return emit::writeBundle(*module, {folder + "/" + name});
  }

  static std::string contents(const fs::path &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::vector<std::string> listing() const {
    std::vector<std::string> names;
    for (const auto &entry : fs::directory_iterator(folder))
      names.push_back(entry.path().filename());
    return names;
  }

  MLIRContext context;
  std::string folder;
};
} // namespace

TEST_F(BundleTest, RanksOfAPositionAreOneFile) {
  Status status = write("b");
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(fs::equivalent(folder + "/b/rank-000", folder + "/b/rank-001"));
  EXPECT_FALSE(fs::equivalent(folder + "/b/rank-001", folder + "/b/rank-002"));
  EXPECT_TRUE(fs::exists(folder + "/b/run"));
  EXPECT_TRUE(runtime::checkSeal(folder + "/b/rank-003").ok());
  EXPECT_EQ(listing(), std::vector<std::string>{"b"});
}

// A file system bounds the names of a file, ext4 at 65,000.
TEST_F(BundleTest, ManyRanksAreFewFiles) {
  emit::BundleFolder bundle;
  ASSERT_TRUE(bundle.create(folder + "/b").ok());
  ASSERT_TRUE(bundle.write("rank-0", "program").ok());
  std::string file = "rank-0";
  for (int rank = 1; rank <= 65010; ++rank)
    ASSERT_TRUE(bundle.link(file, "rank-" + std::to_string(rank)).ok());
  ASSERT_TRUE(bundle.finish().ok());
  std::set<ino_t> files;
  for (int rank : {0, 1, 64990, 65008, 65009, 65010}) {
    const std::string path = folder + "/b/rank-" + std::to_string(rank);
    EXPECT_EQ(contents(path), "program");
    struct stat found;
    ASSERT_EQ(stat(path.c_str(), &found), 0);
    files.insert(found.st_ino);
  }
  EXPECT_LE(files.size(), 2u);
}

TEST_F(BundleTest, EqualModulesGiveEqualBytes) {
  ASSERT_TRUE(write("a").ok());
  ASSERT_TRUE(write("b").ok());
  for (const auto &entry : fs::directory_iterator(folder + "/a"))
    EXPECT_EQ(contents(entry.path()),
              contents(folder + "/b/" + entry.path().filename().string()))
        << entry.path();
}

/// The kernels of all positions are compiled together.
TEST_F(BundleTest, AnExecutableHoldsOnlyKernelsThatItCalls) {
  const std::string call = R"mlir(
    %y = rank.launch @used(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>)mlir";
  const std::string used = R"mlir(
  rank.kernel @used(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {extent = 4 : i64} {
    %y = graph.neg %x : tensor<4x8xf32>
    rank.yield %y : tensor<4x8xf32>
  })mlir";
  const std::string unused = R"mlir(
  rank.kernel @unused(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {extent = 4 : i64} {
    %y = graph.exp %x : tensor<4x8xf32>
    %z = graph.tanh %y : tensor<4x8xf32>
    rank.yield %z : tensor<4x8xf32>
  })mlir";
  const auto withKernels = [&](const std::string &kernels) {
    std::string text = oneRank(call);
    return text.insert(text.find("  func.func"), kernels);
  };
  ASSERT_TRUE(write("one", withKernels(used)).ok());
  ASSERT_TRUE(write("two", withKernels(used + unused)).ok());
  EXPECT_EQ(fs::file_size(folder + "/one/rank-000"),
            fs::file_size(folder + "/two/rank-000"));
}

TEST_F(BundleTest, AnExecutableStartsAndLoads) {
  ASSERT_TRUE(write("b").ok());
  const std::string rank = folder + "/b/rank-000";
  const std::string command = "PCC_RANK=0 PCC_WORLD_SIZE=4 PCC_LOCAL_RANK=0 " +
                              rank + " --help > /dev/null";
  // NOLINTNEXTLINE(bugprone-command-processor)
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 0);
  void *handle = dlopen(rank.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(handle) << dlerror();
  const auto *image = static_cast<const runtime::ProgramImage *>(
      dlsym(handle, "pcc_program_image"));
  ASSERT_TRUE(image);
  EXPECT_GT(image->programBytes, 0u);
  dlclose(handle);
}

TEST_F(BundleTest, ABundleIsReplaced) {
  ASSERT_TRUE(write("b").ok());
  const std::string made = folder + "/b/algorithms-cublaslt-130000-H100";
  std::ofstream(made) << "x";
  ASSERT_TRUE(write("b").ok());
  EXPECT_FALSE(fs::exists(made));
}

TEST_F(BundleTest, ABundleWithFilesOfTheUserStays) {
  ASSERT_TRUE(write("b").ok());
  for (const std::string name : {"notes", "rank-999"}) {
    const std::string path = folder + "/b/" + name;
    std::ofstream(path) << "x";
    const Status status = write("b");
    EXPECT_EQ(status.code(), InputOutput);
    EXPECT_NE(status.message().find("'" + name + "'"), std::string::npos);
    EXPECT_TRUE(fs::remove(path));
  }
}

TEST_F(BundleTest, WhatIsNoBundleStays) {
  fs::create_directory(folder + "/data");
  std::ofstream(folder + "/data/file") << "x";
  EXPECT_EQ(write("data").code(), InputOutput);
  EXPECT_TRUE(fs::exists(folder + "/data/file"));
  EXPECT_EQ(listing(), std::vector<std::string>{"data"});
}

TEST_F(BundleTest, FailureLeavesNothing) {
  EXPECT_EQ(write("no/such/folder").code(), InputOutput);
  EXPECT_EQ(
      write("b", oneRank("%y = graph.softmax %x over 1 : tensor<4x8xf32>"))
          .code(),
      Unsupported);
  EXPECT_TRUE(listing().empty());
}

/// The op gives the type and the kind of a reduction.
TEST_F(BundleTest, AReductionSaysItsTypeAndKind) {
  std::string model = twoStages;
  for (size_t at; (at = model.find("xf32>")) != std::string::npos;)
    model.replace(at, 5, "xbf16>");
  model.replace(model.find("partial sum"), 11, "partial max");
  Status status = write("b", model);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_NE(contents(folder + "/b/bundle.json")
                .find(R"("dtype":"bf16","reduction":"max","local_bytes":32,)"),
            std::string::npos);
}

TEST_F(BundleTest, InspectSaysWhatEveryRankHolds) {
  ASSERT_TRUE(write("b").ok());
  std::string text;
  Status status = runtime::inspectBundle(
      {.bundle = folder + "/b", .rank = 3, .json = true}, text);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_NE(text.find(R"("coordinates":{"pp":1,"tp":1})"), std::string::npos);
  EXPECT_NE(text.find(R"("runs":[[[8,16]],[[0,8]]])"), std::string::npos);
  // The output of both microbatches.
  EXPECT_NE(text.find(R"("runs":[[[0,4]],[[0,8]]])"), std::string::npos);
  EXPECT_NE(text.find(R"("kind":"all_reduce","axes":["tp"])"),
            std::string::npos);
}
