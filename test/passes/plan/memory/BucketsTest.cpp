//===- BucketsTest.cpp - which collectives are called together ------------===//

#include "passes/plan/memory/Buckets.h"

#include "gtest/gtest.h"

using namespace pcc::plan;

namespace {

using Buckets = std::vector<std::vector<size_t>>;

TEST(Buckets, ThePictureOfTheHeaderIsTrue) {
  EXPECT_EQ(formBuckets({{0, 0, 2}, {0, 1, 5}, {0, 3, 5}, {0, 4, 5}}),
            (Buckets{{0, 1}, {2, 3}}));
}

TEST(Buckets, WhatReadsACallIsNotCalledWithIt) {
  EXPECT_EQ(formBuckets({{0, 0, 1}, {0, 1, 2}}), Buckets());
}

TEST(Buckets, TheEarliestUseOfAnyEndsABucket) {
  EXPECT_EQ(formBuckets({{0, 0, 9}, {0, 1, 3}, {0, 2, 9}, {0, 4, 9}}),
            (Buckets{{0, 1, 2}}));
}

TEST(Buckets, OtherKindsMayStandBetween) {
  EXPECT_EQ(formBuckets({{0, 0, 9}, {1, 1, 9}, {0, 2, 9}, {1, 3, 9}}),
            (Buckets{{0, 2}, {1, 3}}));
}

TEST(Buckets, OneCallAloneIsNoBucket) {
  EXPECT_EQ(formBuckets({{0, 0, 9}, {1, 1, 9}}), Buckets());
  EXPECT_EQ(formBuckets({}), Buckets());
}

/// 20 GB/s and 5 us per call: reading and writing 50 kB takes 5 us, 25 kB half
/// of that.
TEST(Buckets, PackingMustCostLessThanHalfACall) {
  EXPECT_TRUE(isWorthPacking(12'500, 12'500, 0, 20e9));
  EXPECT_FALSE(isWorthPacking(12'500, 12'508, 0, 20e9));
  EXPECT_TRUE(isWorthPacking(12'500, 37'500, 10e-6, 20e9));
}

} // namespace
