//===- OutputRelay.h - passes the stdout of ranks on to stdout ------------===//

#ifndef PCC_RUNTIME_LAUNCH_SPAWN_OUTPUTRELAY_H
#define PCC_RUNTIME_LAUNCH_SPAWN_OUTPUTRELAY_H

#include "status/Status.h"

#include <chrono>
#include <string>
#include <string_view>

namespace pcc::runtime {

/// Buffer between the ranks' stdout and this process's own stdout, which is
/// written without blocking. While the object exists, SIGPIPE is ignored, so
/// that a write without a reader fails.
class OutputRelay {
public:
  /// Creates an empty relay. stdout counts as failed if it takes no byte for
  /// `seconds`.
  explicit OutputRelay(double seconds);
  OutputRelay(const OutputRelay &) = delete;
  OutputRelay &operator=(const OutputRelay &) = delete;
  ~OutputRelay();

  /// Appends text. Discards it if stdout has failed.
  void add(std::string_view text);
  /// Returns whether over 1 MiB of text is waiting, so that the caller should
  /// add no more.
  bool isFull() const { return pending.size() > (1 << 20); }
  /// Writes as much as possible without blocking. Fails if stdout has taken no
  /// byte for too long.
  void advance();
  /// Writes all text that is waiting; blocks until stdout takes it or fails.
  void finish();

  /// Returns the error of stdout (exit code 7); success while it works.
  const Status &failure() const { return error; }
  /// Returns whether stdout has failed because its reader has ended.
  bool isReaderGone() const { return readerGone; }

private:
  /// Records the result of a write, and discards all text after an error.
  void note(Status status);

  const std::chrono::duration<double> longest;
  std::string pending;
  /// Time of the latest write, or of adding text to an empty buffer.
  std::chrono::steady_clock::time_point latest;
  Status error;
  bool readerGone = false;
  void (*pipeHandler)(int); ///< handler of SIGPIPE to be restored
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_SPAWN_OUTPUTRELAY_H
