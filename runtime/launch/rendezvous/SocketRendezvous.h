//===- SocketRendezvous.h - rendezvous with failure detection -------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_SOCKETRENDEZVOUS_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_SOCKETRENDEZVOUS_H

#include "runtime/comm/Rendezvous.h"
#include "runtime/launch/rendezvous/Peers.h"
#include "runtime/launch/rendezvous/Socket.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace pcc::runtime {

/// A rendezvous over sockets that stay open, so that every rank detects when
/// another one fails. The monitor, a thread of this object, serves the sockets.
/// The monitor calls neither CUDA nor NCCL nor MPI, so it never hangs in them.
/// Kinds of failures:
///
///   a peer's process ends   its socket to rank 0 closes ─┐
///   a rank calls abort()    its monitor informs rank 0 ──┼─ rank 0 sends the
///   a call does not return  its monitor informs rank 0 ──┘  error to all ranks
///
///   all ranks:  poll() fails, so waits end, and the rank leaves by itself;
///               if it does not leave within kGrace, the monitor calls `giveUp`
class SocketRendezvous final : public Rendezvous {
public:
  /// Time that a rank has to leave after the run has failed. Two seconds of it
  /// are for NCCL to abort its communicators.
  static constexpr std::chrono::milliseconds kGrace{2500};

  /// Function that ends the process. Its arguments are the error of the run and
  /// the rank that was lost, if one was. The monitor's thread calls it.
  using GiveUp = std::function<void(const Status &, std::optional<int>)>;

  /// Connects to all ranks. Blocks until all have connected, at most for
  /// `seconds`, which is also the first deadline of calls (setDeadline). All
  /// ranks return the first error:
  ///
  /// - exit code 11: ranks have different bundles
  /// - exit code 12: ranks have different world sizes, or a rank is invalid
  /// - exit code 14: a rank does not connect
  static Status join(const JoinTerms &terms, double seconds, GiveUp giveUp,
                     std::shared_ptr<SocketRendezvous> &joined);
  /// Stops and joins the monitor's thread.
  ~SocketRendezvous() override;

  Status gather(const std::string &mine, double seconds,
                std::vector<std::string> &all) override;
  Status broadcast(std::span<std::byte> data, double seconds) override;
  Status poll() const override;
  std::optional<int> lost() const override;
  void setDeadline(double seconds) override { deadline = seconds; }
  void abort(const Status &why) override;
  Status leave() override;

private:
  /// Starts the monitor.
  SocketRendezvous(std::unique_ptr<Peers> peers, int rank, double seconds,
                   GiveUp giveUp);

  /// Blocks until all ranks are connected, at most for `seconds`. After an
  /// error, waits until the error has been sent to the other ranks.
  Status waitForAll(double seconds);
  /// Blocks until one of these events:
  ///
  /// - `isTrue` returns true: returns success.
  /// - The run fails: returns its error.
  /// - `seconds` have passed: ends the run with an error that contains the text
  ///   of `missing`.
  Status await(double seconds, const std::function<bool()> &isTrue,
               const std::function<std::string()> &missing);
  /// Body of the monitor's thread, which serves the sockets until the object is
  /// destroyed.
  void monitor();
  /// Waits up to 0.1 s for events on the sockets, and processes them.
  void attend();
  /// Returns whether the rank has been inside one call of CUDA or NCCL for
  /// longer than the deadline. If so, ends the run. `passed` is the time since
  /// the last call of isStuck(), in seconds.
  bool isStuck(double passed);
  /// Wakes the monitor.
  void wake();

  const int rank;
  const GiveUp giveUp;
  /// An eventfd that wakes the monitor's thread from its wait.
  OpenFile wakeUp;
  /// Longest time, in seconds, that the rank may be inside one call of CUDA or
  /// NCCL.
  std::atomic<double> deadline;
  /// Whether the run has failed. poll() reads this flag without the lock.
  std::atomic<bool> hasEnded{false};
  /// Whether the monitor's thread should end.
  std::atomic<bool> isOver{false};

  /// Guards `peers`.
  mutable std::mutex mutex;
  /// Notified after each call of peers->advance(), which may change `peers`.
  std::condition_variable changed;
  const std::unique_ptr<Peers> peers;

  /// Number of begun CUDA and NCCL calls (WatchedCalls::begun) at the last call
  /// of isStuck().
  uint64_t callsSeen = 0;
  /// Time in seconds for which the rank has been inside the current call of
  /// CUDA or NCCL.
  double secondsInside = 0;

  /// The monitor's thread. Declared last, because it uses the other members.
  std::thread thread;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_SOCKETRENDEZVOUS_H
