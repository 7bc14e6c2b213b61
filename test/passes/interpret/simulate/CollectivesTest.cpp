//===- CollectivesTest.cpp - collectives between simulated ranks ----------===//

#include "passes/interpret/simulate/Collectives.h"
#include "test/passes/interpret/Parsed.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;
using graph::HostTensor;

/// Formats the values of each rank: " 1 2 | 3 ?". NaN is a question mark.
static std::string show(const std::vector<HostTensor> &results) {
  std::string text;
  for (const HostTensor &result : results) {
    text += text.empty() ? "" : " |";
    for (double value : result.floats)
      text += std::isnan(value) ? " ?"
                                : " " + std::to_string(static_cast<int>(value));
  }
  return text;
}

/// Runs one collective on vectors over 2 or 4 ranks of "tp". Returns the values
/// of each rank afterwards, or the error.
static std::string collective(const std::string &kind, const std::string &from,
                              const std::string &to, int64_t size,
                              const std::vector<std::vector<double>> &parts,
                              int64_t localAfter) {
  Parser parser;
  std::string before = std::to_string(parts.front().size());
  auto module = parser.parse(
      "func.func @main(%x: tensor<" + before +
      "xf32>) {\n%y = " + "dist.collective " + kind + " %x from <\"" + from +
      "\"> to <\"" + to + "\"> shape [" + std::to_string(size) +
      "] received 0 value \"\" : tensor<" + before + "xf32> to tensor<" +
      std::to_string(localAfter) + "xf32>\nreturn\n}");
  if (!module)
    return "does not parse";
  std::vector<HostTensor> tensors;
  for (const std::vector<double> &part : parts)
    tensors.push_back(
        HostTensor::ofFloats({static_cast<int64_t>(part.size())}, part));
  SmallVector<const HostTensor *> pointers;
  for (const HostTensor &tensor : tensors)
    pointers.push_back(&tensor);
  dist::CollectiveOp op;
  module->walk([&](dist::CollectiveOp found) { op = found; });
  SimulatedRanks ranks{{{{"tp", static_cast<int64_t>(parts.size())}}}, 0};
  auto results = evaluateCollective(op, ranks, pointers, {});
  return results ? show(*results) : results.status().message();
}

TEST(Collectives, SlicesKeepPartOfTheirOwn) {
  EXPECT_EQ(collective("slice", "[-]", "[4@tp:2]", 4,
                       {{1, 2, 3, 4}, {1, 2, 3, 4}}, 2),
            " 1 2 | 3 4");
}

TEST(Collectives, GathersDropPaddingOfTheParts) {
  EXPECT_EQ(collective("all_gather", "[3@tp:2]", "[-]", 3, {{1, 2}, {3, 9}}, 3),
            " 1 2 3 | 1 2 3");
}

TEST(Collectives, ExchangesChangeStrides) {
  EXPECT_EQ(
      collective("exchange", "[4@tp:2]", "[2|2@tp:2]", 4, {{1, 2}, {3, 4}}, 2),
      " 1 3 | 2 4");
}

TEST(Collectives, ReductionsSumAllParts) {
  EXPECT_EQ(collective("all_reduce", "[-] partial sum(tp:2)", "[-]", 2,
                       {{1, 2}, {10, 20}}, 2),
            " 11 22 | 11 22");
  EXPECT_EQ(collective("all_reduce", "[-] partial max(tp:2)", "[-]", 2,
                       {{1, 20}, {10, 2}}, 2),
            " 10 20 | 10 20");
  EXPECT_EQ(collective("reduce_scatter", "[-] partial sum(tp:2)", "[3@tp:2]", 3,
                       {{1, 2, 3}, {10, 20, 30}}, 2),
            " 11 22 | 33 ?");
}

TEST(Collectives, PartOfAnAxisIsReducedInItsGroups) {
  EXPECT_EQ(collective("all_reduce", "[-] partial sum(tp:(2)2)", "[-]", 1,
                       {{1}, {2}, {3}, {4}}, 1),
            " 3 | 3 | 7 | 7");
}

TEST(Collectives, MasksKeepTheValueOnOneRank) {
  EXPECT_EQ(collective("mask", "[-]", "[-] partial sum(tp:2)", 2,
                       {{1, 2}, {1, 2}}, 2),
            " 1 2 | 0 0");
}

TEST(Collectives, AStepThatCannotGiveWhatItClaimsFails) {
  EXPECT_EQ(collective("slice", "[4@tp:2]", "[-]", 4, {{1, 2}, {3, 4}}, 4),
            "slice leaves rank 0 without 2 of its elements");
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Runs a collective of rows of two elements on 2 ranks. `asked` has the mask
/// of the rows of the divided side for 2 members, `wanted` that of the rows of
/// the whole side, both per rank.
static std::string rows(const std::string &kind, const std::string &from,
                        const std::string &to,
                        const std::vector<std::vector<double>> &parts,
                        const std::vector<std::vector<int64_t>> &asked,
                        const std::vector<std::vector<int64_t>> &wanted) {
  const auto numWhole = static_cast<int64_t>(wanted[0].size()),
             numDivided = static_cast<int64_t>(asked[0].size()) / 2;
  const bool gathers = kind == "all_gather";
  const std::string whole = std::to_string(numWhole),
                    divided = std::to_string(numDivided),
                    before = gathers ? divided : whole,
                    after = gathers ? whole : divided;
  const std::string maskTypes =
      "tensor<" + divided + "x2xi1>, tensor<" + whole + "xi1>";
  Parser parser;
  auto module = parser.parse(
      "func.func @main(%x: tensor<" + before + "x2xf32>, %a: tensor<" +
      divided + "x2xi1>, %w: tensor<" + whole +
      "xi1>) {\n%y = dist.collective " + kind +
      " %x rows(%a, %w : " + maskTypes + ") from <\"" + from + "\"> to <\"" +
      to + "\"> shape [" + whole + ", 2] received 0 value \"\" : tensor<" +
      before + "x2xf32> to tensor<" + after + "x2xf32>\nreturn\n}");
  if (!module)
    return "does not parse";
  std::vector<HostTensor> tensors, masks;
  for (size_t rank = 0; rank < 2; ++rank) {
    const auto numRows = static_cast<int64_t>(parts[rank].size()) / 2;
    tensors.push_back(HostTensor::ofFloats({numRows, 2}, parts[rank]));
    masks.push_back(HostTensor::ofInts({numDivided, 2}, asked[rank]));
    masks.push_back(HostTensor::ofInts({numWhole}, wanted[rank]));
  }
  dist::CollectiveOp op;
  module->walk([&](dist::CollectiveOp found) { op = found; });
  SimulatedRanks ranks{{{{"tp", 2}}}, 0};
  const std::array<const HostTensor *, 2> inputs{&tensors[0], &tensors[1]};
  const std::array<RowMasks, 2> known{RowMasks{&masks[0], &masks[1]},
                                      RowMasks{&masks[2], &masks[3]}};
  auto results = evaluateCollective(op, ranks, inputs, known);
  return results ? show(*results) : results.status().message();
}

TEST(Rows, OthersAreUndefined) {
  // Rank 0 wants row 2, rank 1 wants none. Each always has its own rows.
  EXPECT_EQ(rows("all_gather", "[4@tp:2, -]", "[-, -]",
                 {{1, 2, 3, 4}, {5, 6, 7, 8}}, {{0, 0, 0, 0}, {1, 0, 0, 0}},
                 {{0, 0, 1, 0}, {0, 0, 0, 0}}),
            " 1 2 3 4 5 6 ? ? | ? ? ? ? 5 6 7 8");
}

TEST(Rows, OthersAreNotAdded) {
  // Row 0 of rank 1 counts, and its row 1 does not.
  EXPECT_EQ(rows("reduce_scatter", "[-, -] partial sum(tp:2)", "[2@tp:2, -]",
                 {{1, 2, 3, 4}, {10, 20, 30, 40}}, {{0, 1}, {0, 0}},
                 {{0, 0}, {1, 0}}),
            " 11 22 | 30 40");
}

TEST(Rows, RanksHaveToAgree) {
  EXPECT_EQ(rows("all_gather", "[2@tp:2, -]", "[-, -]", {{1, 2}, {3, 4}},
                 {{0, 0}, {0, 0}}, {{0, 1}, {0, 0}}),
            "ranks 1 and 0 disagree about row 1");
}
