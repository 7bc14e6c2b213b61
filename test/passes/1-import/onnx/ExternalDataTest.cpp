//===- ExternalDataTest.cpp - which files a model may point to ------------===//

#include "passes/1-import/onnx/ExternalData.h"
#include "passes/1-import/onnx/ReadModel.h"
#include "test/passes/1-import/onnx/Builder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace pcc;
using namespace pcc::onnx;
using namespace pcc::onnx::build;
namespace fs = std::filesystem;

namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

/// Folder with a model in m/, whose initializer `w` has 400 bytes.
class ExternalDataTest : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::canonical(testing::TempDir()) /
             testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder);
    fs::create_directories(folder / "m");
  }
  void TearDown() override { fs::remove_all(folder); }

  void file(const fs::path &name, size_t size = 400) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << std::string(size, 'x');
  }

  void writeModel(const Entries &entries, const fs::path &name) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary)
        << model(graph({node("Relu", {"w"}, {"y"})}, {}, {"y"},
                       {external("w", {10, 10}, entries)}));
  }

  StatusOr<DataReference> resolveIn(const fs::path &modelName,
                                    const ExternalDataOptions &options = {}) {
    const std::string path = folder / modelName;
    const StatusOr<Model> model = readModel(path);
    if (!model)
      return model.status();
    ExternalData data(path, options);
    root = data.root();
    return data.resolve(*model, model->graph.initializers.at(0));
  }

  StatusOr<DataReference> resolve(const Entries &entries,
                                  const ExternalDataOptions &options = {}) {
    writeModel(entries, "m/model.onnx");
    return resolveIn("m/model.onnx", options);
  }

  /// Expects exit code 3 and a message that contains all of `parts`.
  void refused(const StatusOr<DataReference> &result,
               std::vector<std::string> parts) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.status().code(), CannotRead);
    parts.push_back("'w'");
    for (const std::string &part : parts)
      EXPECT_NE(result.status().message().find(part), std::string::npos)
          << result.status().message();
  }

  fs::path folder;
  std::string root;
};

} // namespace

TEST_F(ExternalDataTest, FindsAFileBesideTheModel) {
  file("m/w.bin", 500);
  const auto found =
      resolve({{"location", "w.bin"}, {"offset", "100"}, {"length", "400"}});
  ASSERT_TRUE(found) << found.status().message();
  EXPECT_EQ(root, folder / "m");
  EXPECT_EQ(found->path, "w.bin");
  EXPECT_EQ(found->offset, 100u);
  EXPECT_EQ(found->length, 400u);
  EXPECT_EQ(found->fileSize, 500u);
  EXPECT_TRUE(found->present);
  EXPECT_NE(found->modified, 0);
}

TEST_F(ExternalDataTest, OffsetAndLengthHaveDefaults) {
  file("m/sub/w.bin");
  const auto found = resolve({{"location", "./sub//w.bin"}, {"checksum", "0"}});
  ASSERT_TRUE(found) << found.status().message();
  EXPECT_EQ(found->path, "sub/w.bin");
  EXPECT_EQ(found->length, 400u);
}

TEST_F(ExternalDataTest, FilesThatAreMissingOrTooShort) {
  refused(resolve({{"location", "w.bin"}}), {"w.bin", "does not exist"});
  file("m/w.bin", 399);
  refused(resolve({{"location", "w.bin"}}), {"w.bin", "has 399 bytes"});
  file("m/w.bin");
  refused(resolve({{"location", "w.bin"}, {"offset", "1"}}), {"w.bin"});
  refused(resolve({{"location", "w.bin"}, {"offset", "401"}}), {"w.bin"});
  // 2^64 - 200: offset + length wraps around.
  refused(resolve({{"location", "w.bin"},
                   {"offset", "18446744073709551416"},
                   {"length", "400"}}),
          {"w.bin", "18446744073709551416"});
}

TEST_F(ExternalDataTest, NumbersThatAreNone) {
  file("m/w.bin");
  for (const char *text :
       {"-1", "1x", " 1", "+1", "0x10", "1e3", "18446744073709551616"}) {
    refused(resolve({{"location", "w.bin"}, {"offset", text}}), {"w.bin"});
    refused(resolve({{"location", "w.bin"}, {"length", text}}), {"w.bin"});
  }
  refused(resolve({{"location", "w.bin"}, {"length", "399"}}),
          {"w.bin", "does not fit"});
}

TEST_F(ExternalDataTest, LocationsThatLeaveTheDirectory) {
  file("secret");
  file("m/w.bin");
  refused(resolve({{"location", folder / "secret"}}), {"secret", "relative"});
  refused(resolve({{"location", "../secret"}}), {"secret", "'..'"});
  refused(resolve({{"location", "a/../w.bin"}}), {"w.bin", "'..'"});
  refused(resolve({{"location", ""}}), {"empty"});
  refused(resolve(Entries{}), {"empty"});
  refused(resolve({{"location", std::string("w.bin\0x", 7)}}), {"zero byte"});
  refused(resolve({{"location", "."}}), {"regular file"});
}

TEST_F(ExternalDataTest, LinksThatLeaveTheDirectory) {
  file("secret");
  fs::create_symlink(folder / "secret", folder / "m/w.bin");
  refused(resolve({{"location", "w.bin"}}), {"w.bin", "outside"});
  fs::create_directories(folder / "other");
  file("other/w.bin");
  fs::create_directory_symlink(folder / "other", folder / "m/inner");
  refused(resolve({{"location", "inner/w.bin"}}), {"inner/w.bin", "outside"});
  fs::create_symlink("nothing", folder / "m/dangling");
  refused(resolve({{"location", "dangling"}}), {"dangling", "cannot be read"});
  fs::create_symlink("loop", folder / "m/loop");
  refused(resolve({{"location", "loop"}}), {"loop", "cannot be read"});
  // The name of m2 begins with that of m, but m2 is not in m.
  file("m2/w.bin");
  fs::create_symlink(folder / "m2/w.bin", folder / "m/near");
  refused(resolve({{"location", "near"}}), {"near", "outside"});
}

TEST_F(ExternalDataTest, ALinkInsideTheDirectoryIsFollowed) {
  file("m/blobs/1");
  fs::create_symlink("blobs/1", folder / "m/w.bin");
  const auto found = resolve({{"location", "w.bin"}});
  ASSERT_TRUE(found) << found.status().message();
  EXPECT_EQ(found->path, "w.bin");
}

TEST_F(ExternalDataTest, ASecondHardLinkIsRefused) {
  file("secret");
  fs::create_hard_link(folder / "secret", folder / "m/w.bin");
  const auto result = resolve({{"location", "w.bin"}});
  refused(result, {"w.bin", "2 hard links"});
  EXPECT_EQ(result.status().notes().size(), 1u);
  // The user trusts the files below the extra root.
  EXPECT_TRUE(resolve({{"location", "w.bin"}}, {.extraRoot = folder / "m"}));
}

TEST_F(ExternalDataTest, OtherKindsOfFiles) {
  fs::create_directory(folder / "m/w.bin");
  refused(resolve({{"location", "w.bin"}}), {"w.bin", "regular file"});
}

// A cache of Hugging Face: model and data are links into a folder of blobs.
TEST_F(ExternalDataTest, ModelAndDataAsLinksIntoBlobs) {
  file("blobs/data");
  writeModel({{"location", "w.bin"}}, "blobs/model");
  const fs::path snapshot = folder / "snapshots/1";
  fs::create_directories(snapshot);
  fs::create_symlink("../../blobs/model", snapshot / "model.onnx");
  fs::create_symlink("../../blobs/data", snapshot / "w.bin");
  const auto found = resolveIn("snapshots/1/model.onnx");
  ASSERT_TRUE(found) << found.status().message();
  EXPECT_EQ(root, snapshot);
  EXPECT_EQ(found->path, "w.bin");
}

TEST_F(ExternalDataTest, OnlyTheModelIsALink) {
  file("real/w.bin");
  writeModel({{"location", "w.bin"}}, "real/model.onnx");
  fs::create_symlink(folder / "real/model.onnx", folder / "m/model.onnx");
  const auto found = resolveIn("m/model.onnx");
  ASSERT_TRUE(found) << found.status().message();
  EXPECT_EQ(found->path, "../real/w.bin");
}

TEST_F(ExternalDataTest, AnExtraRootWidens) {
  file("else/w.bin");
  const ExternalDataOptions options{.extraRoot = folder / "else"};
  const auto found = resolve({{"location", "w.bin"}}, options);
  ASSERT_TRUE(found) << found.status().message();
  EXPECT_EQ(found->path, "../else/w.bin");
  fs::create_symlink(folder / "else/w.bin", folder / "m/w.bin");
  EXPECT_FALSE(resolve({{"location", "w.bin"}}));
  EXPECT_TRUE(resolve({{"location", "w.bin"}}, options));
}

TEST_F(ExternalDataTest, AbsentFilesWhereTheyAreAllowed) {
  const ExternalDataOptions options{.extraRoot = {}, .allowAbsent = true};
  const auto found = resolve({{"location", "w.bin"}}, options);
  ASSERT_TRUE(found) << found.status().message();
  EXPECT_FALSE(found->present);
  EXPECT_EQ(found->length, 400u);
  refused(resolve({{"location", "../w.bin"}}, options), {"w.bin"});
}

TEST_F(ExternalDataTest, DataInsideTheModel) {
  const std::string bytes = model(
      graph({node("Relu", {"w"}, {"y"})}, {}, {"y"}, {zeros("w", {10, 10})}));
  std::ofstream(folder / "m/model.onnx", std::ios::binary) << bytes;
  const auto found = resolveIn("m/model.onnx");
  ASSERT_TRUE(found) << found.status().message();
  EXPECT_EQ(found->path, "model.onnx");
  EXPECT_EQ(found->length, 400u);
  EXPECT_EQ(found->fileSize, bytes.size());
  EXPECT_EQ(bytes.substr(found->offset, 400), std::string(400, '\0'));
}
