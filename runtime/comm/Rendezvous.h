//===- Rendezvous.h - how ranks find each other ---------------------------===//

#ifndef PCC_RUNTIME_COMM_RENDEZVOUS_H
#define PCC_RUNTIME_COMM_RENDEZVOUS_H

#include "runtime/program/Status.h"

#include <cstddef>
#include <span>

namespace pcc::runtime {

/// What ranks tell each other before they have a communicator. All make the
/// same calls in the same order.
class Rendezvous {
public:
  virtual ~Rendezvous() = default;
  /// Gives every rank what rank 0 has; waits at most `seconds` for it (exit
  /// code 14).
  virtual Status broadcast(std::span<std::byte> data, double seconds) = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_RENDEZVOUS_H
