//===- TensorBytes.h - how large tensors are ------------------------------===//

#ifndef PCC_DIALECTS_GRAPH_TENSORBYTES_H
#define PCC_DIALECTS_GRAPH_TENSORBYTES_H

#include "mlir/IR/BuiltinTypes.h"

#include <algorithm>

namespace pcc::graph {

/// Of one element as it is stored: a boolean takes a byte.
inline int64_t elementBytes(mlir::RankedTensorType type) {
  return std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
}

/// Of all elements; a double, for prices.
inline double numBytes(mlir::RankedTensorType type) {
  return static_cast<double>(type.getNumElements()) *
         static_cast<double>(elementBytes(type));
}

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_TENSORBYTES_H
