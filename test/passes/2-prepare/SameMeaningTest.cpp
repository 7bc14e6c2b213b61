//===- SameMeaningTest.cpp - preparing changes no result ------------------===//
//
// Every case of this folder's .mlir files is run before and after.
//
//===----------------------------------------------------------------------===//

#include "test/passes/2-prepare/SameMeaning.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

namespace {
/// Files that the passes accept.
std::vector<std::string> cases() {
  std::vector<std::string> files;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(CASES))
    if (entry.path().extension() == ".mlir" &&
        entry.path().stem().string().find("-invalid") == std::string::npos &&
        entry.path().stem().string().find("verify-") == std::string::npos)
      files.push_back(
          std::filesystem::relative(entry.path(), CASES).replace_extension());
  std::sort(files.begin(), files.end());
  return files;
}

class SameMeaning : public testing::TestWithParam<std::string> {};
} // namespace

TEST_P(SameMeaning, BeforeAndAfter) {
  EXPECT_EQ(pcc::prepare::findDifference(std::string(CASES "/") + GetParam() +
                                         ".mlir"),
            "");
}

INSTANTIATE_TEST_SUITE_P(Prepare, SameMeaning, testing::ValuesIn(cases()),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return !llvm::isAlnum(c); }, '_');
                           return name;
                         });
