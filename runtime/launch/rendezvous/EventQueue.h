//===- EventQueue.h - files of which some have become readable ------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_EVENTQUEUE_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_EVENTQUEUE_H

#include "runtime/launch/rendezvous/Socket.h"

#include <cstdint>
#include <vector>

namespace pcc::runtime {

/// A set of open files, such as sockets. take() reports which files of the set
/// are ready. The caller of add() selects for each file whether "ready" means
/// that reading from the file does not block, or that writing to the file does
/// not block. The class uses Linux's epoll, which is fast even with thousands
/// of files.
class EventQueue {
public:
  EventQueue();

  /// Returns a descriptor that is readable while a file of the set is ready.
  int fd() const { return queue.fd(); }

  /// Adds the file with the descriptor `fd` to the set. `id` is a number that
  /// the caller chooses for the file. take() returns this number if the file is
  /// ready:
  ///
  /// - `forWriting` = false: The file is ready if reading does not block.
  /// - `forWriting` = true: The file is ready if writing does not block.
  ///
  /// Closing the file removes the file from the set.
  void add(int fd, uint64_t id, bool forWriting = false);
  /// Changes the settings of a file that is in the set. `fd` is the descriptor
  /// of the file. From now on, take() returns the number `id` if the file is
  /// ready:
  ///
  /// - `forWriting` = false: The file is ready if reading does not block.
  /// - `forWriting` = true: The file is ready if writing does not block.
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
