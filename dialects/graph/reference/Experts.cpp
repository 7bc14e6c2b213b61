//===- Experts.cpp - evaluators of expert routing (MoE) ops ---------------===//

#include "dialects/graph/reference/EvaluatorTable.h"
#include "dialects/graph/reference/Gemm.h"
#include "status/Counted.h"

using namespace mlir;
using namespace pcc::graph;

/// Evaluates group_rows of a mixture of experts. Operand 0 holds one gate
/// (routing weight) per token and expert. Results 0, 1 and 2 list the token,
/// expert and gate of each assignment, ordered by expert, then by token. Result
/// 3 counts the assignments of each expert.
static LogicalResult groupRows(Evaluation &e) {
  const HostTensor &gate = e.in(0);
  const int64_t tokens = gate.shape[0], experts = gate.shape[1];
  std::vector<int64_t> free(tokens, cast<GroupRowsOp>(e.op).getChosen());
  int64_t row = 0;
  // Assign each token to its first `chosen` experts with a nonzero gate. The
  // experts must therefore be visited in ascending order.
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

/// Evaluates grouped_matmul: multiplies each row of operand 0 by the matrix of
/// its expert in operand 1. Operand 2 holds the number of rows of each expert.
/// A row without an expert gives 0. Fails if a number is negative, or if the
/// numbers exceed the rows.
static LogicalResult groupedMatmul(Evaluation &e) {
  const bool transposed = cast<GroupedMatmulOp>(e.op).getTransposeRhs();
  const HostTensor &rows = e.in(0), &matrices = e.in(1), &counts = e.in(2);
  const int64_t k = rows.shape[1], n = e.out().shape[1];
  int64_t first = 0;
  for (auto [expert, count] : llvm::enumerate(counts.ints)) {
    if (count < 0 || count > rows.shape[0] - first)
      return e.fail("has " + pcc::counted(count, "row") + " of expert " +
                    Twine(expert) + " from row " + Twine(first) + " of " +
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
