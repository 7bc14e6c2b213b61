//===- NpyFiles.h - tensors from and to .npy files ------------------------===//

#ifndef PCC_PASSES_INTERPRET_ELEMENTS_NPYFILES_H
#define PCC_PASSES_INTERPRET_ELEMENTS_NPYFILES_H

#include "dialects/graph/reference/HostTensor.h"
#include "runtime/base/Status.h"

namespace pcc::interpret {

/// Reads a row-major .npy file into `tensor`. The file must have the shape and
/// element type of `type`, where f32 stands for bf16, which the format lacks.
/// Returns an error if it has others, or if it cannot be read.
runtime::Status readNpy(const std::string &path, mlir::RankedTensorType type,
                        graph::HostTensor &tensor);

/// Writes `tensor` as a .npy file, rounded to the element type of `type`. The
/// file has that element type, or f32 for bf16.
runtime::Status writeNpy(const std::string &path, mlir::RankedTensorType type,
                         graph::HostTensor tensor);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_ELEMENTS_NPYFILES_H
