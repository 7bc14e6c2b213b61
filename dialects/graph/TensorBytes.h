//===- TensorBytes.h - sizes of tensors in bytes --------------------------===//

#ifndef PCC_DIALECTS_GRAPH_TENSORBYTES_H
#define PCC_DIALECTS_GRAPH_TENSORBYTES_H

#include "mlir/IR/BuiltinTypes.h"

#include <algorithm>

namespace pcc::graph {

/// Returns the number of bytes that one element of a tensor of this type takes
/// in memory. A boolean (i1) takes a whole byte.
inline int64_t elementBytes(mlir::RankedTensorType type) {
  return std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
}

/// Returns the number of bytes of all elements of a tensor of this type. Cost
/// estimates need it as a double.
inline double numBytes(mlir::RankedTensorType type) {
  return static_cast<double>(type.getNumElements()) *
         static_cast<double>(elementBytes(type));
}

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_TENSORBYTES_H
