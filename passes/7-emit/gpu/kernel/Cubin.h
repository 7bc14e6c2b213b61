//===- Cubin.h - assembly of PTX to machine code by nvJitLink -------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_CUBIN_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_CUBIN_H

#include "status/Status.h"

#include <optional>
#include <vector>

namespace pcc::emit {

/// Assembles `ptx` to machine code for GPUs of architecture `arch`, such as
/// "sm_90". Calls nvJitLink, NVIDIA's linker library. Searches for nvJitLink of
/// CUDA 13 in `folders`, then in the standard library folders.
///
/// Stores the machine code in `cubin` and returns success. If nvJitLink is not
/// installed, sets `cubin` to std::nullopt and also returns success. The bundle
/// then contains only the PTX. The CUDA driver assembles the PTX when a rank
/// loads the kernels. If nvJitLink rejects the PTX, returns an error with exit
/// code 1.
Status assemble(const std::string &ptx, const std::string &arch,
                const std::vector<std::string> &folders,
                std::optional<std::vector<char>> &cubin);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_CUBIN_H
