//===- CpuMemoryTest.cpp - the memory of a rank's values ------------------===//

#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/device/cpu/CpuResources.h"
#include "runtime/program/Program.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace pcc;
using namespace pcc::runtime;

TEST(CpuMemory, IsAlignedAndZeroed) {
  const auto device = createCpuDevice(1);
  char *data = nullptr;
  ASSERT_TRUE(device->allocate(4099, data).ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % kAlignment, 0u);
  EXPECT_TRUE(
      std::all_of(data, data + 4099, [](char byte) { return byte == 0; }));
}

TEST(CpuMemory, OfNothingHasAnAddress) {
  const auto device = createCpuDevice(1);
  char *data = nullptr;
  ASSERT_TRUE(device->allocate(0, data).ok());
  EXPECT_NE(data, nullptr);
}

TEST(CpuMemory, ThatIsNotThereNamesTheBytes) {
  const auto device = createCpuDevice(1);
  char *data = nullptr;
  const Status status = device->allocate(int64_t(1) << 60, data);
  EXPECT_EQ(status.code(), NoDevice);
  EXPECT_NE(status.message().find("1152921504606846976 bytes"),
            std::string::npos);
  EXPECT_EQ(data, nullptr);
}

TEST(CpuMemory, OfScratchThatIsNotThereNamesTheBytes) {
  CpuResources resources(1);
  resources.reserveScratch(size_t(1) << 60);
  const Status status = resources.allocateScratch();
  EXPECT_EQ(status.code(), NoDevice);
  EXPECT_NE(status.message().find("1152921504606846976 bytes of scratch"),
            std::string::npos);
}
