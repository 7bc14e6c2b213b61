//===- ContractionsTest.cpp - gradients of sums of products ---------------===//

#include "test/dialects/graph/gradients/Cases.h"
#include <gtest/gtest.h>

using namespace pcc::graph;

/// Returns a case of a matmul whose operands have these shapes.
static GradientCase matmul(const std::string &name, const std::string &lhs,
                           const std::string &rhs,
                           const std::string &attributes = "") {
  std::string a = "tensor<" + lhs + "xf64>", b = "tensor<" + rhs + "xf64>";
  return {name, "%a: " + a + ", %b: " + b,
          "%y = graph.matmul %a, %b " + attributes + " : " + a + ", " + b};
}

/// Returns a case of an einsum whose operands have these shapes ("" for
/// scalars).
static GradientCase einsum(const std::string &name, const std::string &equation,
                           const std::vector<std::string> &shapes) {
  std::string arguments, operands, types;
  for (size_t i = 0; i < shapes.size(); ++i) {
    std::string separator = i ? ", " : "", operand = "%a" + std::to_string(i);
    std::string type = "tensor<" + shapes[i] + "f64>";
    arguments += separator + operand + ": " + type;
    operands += separator + operand;
    types += separator + type;
  }
  return {name, arguments,
          "%y = graph.einsum \"" + equation + "\" " + operands + " : " + types};
}

std::vector<GradientCase> pcc::graph::contractionCases() {
  return {matmul("matmul", "2x3", "3x4"),
          matmul("matmul_left_transposed", "3x2", "3x4", "{transpose_lhs}"),
          matmul("matmul_right_transposed", "2x3", "4x3", "{transpose_rhs}"),
          matmul("matmul_both_transposed", "3x2", "4x3",
                 "{transpose_lhs, transpose_rhs}"),
          matmul("matmul_batched", "2x2x3x2", "2x2x2x3"),
          matmul("matmul_one_row", "1x3", "3x1"),
          matmul("matmul_weight", "2x2x3", "3x4"),
          matmul("matmul_transposed_weight", "2x3x2", "4x3",
                 "{transpose_lhs, transpose_rhs}"),
          matmul("matmul_broadcasts_both", "2x1x2x3", "1x3x3x2"),
          matmul("matmul_broadcasts_left", "1x2x3", "2x2x3x2"),
          matmul("matmul_broadcasts_left_transposed", "3x2", "2x2x2x3",
                 "{transpose_lhs, transpose_rhs}"),
          einsum("einsum", "bik,bkj->bji", {"2x3x2x", "2x2x3x"}),
          einsum("einsum_sums_alone", "abc,db->ad", {"2x3x2x", "2x3x"}),
          einsum("einsum_of_three", "ab,bc,cd->da", {"2x3x", "3x2x", "2x2x"}),
          einsum("einsum_to_a_scalar", "ab,ab->", {"2x3x", "2x3x"}),
          einsum("einsum_with_a_scalar", "ab,->ba", {"2x3x", ""}),
          einsum("einsum_of_one", "abc->ca", {"2x3x2x"}),
          einsum("einsum_sum_of_one", "ab->", {"2x3x"}),
          einsum("einsum_outer", "a,b->ba", {"2x", "3x"}),
          einsum("einsum_element_wise", "ab,ab->ab", {"2x3x", "2x3x"})};
}

TEST(ContractionGradients, ARepeatedWeightIsSummedAtOnce) {
  EXPECT_EQ(opsBuilt(matmul("", "5x2x3", "3x4"), {1}), "graph.einsum");
}
