//===- OutputRelay.h - passes the stdout of ranks on to stdout ------------===//

#ifndef PCC_RUNTIME_LAUNCH_SPAWN_OUTPUTRELAY_H
#define PCC_RUNTIME_LAUNCH_SPAWN_OUTPUTRELAY_H

#include "status/Status.h"

#include <chrono>
#include <string>
#include <string_view>

namespace pcc::runtime {

/// Buffer for text that the ranks have written to their stdout. add() appends
/// text to the buffer. advance() writes text from the buffer to the stdout of
/// this process, but only while stdout accepts text without blocking.
///
/// While an OutputRelay object exists, this process ignores SIGPIPE. If the
/// process that reads stdout has ended, a write to stdout then fails with
/// EPIPE. By default, SIGPIPE would end this process instead.
class OutputRelay {
public:
  /// Creates a buffer without text, and makes this process ignore SIGPIPE.
  ///
  /// `seconds` is the timeout of stdout. If the buffer contains text, and
  /// stdout accepts no byte for longer than `seconds`, failure() returns an
  /// error.
  explicit OutputRelay(double seconds);
  OutputRelay(const OutputRelay &) = delete;
  OutputRelay &operator=(const OutputRelay &) = delete;
  ~OutputRelay();

  /// Appends `text` to the buffer. advance() and finish() write the buffer to
  /// stdout. Does nothing if failure() returns an error, because a write to
  /// stdout has then failed or timed out.
  void add(std::string_view text);
  /// Returns whether the buffer contains more than 1 MiB of text. If it does,
  /// the caller should add no text until advance() has written text from the
  /// buffer to stdout.
  bool isFull() const { return pending.size() > (1 << 20); }
  /// Writes waiting text to stdout, until no text is waiting or the next write
  /// would block.
  ///
  /// If a write fails, failure() returns its error from then on. A timeout has
  /// the same effect: text is waiting, but stdout has accepted no byte for
  /// longer than the number of seconds that the constructor received.
  void advance();
  /// Writes the whole text in the buffer to stdout, and blocks until stdout has
  /// accepted the text. If a write fails, or if stdout accepts no byte for
  /// longer than the number of seconds that the constructor received, deletes
  /// the rest of the text. failure() then returns the error.
  void finish();

  /// Returns the error of this process's stdout, which has exit code 7. There
  /// is an error in two cases:
  ///
  /// - A write to stdout failed.
  /// - Text was waiting, but stdout accepted no byte for longer than the number
  ///   of seconds that the constructor received.
  ///
  /// Otherwise returns success.
  const Status &failure() const { return error; }
  /// Returns whether stdout has failed because its reader has ended.
  bool isReaderGone() const { return readerGone; }

private:
  /// Handles `status`, the result of a write to stdout or the error of a
  /// timeout. If `status` is an error, stores it in `error` and deletes all
  /// text that waits to be written. All later calls of add() do nothing. If
  /// `errno` is EPIPE, the process that reads stdout has ended, and
  /// `readerGone` becomes true.
  ///
  /// `errno` must contain the reason of the error. After a failed write, no
  /// other function may be called before note(). For a timeout, the caller must
  /// set `errno` to ETIMEDOUT.
  void note(Status status);

  const std::chrono::duration<double> longest;
  std::string pending;
  /// Time at which the timeout of stdout last began. If the timeout passes
  /// while text is waiting, stdout counts as failed. The timeout begins again
  /// at two events:
  ///
  /// - This process writes text to stdout.
  /// - Text is added while no other text is waiting.
  std::chrono::steady_clock::time_point latest;
  Status error;
  bool readerGone = false;
  void (*pipeHandler)(int); ///< handler of SIGPIPE to be restored
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_SPAWN_OUTPUTRELAY_H
