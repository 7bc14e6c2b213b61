//===- NpyFiles.h - tensors from and to .npy files ------------------------===//

#ifndef PCC_PASSES_INTERPRET_ELEMENTS_NPYFILES_H
#define PCC_PASSES_INTERPRET_ELEMENTS_NPYFILES_H

#include "dialects/graph/reference/HostTensor.h"
#include "runtime/base/Status.h"

namespace pcc::interpret {

/// Reads a C-ordered .npy file whose shape and element type must be those of
/// `type`; bf16 is read from f32.
runtime::Status readNpy(const std::string &path, mlir::RankedTensorType type,
                        graph::HostTensor &tensor);

/// Writes `tensor`, rounded to the elements of `type`; bf16 becomes f32.
runtime::Status writeNpy(const std::string &path, mlir::RankedTensorType type,
                         graph::HostTensor tensor);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_ELEMENTS_NPYFILES_H
