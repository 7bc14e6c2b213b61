//===- WeightFileTest.cpp - stale weights, seals, random values -----------===//

#include "runtime/program/WeightFile.h"
#include "runtime/program/Seal.h"
#include "runtime/tensor/RandomValues.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace pcc;
using namespace pcc::runtime;

namespace {
class WeightFile : public testing::Test {
protected:
  std::string path = testing::TempDir() + "weights-" + std::to_string(getpid());
  ~WeightFile() override { std::filesystem::remove(path); }

  void write(const std::string &bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  /// Changes one byte and restores the modification time.
  void flip(size_t at) {
    const auto time = std::filesystem::last_write_time(path);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(long(at));
    file.put('\x7f');
    file.close();
    std::filesystem::last_write_time(path, time);
  }
};
} // namespace

TEST_F(WeightFile, UnchangedFileIsRecognised) {
  write(std::string(100000, 'x'));
  pcc::program::WeightFileT described;
  ASSERT_TRUE(describeWeightFile(path, described).ok());
  EXPECT_EQ(described.pages.size(), 16u);
  EXPECT_TRUE(checkWeightFile(path, described, true).ok());
}

TEST_F(WeightFile, OtherSizeTimeOrBytesAreStale) {
  write(std::string(100000, 'x'));
  pcc::program::WeightFileT described;
  ASSERT_TRUE(describeWeightFile(path, described).ok());
  flip(99999);
  EXPECT_EQ(checkWeightFile(path, described, false).code(), DamagedBundle);
  described.modified_ns += 1;
  EXPECT_NE(checkWeightFile(path, described, false).message().find("modified"),
            std::string::npos);
  write("short");
  EXPECT_NE(checkWeightFile(path, described, false).message().find("5 bytes"),
            std::string::npos);
}

TEST_F(WeightFile, FullHashSeesWhatPagesMiss) {
  write(std::string(10 << 20, 'x'));
  pcc::program::WeightFileT described;
  ASSERT_TRUE(describeWeightFile(path, described).ok());
  ASSERT_TRUE(hashFile(path, described.full_hash).ok());
  flip(3 << 20 | 5000);
  EXPECT_TRUE(checkWeightFile(path, described, false).ok());
  EXPECT_EQ(checkWeightFile(path, described, true).code(), DamagedBundle);
}

TEST_F(WeightFile, EmptyFile) {
  write("");
  pcc::program::WeightFileT described;
  ASSERT_TRUE(describeWeightFile(path, described).ok());
  EXPECT_TRUE(checkWeightFile(path, described, true).ok());
}

TEST_F(WeightFile, SealNoticesEveryFlippedByte) {
  write("an executable of 31 bytes or so");
  EXPECT_EQ(checkSeal(path).code(), DamagedBundle);
  ASSERT_TRUE(sealFile(path).ok());
  EXPECT_TRUE(checkSeal(path).ok());
  std::ifstream in(path, std::ios::binary);
  const std::string sealed((std::istreambuf_iterator<char>(in)), {});
  for (size_t at = 0; at < sealed.size(); ++at) {
    std::string damaged = sealed;
    damaged[at] ^= 4;
    write(damaged);
    EXPECT_EQ(checkSeal(path).code(), DamagedBundle) << at;
  }
  write(sealed + "x");
  EXPECT_EQ(checkSeal(path).code(), DamagedBundle);
}

TEST_F(WeightFile, JsonSealNoticesEveryFlippedByte) {
  const std::string sealed = sealJson("{\"world\":2}\n");
  std::string text;
  write(sealed);
  ASSERT_TRUE(readSealedJson(path, text).ok());
  EXPECT_EQ(text, sealed);
  EXPECT_TRUE(text.starts_with("{\"world\":2,\"seal\":\""));
  for (size_t at = 0; at < sealed.size(); ++at) {
    std::string damaged = sealed;
    damaged[at] ^= 4;
    write(damaged);
    EXPECT_EQ(readSealedJson(path, text).code(), DamagedBundle) << at;
  }
  write("{\"world\":2}\n");
  EXPECT_EQ(readSealedJson(path, text).code(), DamagedBundle);
  EXPECT_EQ(readSealedJson(path + ".absent", text).code(), DamagedBundle);
}

TEST(RandomValues, DependOnSeedNameAndIndexOnly) {
  const RandomTensor a = randomWeight(1, "a", ElementType::F32);
  const RandomTensor b = randomWeight(1, "b", ElementType::F32);
  EXPECT_NE(randomValue(a, 0), randomValue(b, 0));
  EXPECT_NE(randomValue(a, 0),
            randomValue(randomWeight(2, "a", ElementType::F32), 0));
  std::vector<float> whole(10), part(3);
  fillRandom(a, 0, 1, 10, whole.data());
  fillRandom(a, 2, 3, 3, part.data());
  EXPECT_EQ(part, (std::vector<float>{whole[2], whole[5], whole[8]}));
  for (float value : whole)
    EXPECT_LE(std::abs(value), 0.05f);
}

TEST(RandomValues, IndicesStayBelowTheirBound) {
  const RandomTensor ids = randomInput(7, "ids", ElementType::I64, 11);
  bool reachesLast = false;
  for (uint64_t i = 0; i < 1000; ++i) {
    ASSERT_GE(randomValue(ids, i), 0);
    ASSERT_LT(randomValue(ids, i), 11);
    reachesLast |= randomValue(ids, i) == 10;
  }
  EXPECT_TRUE(reachesLast);
}
