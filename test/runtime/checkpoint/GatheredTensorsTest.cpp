//===- GatheredTensorsTest.cpp - trained weights, whole, in memory --------===//

#include "runtime/checkpoint/GatheredTensors.h"
#include "test/runtime/checkpoint/TrainingRun.h"

#include <gtest/gtest.h>

using namespace pcc;
using namespace pcc::runtime;
using namespace pcc::test;

namespace {
/// Axes pp and tp of size 2, and the microbatch.
const Mesh mesh = test::makeMesh({2, 2, 1});
const Layout columns = test::makeLayout({{{4}}, {{6, {{"tp", 1, 2}}}}});
const Layout whole = test::makeLayout({{{4}}, {{6}}});

Declared weight(const std::string &name, const Layout &layout,
                std::vector<int64_t> positions, WeightOrigin origin = {}) {
  return {
      name, ElementType::I64,  {4, 6}, layout,           std::move(positions),
      true, /*isState=*/false, {},     std::move(origin)};
}

/// Gathers the shards of `declared` that the ranks have after a step.
Status collect(const std::vector<Declared> &declared,
               std::map<std::string, GatheredWeight> &named) {
  GatheredTensors tensors;
  Status status = test::firstOf(test::onRanks(4, [&](World &world) {
    test::RankState state(declared, mesh, world.rank());
    state.fill(3);
    return tensors.putTrained(state.tensors, mesh, state.at, world);
  }));
  return status.ok() ? tensors.weights(named) : status;
}

uint64_t element(const GatheredWeight &weight, int64_t index) {
  uint64_t value = 0;
  std::memcpy(&value, weight.bytes.data() + index * 8, 8);
  return value;
}

WeightOrigin slice(int64_t start) {
  program::SliceT step;
  step.dim = 0;
  step.start = start;
  step.size = 4;
  return {"qk", ElementType::I64, {8, 6}, {step}};
}
} // namespace

TEST(GatheredTensors, PiecesOfAllRanksMakeTheWeight) {
  std::map<std::string, GatheredWeight> named;
  Declared state = weight("momentum", columns, {});
  state.isState = true;
  ASSERT_TRUE(
      collect({weight("first", columns, {0}), state,
               weight("second", whole, {1}), weight("tied", columns, {})},
              named)
          .ok());
  ASSERT_EQ(named.size(), 3u);
  for (const auto &[name, weight] : named) {
    EXPECT_EQ(weight.shape, (std::vector<int64_t>{4, 6}));
    for (int64_t i = 0; i < 24; ++i)
      ASSERT_EQ(element(weight, i), test::elementOf(name, i, 3)) << name << i;
  }
}

TEST(GatheredTensors, AWeightHasTheFormOfTheModel) {
  program::TransposeT step;
  step.permutation = {1, 0};
  std::map<std::string, GatheredWeight> named;
  ASSERT_TRUE(collect({weight("w.t", columns, {},
                              {"w", ElementType::I64, {6, 4}, {step}})},
                      named)
                  .ok());
  EXPECT_EQ(named.at("w").shape, (std::vector<int64_t>{6, 4}));
  for (int64_t row = 0; row < 4; ++row)
    for (int64_t column = 0; column < 6; ++column)
      ASSERT_EQ(element(named.at("w"), column * 4 + row),
                test::elementOf("w.t", row * 6 + column, 3));
}

TEST(GatheredTensors, SlicesOfAWeightAreJoined) {
  std::map<std::string, GatheredWeight> named;
  ASSERT_TRUE(collect({weight("q", columns, {0}, slice(0)),
                       weight("k", whole, {1}, slice(4))},
                      named)
                  .ok());
  EXPECT_EQ(named.at("qk").shape, (std::vector<int64_t>{8, 6}));
  for (int64_t i = 0; i < 24; ++i) {
    ASSERT_EQ(element(named.at("qk"), i), test::elementOf("q", i, 3));
    ASSERT_EQ(element(named.at("qk"), 24 + i), test::elementOf("k", i, 3));
  }
}

TEST(GatheredTensors, APartOfAWeightIsNotTakenForIt) {
  std::map<std::string, GatheredWeight> named;
  const Status status = collect({weight("q", columns, {}, slice(0))}, named);
  EXPECT_EQ(status.code(), CannotMeet);
  EXPECT_EQ(status.message(),
            "only a part of weight 'qk' was trained; the rest is in the "
            "model");
}
