//===- Arena.cpp - the memory of a rank's values --------------------------===//

#include "runtime/engine/Arena.h"
#include "runtime/program/Program.h"

#include <cstring>

namespace pcc::runtime {

Status Arena::allocate(int64_t size) {
  void *allocated = nullptr;
  // aligned_alloc would want a multiple of the alignment.
  if (posix_memalign(&allocated, size_t(kAlignment), size_t(size)) != 0)
    return Status::error(NoDevice, "out of memory: no " + std::to_string(size) +
                                       " bytes for the arena");
  memory.reset(static_cast<char *>(allocated));
  // Kernels may compute with padding, though its results are never used.
  std::memset(memory.get(), 0, size_t(size));
  allocatedBytes = size;
  return Status::success();
}

} // namespace pcc::runtime
