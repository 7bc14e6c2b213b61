//===- NpyTest.cpp --------------------------------------------------------===//

#include "runtime/tensor/Npy.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string_view>
#include <unistd.h>

using namespace pcc;
using namespace pcc::runtime;

namespace {
class Npy : public testing::Test {
protected:
  std::string path = testing::TempDir() + "npy-" + std::to_string(getpid());
  ~Npy() override { std::filesystem::remove(path); }

  void write(const std::string &bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  Status open() {
    NpyFile file;
    return NpyFile::open(path, file);
  }
};
} // namespace

TEST_F(Npy, RoundTrips) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  std::string bytes = npyHeader(ElementType::F32, {2, 3});
  EXPECT_EQ(bytes.size() % 64, 0u);
  bytes.append(reinterpret_cast<const char *>(values.data()), 24);
  write(bytes);
  NpyFile file;
  ASSERT_TRUE(NpyFile::open(path, file).ok());
  EXPECT_EQ(file.type(), ElementType::F32);
  EXPECT_EQ(file.shape(), (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE(bytes.ends_with(
      std::string_view(static_cast<const char *>(file.data()), 24)));
}

TEST_F(Npy, HeadersOfScalarsAndVectorsAreTuples) {
  EXPECT_NE(npyHeader(ElementType::I64, {}).find("'shape': ()"),
            std::string::npos);
  EXPECT_NE(npyHeader(ElementType::I64, {5}).find("'shape': (5,)"),
            std::string::npos);
}

TEST_F(Npy, MissingFileIsAMissingInput) {
  const Status status = open();
  EXPECT_EQ(status.code(), BadInput);
  EXPECT_EQ(status.message(), "'" + path + "' does not exist");
}

TEST_F(Npy, RefusesFortranOrder) {
  std::string bytes = npyHeader(ElementType::F32, {2});
  bytes.replace(bytes.find("False"), 5, "True ");
  write(bytes + std::string(8, '\0'));
  EXPECT_NE(open().message().find("Fortran order"), std::string::npos);
}

TEST_F(Npy, RefusesFewerOrMoreBytesThanItsShapeNeeds) {
  for (const auto &[size, why] :
       {std::pair(23, "truncated: it holds 23 bytes"),
        std::pair(25, "too long: it holds 25 bytes"),
        std::pair(0, "truncated: it holds 0 bytes")}) {
    write(npyHeader(ElementType::F32, {2, 3}) + std::string(size, '\0'));
    EXPECT_EQ(open().code(), BadInput);
    EXPECT_TRUE(open().message().ends_with(
        std::string(why) + " of elements, but [2, 3] of f32 needs 24 bytes"))
        << open().message();
  }
}

TEST_F(Npy, RefusesHugeShapes) {
  std::string bytes = npyHeader(ElementType::F32, {2});
  const size_t at = bytes.find("(2,)");
  bytes.replace(at, 24, "(9999999999,9999999999) ");
  write(bytes);
  EXPECT_EQ(open().code(), BadInput);
}

TEST_F(Npy, SurvivesEveryTruncationOfItsHeader) {
  const std::string bytes = npyHeader(ElementType::F64, {3, 4});
  for (size_t size = 0; size <= bytes.size(); ++size) {
    write(bytes.substr(0, size));
    EXPECT_EQ(open().code(), BadInput);
  }
}

/// Returns a file of two f32 numbers whose header is `dictionary`.
static std::string withHeader(const std::string &dictionary, int version = 1) {
  std::string bytes("\x93NUMPY", 6);
  bytes += {char(version), '\0', char(dictionary.size()), '\0'};
  if (version > 1)
    bytes.append(2, '\0'); // The size of the header has 4 bytes.
  return bytes + dictionary + std::string(8, '\0');
}

TEST_F(Npy, AcceptsAllSpellingsOfItsHeader) {
  for (const int version : {1, 2, 3}) {
    write(withHeader("{\"fortran_order\":False , 'shape':( 2 ,),\"descr\":\n"
                     "\"<f4\"}  \n",
                     version));
    EXPECT_TRUE(open().ok()) << open().message();
  }
}

TEST_F(Npy, RefusesOtherVersions) {
  for (const int version : {0, 4, 255}) {
    write(withHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
                     version));
    EXPECT_EQ(open().code(), BadInput) << version;
  }
}

TEST_F(Npy, RefusesDamagedHeaders) {
  const std::string start = "{'descr': '<f4', 'fortran_order': False, ";
  const std::string nul = "{'descr': '<f" + std::string(1, '\0') +
                          "4', 'fortran_order': False, 'shape': (2,)}";
  for (const std::string &damaged :
       {start + "'shape': (2,)", start + "'shape': (2,)} x",
        start + "'shape': (2,)} {}", start + "'shape': (3,), 'shape': (2,)}",
        start + "'shape': (-2,)}", start + "'shape': (2 2)}",
        start + "'shape': 2}", start + "}", start + "'shape': (2,), 'x': 1}",
        nul, std::string("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}"),
        std::string("{'descr': [('a', '<f4')], 'fortran_order': False, "
                    "'shape': (2,)}")}) {
    write(withHeader(damaged));
    EXPECT_EQ(open().code(), BadInput) << damaged;
  }
}
