//===- Experts.cpp - types and costs of dropless mixture-of-experts ops ---===//
//
// Dropless experts (as in MegaBlocks): the rows of each expert are contiguous
// in one dim of static size, expert after expert. A tensor of counts holds the
// number of rows of each expert.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/ElementTypes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace pcc::graph;

/// Infers the result types of group_rows, which assigns each token to at most
/// `chosen` experts. Results 0, 1 and 2 hold the token, expert and routing
/// weight of each assignment, and result 3 holds the number of tokens of each
/// expert. `rows` is the largest possible number of assignments.
LogicalResult GroupRowsOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &results) {
  RankedTensorType gate = tensorType(adaptor.getGate());
  const auto chosen = static_cast<int64_t>(adaptor.getChosen());
  if (gate.getRank() != 2 || !isa<FloatType>(gate.getElementType()) ||
      chosen < 1)
    return emitOptionalError(loc, "chooses ", chosen,
                             " experts by gates of type ", gate);
  const int64_t rows =
      gate.getDimSize(0) * std::min(chosen, gate.getDimSize(1));
  auto indices =
      RankedTensorType::get({rows}, IntegerType::get(context, /*width=*/64));
  results.append({indices, indices, gate.clone({rows}),
                  indices.clone({gate.getDimSize(1)})});
  return success();
}

LogicalResult
GroupedMatmulOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                  Adaptor adaptor,
                                  SmallVectorImpl<Type> &results) {
  RankedTensorType rows = tensorType(adaptor.getRows()),
                   matrices = tensorType(adaptor.getMatrices());
  const bool transposed = adaptor.getTransposeRhs();
  if (rows.getRank() != 2 || matrices.getRank() != 3 ||
      rows.getDimSize(1) != matrices.getDimSize(transposed ? 2 : 1))
    return emitOptionalError(loc, "multiplies rows ", rows, " by matrices ",
                             matrices);
  results.push_back(rows.clone(
      {rows.getDimSize(0), matrices.getDimSize(transposed ? 1 : 2)}));
  return success();
}

LogicalResult GroupedMatmulOp::verify() {
  RankedTensorType counts = tensorType(getCounts());
  if (counts.getRank() != 1 || !counts.getElementType().isInteger(64) ||
      counts.getDimSize(0) != tensorType(getMatrices()).getDimSize(0))
    return emitOpError("has counts ")
           << counts << " for the rows of matrices " << getMatrices().getType();
  if (failed(checkFloats(*this, {getRows(), getMatrices()})))
    return failure();
  return checkSameElements(*this, {getRows(), getMatrices()});
}

/// Counts the floating-point operations of a grouped_matmul. The op multiplies
/// each row of its operand `rows` by the matrix of one expert. The last rows
/// may be unused, but the number of used rows is known at run time only. The
/// count therefore includes all rows:
///
///   12 rows of size 64, matrices [64, 256]:  2 · 12 · 64 · 256 operations
double GroupedMatmulOp::getFlops() {
  return 2.0 * tensorType(getResult()).getNumElements() *
         tensorType(getRows()).getDimSize(1);
}
