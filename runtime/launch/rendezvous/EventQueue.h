//===- EventQueue.h - files of which some have become readable ------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_EVENTQUEUE_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_EVENTQUEUE_H

#include "runtime/launch/rendezvous/Socket.h"

#include <cstdint>
#include <vector>

namespace pcc::runtime {

/// A set of files (Linux's epoll) that reports those that are ready. Scales to
/// many files.
class EventQueue {
public:
  EventQueue();

  /// Returns a descriptor that is readable while a file of the set is ready.
  int fd() const { return queue.fd(); }

  /// Adds the file `fd` to the set. A file is ready when it can be read or,
  /// with `forWriting`, written. take() returns `id` when the file is ready.
  /// Closing a file removes it from the set.
  void add(int fd, uint64_t id, bool forWriting = false);
  /// Replaces the values `id` and `forWriting` with which the file `fd` was
  /// added.
  void change(int fd, uint64_t id, bool forWriting = false);
  /// Removes the file `fd` from the set without closing the file.
  void remove(int fd);

  /// Returns the id (argument of add()) of each ready file, without blocking.
  /// If more than 256 files are ready, later calls return the others.
  std::vector<uint64_t> take();

private:
  OpenFile queue;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_EVENTQUEUE_H
