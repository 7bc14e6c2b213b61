//===- ElementTypes.h - verifier checks of element types ------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_ELEMENTTYPES_H
#define PCC_DIALECTS_GRAPH_OPS_ELEMENTTYPES_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// Emits an error at `op` and fails unless every tensor in `values` has
/// elements of a float type.
inline mlir::LogicalResult checkFloats(mlir::Operation *op,
                                       mlir::ValueRange values) {
  for (mlir::Value value : values)
    if (!mlir::isa<mlir::FloatType>(tensorType(value).getElementType()))
      return op->emitOpError("is defined for floats only, got ")
             << value.getType();
  return mlir::success();
}

/// Emits an error at `op` and fails unless all tensors in `values` have the
/// same element type. `values` must not be empty.
inline mlir::LogicalResult checkSameElements(mlir::Operation *op,
                                             mlir::ValueRange values) {
  for (mlir::Value value : values)
    if (tensorType(value).getElementType() !=
        tensorType(values.front()).getElementType())
      return op->emitOpError("mixes elements of ")
             << values.front().getType() << " and " << value.getType();
  return mlir::success();
}

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_ELEMENTTYPES_H
