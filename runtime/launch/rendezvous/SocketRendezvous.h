//===- SocketRendezvous.h - rendezvous with failure detection -------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_SOCKETRENDEZVOUS_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_SOCKETRENDEZVOUS_H

#include "runtime/comm/Rendezvous.h"
#include "runtime/launch/rendezvous/Peers.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace pcc::runtime {

/// A rendezvous over sockets that stay open while the ranks run, so that every
/// rank notices when another one fails. The monitor, a thread of this object,
/// handles the sockets. The monitor calls neither CUDA nor NCCL nor MPI, so it
/// keeps working when the rank's own thread hangs in one of them:
///
///   a peer's process ends      rank 0 sees its socket close ── tells all
///   a rank fails               abort() ── rank 0 ── tells all
///   a call does not return     the monitor sees it ── rank 0 ── tells all
///
///   all:  poll() fails, so waits end, and the rank leaves by itself
///         it does not leave within kGrace: the monitor calls `giveUp`
class SocketRendezvous final : public Rendezvous {
public:
  /// Time that a rank has to leave after the run has failed. NCCL is given two
  /// seconds of it to abort its communicators.
  static constexpr std::chrono::milliseconds kGrace{2500};

  /// Ends the process. Called on the monitor's thread with the verdict of the
  /// run and the rank that was lost, if one was.
  using GiveUp = std::function<void(const Status &, std::optional<int>)>;

  /// Connects to all ranks, and blocks until all have connected, for at most
  /// `seconds`. `seconds` is also the first deadline of calls (setDeadline).
  /// All ranks return the error of the rank that found it: exit code 11 or 12
  /// if ranks do not belong together, 14 if a rank does not connect.
  static Status join(const JoinTerms &terms, double seconds, GiveUp giveUp,
                     std::shared_ptr<SocketRendezvous> &joined);
  /// Stops and joins the monitor.
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

  /// Waits until all ranks are connected. After an error, gives the other ranks
  /// time to learn of it.
  Status waitForAll(double seconds);
  /// Blocks until `isTrue` returns true, the run fails, or `seconds` have
  /// passed. Returns success in the first case only. A missed deadline ends the
  /// run, with the text of `missing`.
  Status await(double seconds, const std::function<bool()> &isTrue,
               const std::function<std::string()> &missing);
  /// Body of the monitor's thread.
  void monitor();
  /// Waits up to 0.1 s for events of the sockets, and handles them.
  void attend();
  /// Returns whether the rank's thread has been inside one library call for
  /// longer than the deadline, and ends the run if so. `passed` is the time
  /// since the last call, in seconds.
  bool isStuck(double passed);
  /// Wakes the monitor.
  void wake();

  const int rank;
  const GiveUp giveUp;
  /// An eventfd that wakes the monitor.
  OpenFile wakeUp;
  /// Longest time for one library call, in seconds.
  std::atomic<double> deadline;
  /// Whether `peers` has a verdict; read without the lock by poll().
  std::atomic<bool> hasEnded{false};
  /// Whether the monitor should stop.
  std::atomic<bool> isOver{false};

  /// Guards `peers`.
  mutable std::mutex mutex;
  /// Notified after each advance of `peers`.
  std::condition_variable changed;
  const std::unique_ptr<Peers> peers;

  /// Value of WatchedCalls::begun when the monitor last looked.
  uint64_t callsSeen = 0;
  /// Time for which the rank has been inside the current library call.
  double secondsInside = 0;

  /// The monitor. Declared last: it uses the other members.
  std::thread thread;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_SOCKETRENDEZVOUS_H
