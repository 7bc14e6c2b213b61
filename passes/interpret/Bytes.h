//===- Bytes.h - elements as they lie in files ----------------------------===//

#ifndef PCC_PASSES_INTERPRET_BYTES_H
#define PCC_PASSES_INTERPRET_BYTES_H

#include "dialects/graph/meaning/HostTensor.h"

namespace pcc::interpret {

/// Bytes that one element of `elementType` takes in a file; booleans take one.
int64_t bytesOf(mlir::Type elementType);

/// The little-endian, row-major elements of `type` that begin at `bytes`.
graph::HostTensor readElements(mlir::RankedTensorType type, const char *bytes);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_BYTES_H
