//===- ShardIndicesTest.cpp - which elements a rank holds -----------------===//

#include "passes/interpret/simulate/ShardIndices.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace pcc;
using namespace pcc::interpret;
using graph::HostTensor;
using Indices = std::vector<int64_t>;

static const dist::Mesh mesh{{{"dp", 2}, {"tp", 2}}};
static const dist::SubAxis tp{"tp", 1, 2}, dp{"dp", 1, 2};

static Indices indicesAt(const dist::Coordinates &where,
                         std::vector<dist::Factor> factors, int64_t size) {
  dist::DimSharding dim;
  dim.factors = std::move(factors);
  return localIndices(dim, size, mesh, where);
}

TEST(Shard, ContiguousPartsArePaddedAtTheEnd) {
  EXPECT_EQ(indicesAt({0, 0}, {{5, {tp}}}, 5), (Indices{0, 1, 2}));
  EXPECT_EQ(indicesAt({0, 1}, {{5, {tp}}}, 5), (Indices{3, 4, -1}));
}

TEST(Shard, OuterFactorsMakeStrides) {
  EXPECT_EQ(indicesAt({0, 1}, {{3, {}}, {2, {tp}}}, 6), (Indices{1, 3, 5}));
}

TEST(Shard, InnerFactorsStayTogetherWhenTheOuterOneIsUneven) {
  EXPECT_EQ(indicesAt({0, 1}, {{3, {tp}}, {2, {}}}, 6),
            (Indices{4, 5, -1, -1}));
}

TEST(Shard, TwoAxesOnOneDimGoMajorFirst) {
  EXPECT_EQ(indicesAt({1, 0}, {{8, {dp, tp}}}, 8), (Indices{4, 5}));
  EXPECT_EQ(indicesAt({1, 0}, {{8, {tp, dp}}}, 8), (Indices{2, 3}));
}

TEST(Shard, AWholeDimHasAllIndices) {
  EXPECT_EQ(indicesAt({1, 1}, {}, 3), (Indices{0, 1, 2}));
}

TEST(Shard, PaddingIsPoisonedOrZero) {
  HostTensor whole = HostTensor::ofFloats({2, 3}, {1, 2, 3, 4, 5, 6});
  LocalIndices indices{{1}, {2, -1}};
  HostTensor shard = takeShard(whole, indices, Padding::Poison);
  EXPECT_EQ(shard.floats[0], 6);
  EXPECT_TRUE(std::isnan(shard.floats[1]));
  EXPECT_EQ(takeShard(whole, indices, Padding::Zero).floats[1], 0);
}
