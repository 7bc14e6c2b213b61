//===- FileElements.h - elements as they lie in files ---------------------===//

#ifndef PCC_PASSES_INTERPRET_ELEMENTS_FILEELEMENTS_H
#define PCC_PASSES_INTERPRET_ELEMENTS_FILEELEMENTS_H

#include "dialects/graph/reference/HostTensor.h"
#include "runtime/tensor/ElementType.h"

namespace pcc::interpret {

/// The type that elements have in files and at run time; none if they cannot be
/// there.
std::optional<runtime::ElementType> fileTypeOf(mlir::Type elementType);

/// The little-endian, row-major elements of a tensor of `shape` that begin at
/// `bytes`.
graph::HostTensor readElements(llvm::ArrayRef<int64_t> shape,
                               runtime::ElementType type, const void *bytes);

/// The reverse: every element is rounded or wrapped to `type`.
std::string writeElements(const graph::HostTensor &tensor,
                          runtime::ElementType type);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_ELEMENTS_FILEELEMENTS_H
