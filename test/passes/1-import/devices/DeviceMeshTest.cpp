//===- DeviceMeshTest.cpp - device lists as axes --------------------------===//

#include "passes/1-import/devices/DeviceMesh.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace pcc;
using namespace pcc::onnx_import;

namespace {

using Lists = std::vector<std::vector<int64_t>>;

ShardLayout layout(std::vector<int64_t> counts, std::vector<int64_t> shards) {
  return {std::move(counts), 0, std::move(shards)};
}

std::vector<int64_t> axesFor(const Lists &lists) {
  std::vector<ShardLayout> layouts;
  for (const std::vector<int64_t> &shards : lists)
    layouts.push_back(
        layout({*std::max_element(shards.begin(), shards.end()) + 1}, shards));
  return commonAxes(layouts, static_cast<int64_t>(lists.front().size()));
}

/// Returns the axes of each factor, such as "tp", "dp+tp:(2)2" or "-", or the
/// error.
std::string axesIn(const dist::Mesh &mesh, const ShardLayout &layout) {
  std::string text;
  auto factors = axesOf(layout, mesh);
  if (!factors)
    return factors.status().message();
  for (const dist::SubAxes &axes : *factors) {
    text += text.empty() ? "" : " ";
    for (const dist::SubAxis &axis : axes)
      text += dist::toString(axis, &mesh);
    text += axes.empty() ? "-" : "";
  }
  return text;
}

const dist::Mesh mesh{{{"dp", 2}, {"tp", 4}}};

} // namespace

TEST(DeviceMesh, TheCoarsestAxesThatAllListsShare) {
  using Sizes = std::vector<int64_t>;
  EXPECT_EQ(axesFor({{0, 1, 2, 3}}), Sizes({4}));
  EXPECT_EQ(axesFor({{0, 0, 0, 0}}), Sizes({4}));
  EXPECT_EQ(axesFor({{0, 1, 0, 1}}), Sizes({2, 2}));
  EXPECT_EQ(axesFor({{0, 0, 1, 1, 2, 2}}), Sizes({3, 2}));
  EXPECT_EQ(axesFor({{0, 1, 2, 0, 1, 2}}), Sizes({2, 3}));
  EXPECT_EQ(axesFor({{0, 0, 0, 0, 1, 1, 1, 1}, {0, 0, 1, 1, 0, 0, 1, 1}}),
            Sizes({2, 2, 2}));
}

TEST(DeviceMesh, FactorsFindTheirAxes) {
  EXPECT_EQ(axesIn(mesh, layout({2}, {0, 0, 0, 0, 1, 1, 1, 1})), "dp");
  EXPECT_EQ(axesIn(mesh, layout({4}, {0, 1, 2, 3, 0, 1, 2, 3})), "tp");
  EXPECT_EQ(axesIn(mesh, layout({2}, {0, 0, 1, 1, 0, 0, 1, 1})), "tp:(1)2");
  EXPECT_EQ(axesIn(mesh, layout({1}, {0, 0, 0, 0, 0, 0, 0, 0})), "-");
  EXPECT_EQ(axesIn(mesh, layout({8}, {0, 1, 2, 3, 4, 5, 6, 7})), "dptp");
  EXPECT_EQ(axesIn(mesh, layout({4, 2}, {0, 2, 4, 6, 1, 3, 5, 7})), "tp dp");
}

TEST(DeviceMesh, IrregularListsAreRefused) {
  EXPECT_EQ(axesIn(mesh, layout({2}, {0, 0, 1, 0, 1, 1, 1, 0})),
            "gives its devices, in order, the parts 0, 0, 1, 0, 1, 1, 1, 0 of "
            "2, which no axes of the mesh dp=2,tp=4 count");
  EXPECT_NE(axesIn(mesh, layout({2}, {1, 1, 1, 1, 0, 0, 0, 0})).find("no axes"),
            std::string::npos);
}

TEST(DeviceMesh, WithoutAListSizesDecide) {
  EXPECT_EQ(axesIn(mesh, layout({2}, {})), "dp");
  EXPECT_EQ(axesIn(mesh, layout({2, 4}, {})), "dp tp");
  EXPECT_EQ(axesIn({{{"dp", 2}, {"tp", 2}}}, layout({2}, {})),
            "lists no devices, and 2 axes of the mesh dp=2,tp=2 could hold its "
            "2 shards");
  EXPECT_EQ(axesIn(mesh, layout({3}, {})),
            "lists no devices, and no axis of the mesh dp=2,tp=4 could hold "
            "its 3 shards");
}

TEST(DeviceMesh, AListCoversAStage) {
  onnx::ShardingSpec spec;
  spec.devices = {2, 3};
  spec.shardedDims = {{0, {{std::nullopt, {}, 2}}}};
  auto layout = layoutOf(spec, /*devicesPerStage=*/2);
  ASSERT_TRUE(layout) << layout.status().message();
  EXPECT_EQ(layout->firstDevice, 2);
  EXPECT_EQ(layout->shards, std::vector<int64_t>({0, 1}));
  EXPECT_EQ(layoutOf(spec, /*devicesPerStage=*/4).status().message(),
            "lies on devices 2, 3, which are not all 4 devices of a "
            "stage; groups of devices tell which ones hold the same "
            "shard");
}

/// Written annotations are read as the same axes.
TEST(DeviceMesh, ThereAndBack) {
  const dist::SubAxis dp{"dp", 1, 2}, tp{"tp", 1, 4}, minor{"tp", 2, 2};
  const std::vector<std::vector<dist::SubAxes>> cases = {
      {}, {{tp}}, {{dp}, {tp}}, {{tp, dp}}, {{minor}}, {{minor}, {}, {dp}}};
  for (const std::vector<dist::SubAxes> &axes : cases) {
    onnx::ShardingSpec spec;
    for (const dist::SubAxes &own : axes)
      spec.shardedDims.push_back({0, {{std::nullopt, {}, numParts(own)}}});
    setDevices(axes, mesh, 8, spec);
    auto layout = layoutOf(spec, mesh.size());
    ASSERT_TRUE(layout) << layout.status().message();
    EXPECT_EQ(layout->firstDevice, 8);
    auto read = axesOf(*layout, mesh);
    ASSERT_TRUE(read) << read.status().message();
    EXPECT_EQ(*read, axes);
  }
}
