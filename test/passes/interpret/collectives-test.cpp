//===- collectives-test.cpp - collectives between simulated ranks ---------===//

#include "passes/interpret/Collectives.h"
#include "test/passes/interpret/Parsed.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;
using graph::HostTensor;

/// Runs one collective on vectors over 2 or 4 ranks of "tp"; prints what each
/// rank holds afterwards, or the error.
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
  std::string error, text;
  Ranks ranks{{{{"tp", static_cast<int64_t>(parts.size())}}}, 0};
  auto results = evaluateCollective(op, ranks, pointers, error);
  if (failed(results))
    return error;
  for (const HostTensor &result : *results) {
    text += text.empty() ? "" : " |";
    for (double value : result.floats)
      text += std::isnan(value) ? " ?"
                                : " " + std::to_string(static_cast<int>(value));
  }
  return text;
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
