//===- Cubin.h - PTX, assembled -------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_CUBIN_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_CUBIN_H

#include "runtime/base/Status.h"

#include <optional>
#include <vector>

namespace pcc::emit {

/// Code for devices of `arch` ("sm_90"), by NVIDIA's assembler in this process
/// (nvJitLink of CUDA 13); nothing where that is not installed: drivers
/// assemble PTX as well, when it is loaded. `folders` are searched first. Exit
/// code 1, with the assembler's own words as a note, if it refuses the text.
runtime::Status assemble(const std::string &ptx, const std::string &arch,
                         const std::vector<std::string> &folders,
                         std::optional<std::vector<char>> &cubin);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_CUBIN_H
