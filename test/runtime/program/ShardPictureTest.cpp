//===- ShardPictureTest.cpp - pictures of the parts that ranks hold -------===//

#include "runtime/program/ShardPicture.h"
#include "runtime/base/TextTable.h"
#include "test/runtime/program/Lines.h"

#include <gtest/gtest.h>

using namespace pcc;
using namespace pcc::runtime;
using pcc::test::linesOf;

/// Returns `count` parts of one element along a dim, one per rank.
static HeldTensor divided(int64_t count, std::vector<dist::Runs> after = {}) {
  HeldTensor tensor{"w", "f32", {count}};
  for (const dist::Runs &runs : after)
    tensor.shape.push_back(runs.back().hi);
  for (int64_t rank = 0; rank < count; ++rank) {
    tensor.parts[rank] = {{{rank, rank + 1}}};
    tensor.parts[rank].insert(tensor.parts[rank].end(), after.begin(),
                              after.end());
  }
  return tensor;
}

TEST(ShardPicture, RanksAreRangesAndManyAreCounted) {
  EXPECT_EQ(rankListText({}), "");
  EXPECT_EQ(rankListText({3}), "rank 3");
  EXPECT_EQ(rankListText({0, 1, 2, 5}), "rank 0-2 5");
  EXPECT_EQ(rankListText({0, 2, 4, 6}), "rank 0 2 4 6");
  EXPECT_EQ(rankListText({0, 1, 4, 5, 8, 9, 12, 13, 16, 17}),
            "rank 0-1 4-5 … 16-17 (10 ranks)");
}

TEST(ShardPicture, RowsAreThoseOfADividedDim) {
  EXPECT_EQ(titleOf(divided(2, {{{0, 6}}})), "w f32[2, 6]");
  EXPECT_EQ(shardPicture(divided(2, {{{0, 6}}})), "┌────────┐\n"
                                                  "│ rank 0 │\n"
                                                  "├────────┤\n"
                                                  "│ rank 1 │\n"
                                                  "└────────┘\n");
}

TEST(ShardPicture, ALastDimAloneIsColumns) {
  HeldTensor blocks{"w", "f32", {2, 4}};
  blocks.parts[0] = {{{0, 2}}, {{0, 1}, {2, 3}}};
  blocks.parts[3] = {{{0, 2}}, {{1, 2}, {3, 4}}};
  EXPECT_EQ(linesOf(shardPicture(blocks))[1],
            "│ rank 0 │ rank 3 │ rank 0 │ rank 3 │");
}

TEST(ShardPicture, TwoDividedDimsAreRowsAndColumns) {
  HeldTensor grid{"w", "f32", {2, 2}};
  for (int64_t i : {0, 1})
    for (int64_t j : {0, 1})
      grid.parts[2 * i + j] = {{{i, i + 1}}, {{j, j + 1}}};
  const auto lines = linesOf(shardPicture(grid));
  EXPECT_EQ(lines[1], "│ rank 0 │ rank 1 │");
  EXPECT_EQ(lines[3], "│ rank 2 │ rank 3 │");
}

TEST(ShardPicture, WholeTensorsAndScalarsAreOneCell) {
  HeldTensor scalar{"s", "f32", {}};
  for (int64_t rank : {0, 1, 2, 5})
    scalar.parts[rank] = {};
  EXPECT_EQ(linesOf(shardPicture(scalar))[1], "│ rank 0-2 5 │");
}

TEST(ShardPicture, FitsAScreenWithAnyNumberOfParts) {
  for (int64_t parts : {7, 9, 12, 16, 40, 1024}) {
    const auto lines = linesOf(shardPicture(divided(parts)));
    EXPECT_LE(lines.size(), 34u) << parts;
    for (const std::string &line : lines)
      EXPECT_LE(widthOf(line), 100u) << parts;
    if (parts > 16)
      EXPECT_EQ(lines.back(),
                "and " + std::to_string(parts - 16) + " more parts of a dim");
  }
}
