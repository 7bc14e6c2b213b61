//===- ExpertsTest.cpp - the meaning of rows that go to some experts ------===//

#include "test/dialects/graph/reference/Evaluated.h"
#include <gtest/gtest.h>

using namespace pcc::graph;

static std::string grouped(const std::string &gates, const char *chosen) {
  return evaluated("%g = graph.constant dense<" + gates +
                   "> : tensor<3x2xf32>\n"
                   "%t, %e, %w, %c = graph.group_rows %g chosen " +
                   chosen + " : tensor<3x2xf32>");
}

TEST(Experts, RowsAreOrderedByExpertsThenTokens) {
  EXPECT_EQ(grouped("[[0.0, 0.5], [0.25, 0.0], [0.0, 0.125]]", "1"),
            "3: 1 0 2; 3: 0 1 1; 3: 0.25 0.5 0.125; 2: 1 2");
}

TEST(Experts, AllTokensMayChooseOneExpert) {
  EXPECT_EQ(grouped("[[0.0, 0.5], [0.0, 0.25], [0.0, 1.0]]", "1"),
            "3: 0 1 2; 3: 1 1 1; 3: 0.5 0.25 1; 2: 0 3");
}

TEST(Experts, PaddingIsZero) {
  EXPECT_EQ(grouped("[[0.0, 0.0], [0.0, 0.5], [0.0, 0.0]]", "1"),
            "3: 1 0 0; 3: 1 0 0; 3: 0.5 0 0; 2: 0 1");
}

/// A token whose gates are all NaN does not take rows from other tokens.
TEST(Experts, NoTokenHasMoreRowsThanItChooses) {
  EXPECT_EQ(grouped("[[0.5, 0.25], [0.0, 1.0], [0.0, 1.0]]", "1"),
            "3: 0 1 2; 3: 0 1 1; 3: 0.5 1 1; 2: 1 2");
}

static std::string multiplied(const char *counts, const char *transposed) {
  return evaluated(
      std::string(R"(
    %r = graph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
    %m = graph.constant dense<[[[1.0, 0.0], [1.0, 0.0]], [[0.0, 2.0], [1.0, 0.0]]]> : tensor<2x2x2xf32>
    %c = graph.constant dense<)") +
      counts + "> : tensor<2xi64>\n%y = graph.grouped_matmul %r, %m by %c" +
      transposed + " : tensor<3x2xf32>, tensor<2x2x2xf32>, tensor<2xi64>");
}

TEST(Experts, EachRowHasItsMatrix) {
  EXPECT_EQ(multiplied("[1, 2]", ""), "3x2: 3 0 4 6 6 10");
  EXPECT_EQ(multiplied("[0, 3]", " {transpose_rhs}"), "3x2: 4 1 8 3 12 5");
}

TEST(Experts, PaddingGivesZeros) {
  EXPECT_EQ(multiplied("[0, 1]", ""), "3x2: 2 2 0 0 0 0");
}

TEST(Experts, MoreRowsThanThereAreIsAnError) {
  EXPECT_EQ(multiplied("[2, 2]", ""),
            "error: has 2 rows of expert 1 from row 2 of 3 on");
}
