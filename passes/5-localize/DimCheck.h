//===- DimCheck.h - check of the split dims of local values ----------------===//
//
// An op on local tensors reads and writes the elements that lie on its rank.
// Its tensors must therefore be split alike along each loop dim of the op:
//
//   %h = graph.add %x, %bias    x [-, tp], bias [tp], h [-, tp]
//
// With bias [cp], each rank would add the bias of other columns, which has the
// same local shape.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_5_LOCALIZE_DIMCHECK_H
#define PCC_PASSES_5_LOCALIZE_DIMCHECK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::localize {

/// Checks that the values of `function` have the local shapes of their
/// shardings, and that each op splits a loop dim alike in all its operands and
/// results. Values without a sharding are skipped. Emits an error and fails if
/// a check fails.
mlir::LogicalResult checkDims(mlir::func::FuncOp function);

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_DIMCHECK_H
