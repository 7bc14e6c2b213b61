// Tests static memory plans: two live buffers never share a byte, and plans are
// close to the liveness bound for lifetimes as in transformers.

#include "passes/plan/memory/Arena.h"

#include "gtest/gtest.h"

#include <random>

using namespace pcc::plan;

namespace {

double ratio(const ArenaPlan &plan) {
  return double(plan.total) / double(plan.lowerBound);
}

/// Returns the largest sum of live sizes, instruction by instruction.
uint64_t boundByCounting(const std::vector<ArenaBuffer> &buffers, size_t end) {
  uint64_t most = 0;
  for (size_t time = 0; time < end; ++time) {
    uint64_t live = 0;
    for (const ArenaBuffer &buffer : buffers)
      live += buffer.first <= time && time <= buffer.last ? buffer.size : 0;
    most = std::max(most, live);
  }
  return most;
}

/// Returns whether two buffers share a byte at a time, pair by pair.
bool overlaps(const std::vector<ArenaBuffer> &buffers, const ArenaPlan &plan) {
  for (size_t i = 0; i < buffers.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const bool together = buffers[i].first <= buffers[j].last &&
                            buffers[j].first <= buffers[i].last;
      if (together && plan.offsets[i] < plan.offsets[j] + buffers[j].size &&
          plan.offsets[j] < plan.offsets[i] + buffers[i].size)
        return true;
    }
  return false;
}

/// Returns lifetimes as in a transformer's forward pass: the residual lives
/// through its block, intermediates of attention and MLP for one or two
/// instructions.
std::vector<ArenaBuffer> transformer(size_t blocks, uint64_t hidden,
                                     uint64_t sequence, bool keep) {
  std::vector<ArenaBuffer> buffers;
  const uint64_t unit = hidden * sequence * 4;
  const size_t end = blocks * 9 * (keep ? 2 : 1);
  for (size_t block = 0; block < blocks; ++block) {
    const size_t t = block * 9;
    auto add = [&](size_t first, size_t last, uint64_t size) {
      // In training, values that the backward pass of the block needs stay
      // live.
      const size_t backward = end - t - 9;
      buffers.push_back(
          {t + first, keep ? backward + 9 - first : t + last, size});
    };
    add(0, 5, unit);                         // residual
    add(0, 1, unit);                         // norm
    add(1, 2, 3 * unit);                     // qkv
    add(2, 3, 12 * sequence * sequence * 4); // scores
    add(3, 4, unit);                         // context
    add(4, 8, unit);                         // second residual
    add(5, 6, unit);                         // norm
    add(6, 7, 4 * unit);                     // up
    add(7, 8, 4 * unit);                     // gelu
    if (keep)
      buffers.push_back({end - t - 8, end - t - 5, 4 * unit}); // gradients
  }
  return buffers;
}

/// Returns a chain with branches as in convolutional networks: sizes shrink,
/// and some values live longer.
std::vector<ArenaBuffer> branchyChain(size_t count, std::mt19937 &random) {
  std::vector<ArenaBuffer> buffers;
  for (size_t t = 0; t < count; ++t) {
    const uint64_t size = 4 * (1 + random() % 50000);
    const size_t extra = random() % 4 == 0 ? random() % 8 : 1;
    buffers.push_back({t, t + extra, size});
  }
  return buffers;
}

TEST(Arena, BuffersThatNeverMeetShareTheirBytes) {
  ArenaPlan plan = planArena({{0, 1, 640}, {2, 3, 640}, {4, 5, 320}});
  EXPECT_EQ(plan.total, 640u);
  EXPECT_EQ(plan.offsets, (std::vector<uint64_t>{0, 0, 0}));
}

TEST(Arena, APingPongChainFitsExactly) {
  std::vector<ArenaBuffer> buffers;
  for (size_t t = 0; t < 100; ++t)
    buffers.push_back({t, t + 1, 64 * (1 + t * 7 % 13)});
  ArenaPlan plan = planArena(buffers);
  EXPECT_EQ(plan.total, plan.lowerBound);
}

TEST(Arena, NothingAndEmptyBuffersTakeNoSpace) {
  EXPECT_EQ(planArena({}).total, 0u);
  ArenaPlan plan = planArena({{0, 9, 0}, {0, 9, 64}});
  EXPECT_EQ(plan.total, 64u);
  EXPECT_EQ(verifyArena({{0, 9, 0}, {0, 9, 64}}, plan), "");
}

TEST(Arena, EachBufferHasItsOwnAlignment) {
  std::vector<ArenaBuffer> buffers{
      {0, 1, 4, 4}, {0, 1, 4, 4}, {0, 1, 100, 256}};
  ArenaPlan plan = planArena(buffers);
  EXPECT_EQ(plan.offsets[2] % 256, 0u);
  EXPECT_EQ(plan.total, 108u) << "the small ones lie behind the large one";
}

TEST(Arena, NoTwoLiveBuffersShareAByteInTenThousandRandomSets) {
  std::mt19937 random(2);
  for (int round = 0; round < 10000; ++round) {
    std::vector<ArenaBuffer> buffers;
    for (size_t i = 0, count = random() % 24; i < count; ++i) {
      const size_t first = random() % 20;
      buffers.push_back({first, first + random() % (20 - first),
                         random() % 2000, uint64_t(1) << random() % 9});
    }
    ArenaPlan plan = planArena(buffers, /*effort=*/20000);
    ASSERT_EQ(plan.lowerBound, boundByCounting(buffers, 20));
    ASSERT_GE(plan.total, plan.lowerBound);
    ASSERT_EQ(verifyArena(buffers, plan), "") << round;
    ASSERT_FALSE(overlaps(buffers, plan)) << round;
  }
}

/// Returns a buffer of two slots: the first is live throughout, the second only
/// at the end.
ArenaBuffer twoSlots(uint64_t slot, size_t from, size_t end) {
  return {
      0, end, 2 * slot, 64, {{0, end, 0, slot}, {from, end, slot, 2 * slot}}};
}

TEST(Arena, WhatABufferDoesNotHoldYetIsForOthers) {
  std::vector<ArenaBuffer> buffers{twoSlots(640, 5, 6), {1, 4, 640}};
  ArenaPlan plan = planArena(buffers);
  EXPECT_EQ(plan.lowerBound, 1280u);
  EXPECT_EQ(plan.total, 1280u);
  EXPECT_EQ(plan.offsets[1], plan.offsets[0] + 640);
  EXPECT_EQ(verifyArena(buffers, plan), "");
}

TEST(Arena, TheVerifierLooksAtPieces) {
  std::vector<ArenaBuffer> buffers{twoSlots(640, 5, 6), {1, 5, 640}};
  EXPECT_EQ(verifyArena(buffers, {{0, 640}, 1280, 1280}),
            "buffer 0 at [640, 1280), alive at 5 to 6, overlaps buffer 1 at "
            "[640, 1280), alive at 1 to 5");
  EXPECT_EQ(verifyArena(buffers, {{0, 1280}, 1920, 1920}), "");
}

TEST(Arena, NoTwoHeldPiecesShareAByteInTwoThousandRandomSets) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<ArenaBuffer> buffers, pieces;
    for (size_t i = 0, count = 1 + random() % 12; i < count; ++i) {
      ArenaBuffer &buffer = buffers.emplace_back();
      for (size_t slot = 0, slots = 1 + random() % 4; slot < slots; ++slot) {
        const uint64_t begin = buffer.size;
        buffer.size += 64 * (1 + random() % 9);
        const size_t first = random() % 20;
        buffer.pieces.push_back(
            {first, first + random() % (20 - first), begin, buffer.size});
        buffer.last = 19;
      }
    }
    ArenaPlan plan = planArena(buffers, /*effort=*/20000), ofPieces;
    for (size_t i = 0; i < buffers.size(); ++i)
      for (const ArenaPiece &piece : buffers[i].pieces) {
        pieces.push_back({piece.first, piece.last, piece.end - piece.begin});
        ofPieces.offsets.push_back(plan.offsets[i] + piece.begin);
      }
    ASSERT_EQ(plan.lowerBound, boundByCounting(pieces, 20)) << round;
    ASSERT_EQ(verifyArena(buffers, plan), "") << round;
    ASSERT_FALSE(overlaps(pieces, ofPieces)) << round;
  }
}

TEST(Arena, TheVerifierNamesAnOverlap) {
  std::vector<ArenaBuffer> buffers{{0, 2, 128}, {1, 3, 64}, {3, 4, 64}};
  ArenaPlan plan{{0, 64, 0}, 128, 128};
  EXPECT_EQ(verifyArena(buffers, plan),
            "buffer 1 at [64, 128), alive at 1 to 3, overlaps buffer 0 at "
            "[0, 128), alive at 0 to 2");
  EXPECT_EQ(verifyArena(buffers, {{0, 100, 0}, 200, 128}),
            "buffer 1 at [100, 164), alive at 1 to 3, is not aligned to 64");
  EXPECT_EQ(verifyArena(buffers, {{0, 128, 0}, 128, 128}),
            "buffer 1 at [128, 192), alive at 1 to 3, leaves the arena of 128 "
            "bytes");
}

TEST(Arena, TransformersStayWithinFivePercentOfTheBound) {
  for (bool keep : {false, true})
    for (uint64_t sequence : {uint64_t(17), uint64_t(128), uint64_t(1000)}) {
      auto buffers = transformer(24, 768, sequence, keep);
      ArenaPlan plan = planArena(buffers);
      EXPECT_EQ(verifyArena(buffers, plan), "");
      EXPECT_LE(ratio(plan), 1.02)
          << "sequence " << sequence << ", keep " << keep;
    }
}

TEST(Arena, BranchyChainsStayWithinFivePercentOfTheBound) {
  std::mt19937 random(4);
  double worst = 1;
  for (int round = 0; round < 30; ++round) {
    auto buffers = branchyChain(40 + random() % 400, random);
    ArenaPlan plan = planArena(buffers, /*effort=*/20'000'000);
    EXPECT_EQ(verifyArena(buffers, plan), "");
    EXPECT_LE(ratio(plan), 1.05) << round;
    worst = std::max(worst, ratio(plan));
  }
  RecordProperty("worst", std::to_string(worst));
}

TEST(Arena, TheSamePlanComesOutTwice) {
  std::mt19937 random(9);
  auto buffers = branchyChain(500, random);
  EXPECT_EQ(planArena(buffers).offsets, planArena(buffers).offsets);
}

// An effort below one order of placement leaves the plan of an allocator.
TEST(Arena, WithoutEffortAPlanIsValid) {
  std::mt19937 random(7);
  double sum = 0;
  for (int round = 0; round < 50; ++round) {
    auto buffers = branchyChain(20 + random() % 300, random);
    ArenaPlan plan = planArena(buffers, /*effort=*/1);
    EXPECT_EQ(verifyArena(buffers, plan), "");
    sum += ratio(plan);
  }
  EXPECT_LE(sum / 50, 1.3);
}

TEST(Arena, EqualBuffersThatLiveTogetherFitExactly) {
  std::vector<ArenaBuffer> buffers;
  for (size_t i = 0; i < 60000; ++i)
    buffers.push_back({i / 3, 40000 + i / 2, 256});
  ArenaPlan plan = planArena(buffers);
  EXPECT_EQ(verifyArena(buffers, plan), "");
  EXPECT_EQ(plan.total, plan.lowerBound);
}

TEST(Arena, TenThousandBuffersStayWithinFivePercentOfTheBound) {
  std::mt19937 random(12);
  auto buffers = branchyChain(10000, random);
  ArenaPlan plan = planArena(buffers);
  EXPECT_EQ(verifyArena(buffers, plan), "");
  EXPECT_LE(ratio(plan), 1.05);
}

} // namespace
