//===- NpyFiles.h - tensors from and to .npy files ------------------------===//

#ifndef PCC_PASSES_INTERPRET_ELEMENTS_NPYFILES_H
#define PCC_PASSES_INTERPRET_ELEMENTS_NPYFILES_H

#include "dialects/graph/reference/HostTensor.h"
#include "status/Status.h"

namespace pcc::interpret {

/// Reads the .npy file `path` into `tensor`. The file's elements must be
/// row-major. Its shape and element type must be those of `type`; bf16 is
/// stored as f32. Returns an error if the file cannot be read or does not fit
/// `type`.
Status readNpy(const std::string &path, mlir::RankedTensorType type,
               graph::HostTensor &tensor);

/// Writes `tensor` to the .npy file `path`. The function first rounds the
/// elements to the element type of `type`, and then stores them in the file.
/// The elements in the file have the element type of `type`. There is one
/// exception: if the element type of `type` is bf16, the elements in the file
/// have the type f32, because .npy files have no bf16. Returns an error if .npy
/// files cannot hold the element type, or if the file cannot be written.
Status writeNpy(const std::string &path, mlir::RankedTensorType type,
                graph::HostTensor tensor);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_ELEMENTS_NPYFILES_H
