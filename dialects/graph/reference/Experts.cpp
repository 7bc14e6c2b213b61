//===- Experts.cpp - evaluators of expert routing (MoE) ops ---------------===//

#include "dialects/graph/reference/EvaluatorTable.h"
#include "dialects/graph/reference/Gemm.h"

using namespace mlir;
using namespace pcc::graph;

/// Evaluates group_rows, which assigns tokens to the experts of a mixture of
/// experts. Operand 0 has shape [tokens, experts] and holds one gate per token
/// and expert. A gate is the weight of the expert for the token. The attribute
/// `chosen` is the largest number of experts per token. A token is assigned to
/// the first `chosen` experts for which the gate of the token is not 0.
///
/// Result 0 lists the tokens of all assignments, result 1 lists the experts,
/// and result 2 lists the gates. The assignments are ordered by expert, then by
/// token. The elements after the last assignment are 0. Result 3 holds the
/// number of assignments of each expert.
///
/// Example: `chosen` is 1. Token 0 has the gates 0, 0.5 and 0.25 for experts 0,
/// 1 and 2. Token 1 has the gates 1, 0 and 0.
///
///   result 0, tokens:   1    0
///   result 1, experts:  0    1
///   result 2, gates:    1    0.5
///   result 3, counts:   1    1    0
static LogicalResult groupRows(Evaluation &e) {
  const HostTensor &gate = e.in(0);
  const int64_t tokens = gate.shape[0], experts = gate.shape[1];
  std::vector<int64_t> free(tokens, cast<GroupRowsOp>(e.op).getChosen());
  int64_t row = 0;
  // Assign each token to at most `chosen` experts, where `chosen` is an
  // attribute of the op. The gate of a token for an expert is a weight, an
  // element of operand 0. A token is never assigned to an expert for which its
  // gate is 0. If a token has a nonzero gate for more than `chosen` experts,
  // the token is assigned to the first `chosen` of these experts. The loop
  // therefore visits the experts in ascending order.
  //
  // Example: `chosen` is 1. A token has the gates 0, 0.5 and 0.25 for experts
  // 0, 1 and 2. The token is assigned to expert 1.
  for (int64_t expert = 0; expert < experts; ++expert)
    for (int64_t token = 0; token < tokens; ++token) {
      const double weight = gate.floats[token * experts + expert];
      if (weight == 0 || free[token] == 0)
        continue;
      --free[token];
      ++e.out(3).ints[expert];
      e.out(0).ints[row] = token;
      e.out(1).ints[row] = expert;
      e.out(2).floats[row++] = weight;
    }
  return success();
}

/// Evaluates grouped_matmul, which multiplies each row of a matrix by the
/// matrix of one expert of a mixture of experts. Operand 0 is the matrix of all
/// rows. The first rows belong to expert 0, the next rows to expert 1, and so
/// on. Operand 1 holds one matrix per expert. The op may have the attribute
/// transpose_rhs, and the matrices of operand 1 are then stored transposed.
/// Operand 2 holds one number per expert: the number of rows that belong to the
/// expert. Row r of the result is row r of operand 0 times the matrix of the
/// expert to which this row belongs. Row r of the result is 0 if row r belongs
/// to no expert.
///
/// Example: operand 0 has 4 rows, and operand 2 is [2, 0, 1]. Rows 0 and 1
/// belong to expert 0. Row 2 belongs to expert 2. Row 3 belongs to no expert.
///
/// Fails if an element of operand 2 is negative, or if the sum of the elements
/// of operand 2 exceeds the number of rows of operand 0.
static LogicalResult groupedMatmul(Evaluation &e) {
  const bool transposed = cast<GroupedMatmulOp>(e.op).getTransposeRhs();
  const HostTensor &rows = e.in(0), &matrices = e.in(1), &counts = e.in(2);
  const int64_t k = rows.shape[1], n = e.out().shape[1];
  int64_t first = 0;
  for (auto [expert, count] : llvm::enumerate(counts.ints)) {
    if (count < 0 || count > rows.shape[0] - first)
      return e.fail("has " + Twine(count) + " rows of expert " + Twine(expert) +
                    " from row " + Twine(first) + " of " +
                    Twine(rows.shape[0]) + " on");
    const double *matrix = matrices.data<double>() + expert * k * n;
    gemm(count, n, k, MatrixView<double>{rows.data<double>() + first * k, k, 1},
         MatrixView<double>{matrix, transposed ? 1 : n, transposed ? k : 1},
         e.out().data<double>() + first * n, n);
    first += count;
  }
  return success();
}

void pcc::graph::addExpertEvaluators(EvaluatorTable &table) {
  table.add<GroupRowsOp>(groupRows);
  table.add<GroupedMatmulOp>(groupedMatmul);
}
