//===- FileElements.h - conversion between tensors and file bytes ---------===//

#ifndef PCC_PASSES_INTERPRET_ELEMENTS_FILEELEMENTS_H
#define PCC_PASSES_INTERPRET_ELEMENTS_FILEELEMENTS_H

#include "dialects/graph/reference/HostTensor.h"
#include "runtime/tensor/ElementType.h"

namespace pcc::interpret {

/// Returns the run-time type of elements of `elementType`, which is also their
/// type in files. Returns nullopt if the runtime has no such type.
std::optional<runtime::ElementType> fileTypeOf(mlir::Type elementType);

/// Copies a tensor of `shape` out of `bytes`, which hold contiguous row-major
/// elements of `type`, little-endian. `bytes` need not be aligned.
graph::HostTensor readElements(llvm::ArrayRef<int64_t> shape,
                               runtime::ElementType type, const void *bytes);

/// Returns the bytes of `tensor` as readElements() reads them. Each element is
/// converted to `type`: floats are rounded and integers wrapped.
std::string writeElements(const graph::HostTensor &tensor,
                          runtime::ElementType type);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_ELEMENTS_FILEELEMENTS_H
