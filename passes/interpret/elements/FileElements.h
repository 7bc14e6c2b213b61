//===- FileElements.h - conversion between tensors and file bytes ---------===//

#ifndef PCC_PASSES_INTERPRET_ELEMENTS_FILEELEMENTS_H
#define PCC_PASSES_INTERPRET_ELEMENTS_FILEELEMENTS_H

#include "dialects/graph/reference/HostTensor.h"
#include "runtime/tensor/ElementType.h"

namespace pcc::interpret {

/// Converts an MLIR element type to a runtime::ElementType. Example: the result
/// for the MLIR type f32 is ElementType::F32. The result describes how a file
/// stores elements of the type `elementType`. Returns nullopt if there is no
/// runtime::ElementType for `elementType`, for example if it is a complex type.
std::optional<runtime::ElementType> fileTypeOf(mlir::Type elementType);

/// Returns a tensor of shape `shape` whose elements are copied from `bytes`.
/// The elements in `bytes` have the type `type` and are row-major, contiguous
/// and little-endian. `bytes` need not be aligned.
graph::HostTensor readElements(llvm::ArrayRef<int64_t> shape,
                               runtime::ElementType type, const void *bytes);

/// Returns the elements of `tensor` as bytes: row-major, contiguous and
/// little-endian. Each element is converted to `type`: floats are rounded and
/// integers wrapped.
std::string writeElements(const graph::HostTensor &tensor,
                          runtime::ElementType type);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_ELEMENTS_FILEELEMENTS_H
