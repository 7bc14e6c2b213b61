//===- EventQueue.h - files of which some have become readable ------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_EVENTQUEUE_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_EVENTQUEUE_H

#include "runtime/launch/rendezvous/Socket.h"

#include <cstdint>
#include <vector>

namespace pcc::runtime {

/// A set of files (Linux's epoll), which reports those that are ready. Its cost
/// depends on the number of ready files, not on the size of the set.
class EventQueue {
public:
  EventQueue();

  /// Returns a descriptor that is readable while a file of the set is ready.
  int fd() const { return queue.fd(); }

  /// Adds a file, which is ready when it can be read or, if `forWriting` is
  /// true, written. Its events carry the number `id`. A file leaves the set
  /// when it is closed.
  void add(int fd, uint64_t id, bool forWriting = false);
  /// Changes what a file of the set waits for, and its number.
  void change(int fd, uint64_t id, bool forWriting = false);
  /// Removes a file that stays open.
  void remove(int fd);

  /// Returns the numbers of files that are ready, without blocking. If many
  /// are ready, returns some of them; the others follow in later calls.
  std::vector<uint64_t> take();

private:
  OpenFile queue;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_EVENTQUEUE_H
