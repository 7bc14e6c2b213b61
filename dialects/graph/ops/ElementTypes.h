//===- ElementTypes.h - checks of what operands hold ----------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_ELEMENTTYPES_H
#define PCC_DIALECTS_GRAPH_OPS_ELEMENTTYPES_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// An error unless all of `values` hold floats.
inline mlir::LogicalResult checkFloats(mlir::Operation *op,
                                       mlir::ValueRange values) {
  for (mlir::Value value : values)
    if (!mlir::isa<mlir::FloatType>(tensorType(value).getElementType()))
      return op->emitOpError("is defined for floats only, got ")
             << value.getType();
  return mlir::success();
}

/// An error unless all of `values` hold elements of one type.
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
