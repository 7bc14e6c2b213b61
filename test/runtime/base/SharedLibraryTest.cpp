//===- SharedLibraryTest.cpp ----------------------------------------------===//

#include "runtime/base/SharedLibrary.h"
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using pcc::runtime::cudaFolders;
using pcc::runtime::SharedLibrary;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(SharedLibrary, FindsItsSymbols) {
  SharedLibrary library("libm.so.6");
  ASSERT_TRUE(library.isOpen()) << library.error();
  double (*squareRoot)(double) = nullptr;
  library.find("sqrt", squareRoot);
  EXPECT_EQ(library.firstAbsent(), nullptr);
  EXPECT_EQ(squareRoot(9), 3);
}

TEST(SharedLibrary, RemembersTheFirstSymbolThatIsNotThere) {
  SharedLibrary library("libm.so.6");
  void *address = nullptr;
  library.find("pcc_first", address);
  library.find("pcc_second", address);
  EXPECT_EQ(address, nullptr);
  EXPECT_STREQ(library.firstAbsent(), "pcc_first");
}

TEST(SharedLibrary, SaysWhyItIsNotOpen) {
  SharedLibrary library("libpcc-of-nobody.so.1", {"/nowhere"});
  EXPECT_FALSE(library.isOpen());
  EXPECT_THAT(library.error(),
              HasSubstr("cannot open libpcc-of-nobody.so.1: "));
  void *address = nullptr;
  library.find("anything", address);
  EXPECT_STREQ(library.firstAbsent(), "anything");
}

TEST(SharedLibrary, GivenFoldersComeBeforeTheToolkits) {
  setenv("PCC_CUDA_LIBRARIES", "/a::/b/c", 1);
  setenv("CUDA_HOME", "/toolkit", 1);
  EXPECT_THAT(cudaFolders(), ElementsAre("/a", "/b/c", "/toolkit/lib64"));
  unsetenv("CUDA_HOME");
  unsetenv("PCC_CUDA_LIBRARIES");
  EXPECT_THAT(cudaFolders(), ElementsAre("/usr/local/cuda/lib64"));
}
