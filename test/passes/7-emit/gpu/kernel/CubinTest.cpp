//===- CubinTest.cpp - PTX, assembled -------------------------------------===//

#include "passes/7-emit/gpu/kernel/Cubin.h"
#include "runtime/base/SharedLibrary.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace pcc;
using testing::HasSubstr;

namespace {
using Bytes = std::optional<std::vector<char>>;

const std::string empty = ".version 7.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry k()\n{\nret;\n}\n";

class Cubin : public testing::Test {
protected:
  void SetUp() override {
    if (!runtime::SharedLibrary("libnvJitLink.so.13", folders).isOpen())
      GTEST_SKIP() << "libnvJitLink.so.13 is not installed";
  }

  std::vector<std::string> folders = runtime::cudaFolders();
  Bytes cubin;
};
} // namespace

TEST_F(Cubin, IsAnElfFileForTheDevice) {
  for (std::string arch : {"sm_80", "sm_90"}) {
    ASSERT_TRUE(emit::assemble(empty, arch, folders, cubin).ok());
    ASSERT_TRUE(cubin);
    ASSERT_GT(cubin->size(), 64U);
    EXPECT_EQ(std::string(cubin->data(), 4), "\x7f"
                                             "ELF");
    // e_machine of NVIDIA's devices.
    EXPECT_EQ((unsigned char)(*cubin)[18], 190);
  }
}

TEST_F(Cubin, WhatTheAssemblerRefusesIsADefectInItsOwnWords) {
  const Status status =
      emit::assemble(empty + "nonsense\n", "sm_80", folders, cubin);
  EXPECT_EQ(status.code(), Defect);
  EXPECT_FALSE(cubin);
  ASSERT_EQ(status.notes().size(), 1U);
  EXPECT_THAT(status.notes()[0], HasSubstr("ptxas"));
}

TEST_F(Cubin, PtxOfNewerDevicesIsRefusedForOlderOnes) {
  std::string newer = empty;
  newer.replace(newer.find("sm_80"), 5, "sm_90");
  newer.replace(newer.find("7.0"), 3, "7.8");
  EXPECT_TRUE(emit::assemble(newer, "sm_80", folders, cubin).failed());
}
