//===- AlgorithmCacheTest.cpp --------------------------------------------===//

#include "runtime/device/AlgorithmCache.h"
#include "test/runtime/base/Folder.h"

using pcc::runtime::AlgorithmBytes;
using pcc::runtime::AlgorithmCache;
using pcc::test::Folder;

static const char user[] = "cublaslt 130000 NVIDIA H100 80GB HBM3";
static const char name[] = "algorithms-cublaslt-130000-NVIDIA-H100-80GB-HBM3";

static AlgorithmBytes bytesOf(unsigned char first) {
  AlgorithmBytes bytes = {};
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(first + 5 * i);
  return bytes;
}

static AlgorithmCache opened(const Folder &folder) {
  AlgorithmCache known;
  known.open(folder.path, user);
  return known;
}

/// Adds an entry as one rank of one run.
static void keep(const Folder &folder, const std::string &problem,
                 unsigned char first) {
  AlgorithmCache known = opened(folder);
  known.add(problem, bytesOf(first));
  known.keep();
}

static std::string contents(const Folder &folder) {
  std::ifstream file(folder.path + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

static void setContents(const Folder &folder, const std::string &text) {
  std::ofstream(folder.path + "/" + name, std::ios::binary) << text;
}

TEST(AlgorithmCache, AreThereAtTheNextStart) {
  const Folder folder;
  EXPECT_EQ(opened(folder).find("4 x 8"), nullptr);
  keep(folder, "4 x 8", 200);
  keep(folder, "4 x 9", 7);
  const AlgorithmCache known = opened(folder);
  ASSERT_TRUE(known.find("4 x 8") && known.find("4 x 9"));
  EXPECT_EQ(*known.find("4 x 8"), bytesOf(200));
  EXPECT_EQ(*known.find("4 x 9"), bytesOf(7));
  EXPECT_EQ(known.find("4 x 10"), nullptr);
  EXPECT_EQ(folder.files(), std::vector<std::string>{name});
}

TEST(AlgorithmCache, AreOfOneDeviceAndLibrary) {
  const Folder folder;
  keep(folder, "4 x 8", 200);
  AlgorithmCache other;
  other.open(folder.path, "cublaslt 130001 NVIDIA H100 80GB HBM3");
  EXPECT_EQ(other.find("4 x 8"), nullptr);
}

/// Ranks that start together do not know each other's problems.
TEST(AlgorithmCache, OfRanksThatWriteTogether) {
  const Folder folder;
  AlgorithmCache first = opened(folder), second = opened(folder);
  first.add("first", bytesOf(1));
  second.add("second", bytesOf(2));
  first.keep();
  second.keep();
  const AlgorithmCache known = opened(folder);
  EXPECT_TRUE(known.find("first") && known.find("second"));
}

TEST(AlgorithmCache, OfAnotherMindAreReplaced) {
  const Folder folder;
  keep(folder, "4 x 8", 200);
  keep(folder, "4 x 8", 7);
  EXPECT_EQ(*opened(folder).find("4 x 8"), bytesOf(7));
}

TEST(AlgorithmCache, OfADamagedFileAreNone) {
  const Folder folder;
  keep(folder, "4 x 8", 200);
  keep(folder, "4 x 9", 7);
  const std::string whole = contents(folder);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] ^= 4;
    setContents(folder, damaged);
    EXPECT_EQ(opened(folder).find("4 x 8"), nullptr) << "byte " << i;
    setContents(folder, whole.substr(0, i));
    EXPECT_EQ(opened(folder).find("4 x 8"), nullptr) << i << " bytes";
  }
  setContents(folder, whole);
  EXPECT_NE(opened(folder).find("4 x 8"), nullptr);
  // The next run writes it again.
  setContents(folder, "foreign");
  keep(folder, "4 x 8", 200);
  EXPECT_NE(opened(folder).find("4 x 8"), nullptr);
}

TEST(AlgorithmCache, OfAFolderThatCannotBeWrittenAreForgotten) {
  const Folder folder;
  AlgorithmCache known;
  known.open(folder.path + "/absent", user);
  known.add("4 x 8", bytesOf(1));
  known.keep();
  EXPECT_NE(known.find("4 x 8"), nullptr);
  EXPECT_TRUE(folder.files().empty());
}
