//===- Arena.h - the memory of a rank's values ----------------------------===//

#ifndef PCC_RUNTIME_ENGINE_ARENA_H
#define PCC_RUNTIME_ENGINE_ARENA_H

#include "runtime/program/Status.h"

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace pcc::runtime {

/// One piece of memory, aligned to kAlignment and zeroed, that all arena
/// buffers of a program lie in. Not a byte is added to what is asked for, and
/// what the run reports is what was allocated here.
class Arena {
public:
  /// Once per arena; exit code 13 if there is no memory.
  Status allocate(int64_t size);

  char *data() const { return memory.get(); }
  int64_t bytes() const { return allocatedBytes; }

private:
  std::unique_ptr<char, decltype(&std::free)> memory{nullptr, &std::free};
  int64_t allocatedBytes = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_ARENA_H
