//===- Npy.h - tensors from .npy files ------------------------------------===//

#ifndef PCC_PASSES_INTERPRET_NPY_H
#define PCC_PASSES_INTERPRET_NPY_H

#include "dialects/graph/meaning/HostTensor.h"

namespace pcc::interpret {

/// Reads a C-ordered .npy file whose shape and element type must be those of
/// `type`; bf16 is read from f32. `error` says what is wrong with the file.
llvm::FailureOr<graph::HostTensor> readNpy(const std::string &path,
                                           mlir::RankedTensorType type,
                                           std::string &error);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_NPY_H
