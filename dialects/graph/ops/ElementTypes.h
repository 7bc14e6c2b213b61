//===- ElementTypes.h - verifier checks of element types ------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_ELEMENTTYPES_H
#define PCC_DIALECTS_GRAPH_OPS_ELEMENTTYPES_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// Emits an error at `op` and fails unless all of `values` have float elements.
inline mlir::LogicalResult checkFloats(mlir::Operation *op,
                                       mlir::ValueRange values) {
  for (mlir::Value value : values)
    if (!mlir::isa<mlir::FloatType>(tensorType(value).getElementType()))
      return op->emitOpError("is defined for floats only, got ")
             << value.getType();
  return mlir::success();
}

/// Emits an error at `op` and fails unless all of `values`, of which there is
/// at least one, have the same element type.
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
