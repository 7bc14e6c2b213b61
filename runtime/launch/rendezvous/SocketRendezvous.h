//===- SocketRendezvous.h - the ranks of a job meet and watch each other --===//

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

/// A rendezvous over sockets that stay open while the ranks run. A thread
/// attends to them, the monitor, which calls neither CUDA nor NCCL nor MPI, and
/// so goes on when the rank's own thread does not:
///
///   a peer's process ends      rank 0 sees its socket close ── tells all
///   a rank fails               abort() ── rank 0 ── tells all
///   a call does not return     the monitor sees it ── rank 0 ── tells all
///
///   all:  poll() fails, so waits end, and the rank leaves by itself
///         it does not leave within kGrace: the monitor calls `giveUp`
class SocketRendezvous final : public Rendezvous {
public:
  /// From the end of a run until a rank that has not left is ended. NCCL gets
  /// two seconds of it to end its communicators.
  static constexpr std::chrono::milliseconds kGrace{2500};

  /// Called on the monitor's thread, with why the run has ended and the rank
  /// that was lost, if that is why; ends the process.
  using GiveUp = std::function<void(const Status &, std::optional<int>)>;

  /// Returns when all ranks are there, which may take `seconds`; the deadline
  /// is `seconds`, too. An error is that of the rank that found it, on all
  /// ranks: exit code 11 or 12 if ranks do not belong together, 14 if one does
  /// not come.
  static Status join(const JoinTerms &terms, double seconds, GiveUp giveUp,
                     std::shared_ptr<SocketRendezvous> &joined);
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
  SocketRendezvous(std::unique_ptr<Peers> peers, int rank, double seconds,
                   GiveUp giveUp);

  Status waitForAll(double seconds);
  /// Waits until `isTrue`, the run's end or the deadline; success only if it
  /// is.
  Status await(double seconds, const std::function<bool()> &isTrue,
               const std::function<std::string()> &missing);
  void monitor();
  void attend();
  bool isStuck(double passed);
  void wake();

  const int rank;
  const GiveUp giveUp;
  OpenFile wakeUp; ///< an event for the monitor
  std::atomic<double> deadline;
  std::atomic<bool> hasEnded{false}; ///< the peers has a verdict
  std::atomic<bool> isOver{false};   ///< the monitor is not needed any more

  mutable std::mutex mutex; ///< of the peers
  std::condition_variable changed;
  const std::unique_ptr<Peers> peers;

  // The monitor's own.
  uint64_t callsSeen = 0;
  double secondsInside = 0;

  std::thread thread; ///< last: it uses the others
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_SOCKETRENDEZVOUS_H
