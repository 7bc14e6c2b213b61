//===- Cubin.h - assembly of PTX to machine code by nvJitLink -------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_CUBIN_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_CUBIN_H

#include "status/Status.h"

#include <optional>
#include <vector>

namespace pcc::emit {

/// Assembles `ptx` for GPUs of architecture `arch`, such as "sm_90", with
/// nvJitLink of CUDA 13. Searches `folders` before the standard library
/// folders. Sets `cubin` to std::nullopt and succeeds if nvJitLink is not
/// installed. Returns exit code 1 if nvJitLink rejects the PTX.
Status assemble(const std::string &ptx, const std::string &arch,
                const std::vector<std::string> &folders,
                std::optional<std::vector<char>> &cubin);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_CUBIN_H
