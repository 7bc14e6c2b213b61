//===- ImageObject.h - a program as a linkable object ---------------------===//

#ifndef PCC_PASSES_7_EMIT_LINK_IMAGEOBJECT_H
#define PCC_PASSES_7_EMIT_LINK_IMAGEOBJECT_H

#include "runtime/base/Status.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace pcc::emit {

/// All kernels of a module for GPUs.
struct GpuCode {
  std::string arch; ///< "sm_90"
  std::string ptx;
  std::vector<char> cubin; ///< empty: it was not assembled
};

/// What one rank executable holds besides the runtime.
struct Image {
  std::span<const std::byte> program; ///< what sealProgram() returned
  std::vector<std::string> cpus;      ///< best last
  std::vector<int> kernels;           ///< numbers within the module
  const GpuCode *gpu = nullptr;       ///< of a program for GPUs
};

/// An ELF object that defines `pcc_program_image` (runtime/program/
/// ProgramImage.h): the program's bytes, per cpu c a table of the symbols
/// `pcc_k_<n>_<c>`, and the code for GPUs. It names the dynamic loader too, as
/// a linker gives shared objects none.
runtime::Status makeImageObject(const Image &image, std::vector<char> &object);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LINK_IMAGEOBJECT_H
