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

  /// Returns the file descriptor of the epoll instance. This descriptor is
  /// readable while at least one watched file is ready. A file is watched from
  /// add() to remove(). A caller can wait for all watched files at once: it
  /// passes this descriptor to poll().
  int fd() const { return queue.fd(); }

  /// Begins to watch the file with the descriptor `fd`. The caller chooses a
  /// number `id` for the file. While the file is ready, take() returns this
  /// number. The argument `forWriting` determines when the file is ready:
  ///
  /// - false: The file is ready if reading from the file does not block.
  /// - true: The file is ready if writing to the file does not block.
  ///
  /// If the caller closes the file, this object stops watching the file.
  void add(int fd, uint64_t id, bool forWriting = false);
  /// Replaces the arguments `id` and `forWriting` of an earlier call of add().
  /// `fd` is the descriptor of the file that the earlier call has added. From
  /// now on, take() returns the new number `id` while the file is ready. The
  /// new value of `forWriting` determines when the file is ready:
  ///
  /// - false: The file is ready if reading from the file does not block.
  /// - true: The file is ready if writing to the file does not block.
  void change(int fd, uint64_t id, bool forWriting = false);
  /// Stops watching the file with the descriptor `fd`. After that, take() does
  /// not report the file. The function does not close the file.
  void remove(int fd);

  /// Returns the numbers of the watched files that are ready. A file is watched
  /// from add() to remove(). The last call of add() or change() for a file has
  /// determined two properties of the file:
  ///
  /// - `id`: the number of the file, which take() returns.
  /// - `forWriting`: If false, the file is ready if reading from the file does
  ///   not block. If true, the file is ready if writing to the file does not
  ///   block.
  ///
  /// The function does not block. If no file is ready, the result is empty. The
  /// result contains at most 256 numbers. If more than 256 files are ready,
  /// later calls return the numbers of the remaining files.
  std::vector<uint64_t> take();

private:
  OpenFile queue;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_EVENTQUEUE_H
