//===- ArenaTest.cpp - the memory of a rank's values ----------------------===//

#include "runtime/engine/Arena.h"
#include "runtime/program/Program.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace pcc::runtime;

TEST(Arena, CountsWhatItHasAllocated) {
  Arena arena;
  EXPECT_EQ(arena.bytes(), 0);
  ASSERT_TRUE(arena.allocate(1000).ok());
  EXPECT_EQ(arena.bytes(), 1000);
}

TEST(Arena, IsAlignedAndZeroed) {
  Arena arena;
  ASSERT_TRUE(arena.allocate(4099).ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(arena.data()) % kAlignment, 0u);
  EXPECT_TRUE(std::all_of(arena.data(), arena.data() + arena.bytes(),
                          [](char byte) { return byte == 0; }));
}

TEST(Arena, OfNothingHasAnAddress) {
  Arena arena;
  ASSERT_TRUE(arena.allocate(0).ok());
  EXPECT_NE(arena.data(), nullptr);
  EXPECT_EQ(arena.bytes(), 0);
}

TEST(Arena, WithoutMemoryNamesTheBytes) {
  Arena arena;
  const Status status = arena.allocate(int64_t(1) << 60);
  EXPECT_EQ(status.code(), NoDevice);
  EXPECT_NE(status.message().find("1152921504606846976 bytes"),
            std::string::npos);
  EXPECT_EQ(arena.bytes(), 0);
}
