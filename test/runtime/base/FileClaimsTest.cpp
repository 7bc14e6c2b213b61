//===- FileClaimsTest.cpp -------------------------------------------------===//

#include "runtime/base/claim/FileClaims.h"
#include "test/runtime/base/Folder.h"

#include <filesystem>
#include <fstream>

using namespace pcc;
using namespace pcc::runtime;
namespace fs = std::filesystem;

namespace {
class FileClaimsTest : public testing::Test {
protected:
  void SetUp() override {
    fs::create_directories(folder / "b.pcc");
    std::ofstream(folder / "a") << "text";
    fs::create_symlink("a", folder / "link");
    fs::create_hard_link(folder / "a", folder / "hard");
  }

  std::string in(const std::string &name) const { return folder / name; }

  /// Returns the message for an output `written` beside the input `kept`.
  std::string messageFor(const std::string &kept,
                         const std::string &written) const {
    FileClaims claims;
    claims.keep("the run reads", in(kept));
    claims.write("--report", in(written));
    return claims.check().message();
  }

  const test::Folder own;
  const fs::path folder = own.path;
};
} // namespace

TEST_F(FileClaimsTest, FindsOneFileByAllItsNames) {
  for (const char *name : {"a", "./a", "b.pcc/../a", "link", "hard"}) {
    EXPECT_NE(messageFor("a", name), "") << name;
    EXPECT_NE(messageFor(name, "a"), "") << name;
  }
  EXPECT_EQ(messageFor("a", "new"), "");
  EXPECT_EQ(messageFor("a", "a"),
            "--report: cannot write '" + in("a") + "': the run reads it");
}

TEST_F(FileClaimsTest, KeepsTheContentOfBundles) {
  for (const char *name : {"rank-000", "run", "bundle.json", "weights/w",
                           "step-00000001/manifest.json", "latest"})
    EXPECT_EQ(messageFor("b.pcc", std::string("b.pcc/") + name),
              "--report: cannot write '" + in(std::string("b.pcc/") + name) +
                  "': the run reads '" + in("b.pcc") + "'");
  for (const char *name : {"report.json", "out/rank-000", "y.npy"})
    EXPECT_EQ(messageFor("b.pcc", std::string("b.pcc/") + name), "") << name;
  EXPECT_NE(messageFor("b.pcc/", "b.pcc/run"), "");
}

TEST_F(FileClaimsTest, RefusesOneFileForTwoOutputs) {
  FileClaims claims;
  claims.write("--html", in("new"));
  claims.write("--report", in("./new"));
  EXPECT_EQ(claims.check().message(), "--report: cannot write '" + in("./new") +
                                          "': --html writes it as well");
}

TEST_F(FileClaimsTest, ComparesBundlesWithFilesInThem) {
  FileClaims claims;
  claims.writeBundle("-o", in("b.pcc"));
  claims.write("--dump-ir", in("b.pcc2/4-shard.mlir"));
  EXPECT_TRUE(claims.check().ok());
  claims.write("--dump-ir", in("b.pcc/4-shard.mlir"));
  EXPECT_EQ(claims.check().message(), "--dump-ir: cannot write '" +
                                          in("b.pcc/4-shard.mlir") +
                                          "': -o writes '" + in("b.pcc") + "'");
  FileClaims packed;
  packed.keep("the model has weights in", in("b.pcc/weights/w"));
  EXPECT_TRUE(packed.check().ok());
  packed.writeBundle("-o", in("b.pcc"));
  EXPECT_EQ(packed.check().message(), "-o: cannot write '" + in("b.pcc") +
                                          "': the model has weights in '" +
                                          in("b.pcc/weights/w") + "'");
}

TEST_F(FileClaimsTest, LeavesDevicesAndStreamsAlone) {
  FileClaims claims;
  for (const char *path : {"", "-", "/dev/null", "/dev/null"})
    claims.write("--report", path);
  EXPECT_TRUE(claims.check().ok());
  claims.write("--report", folder);
  EXPECT_EQ(claims.check().code(), InputOutput);
}

TEST_F(FileClaimsTest, KeepsFilesWithAnEnding) {
  std::ofstream(folder / "x.npy") << "text";
  FileClaims claims;
  claims.keepFilesIn("the run reads", folder, ".npy");
  claims.write("--report", in("y.npy"));
  claims.write("--metrics", in("a"));
  EXPECT_TRUE(claims.check().ok());
  claims.write("--trace", in("x.npy"));
  EXPECT_FALSE(claims.check().ok());
}
