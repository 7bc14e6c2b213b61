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

/// A channel of sockets between the ranks of a run. Rank 0 has one connection
/// to every other rank. A thread of each rank, the monitor, reads the sockets.
/// The monitor never calls CUDA, NCCL or MPI, so a hanging call does not block
/// the monitor. The error of one rank reaches all ranks:
///
///   its process ends        its socket to rank 0 closes ─┐
///   it calls abort()        abort() informs rank 0 ──────┼─ rank 0 sends the
///   a call of CUDA or NCCL  its monitor informs rank 0 ──┘  error to all ranks
///   does not return
///
/// poll() then returns the error. If a rank does not stop within 2.5 s
/// (kGrace), its monitor calls `giveUp`, which ends the process. On the rank
/// with the hanging call, the monitor calls `giveUp` at once. If the process of
/// rank 0 ends, the other ranks see their connections close.
class SocketRendezvous final : public Rendezvous {
public:
  /// Time limit that begins when this rank learns that the run has failed.
  /// Within this time, the rank must call leave() or destroy this object.
  /// Otherwise, the process of the rank is ended. The rank needs up to two of
  /// the 2.5 seconds to abort its NCCL communicators.
  static constexpr std::chrono::milliseconds kGrace{2500};

  /// Function that ends the process of this rank. The first argument is the
  /// error with which the run has failed. The second argument is the number of
  /// the lost rank, if the loss of a rank is the reason for the error;
  /// otherwise std::nullopt. A rank is lost if its process ends too early:
  /// before the rank has finished its work, and before the rank has sent an
  /// error to another rank. The thread that reads the sockets calls this
  /// function. The thread that runs the rank may hang at that time.
  using GiveUp = std::function<void(const Status &, std::optional<int>)>;

  /// Connects this rank to the other ranks, and stores the channel in `joined`.
  /// Blocks for about `seconds` at most. A thread calls `giveUp`, which ends
  /// the process, if a call of CUDA or NCCL takes longer than `seconds` (see
  /// setDeadline()). The thread also calls `giveUp` if the rank does not stop
  /// within 2.5 s (kGrace) after the run has failed. Returns exit code 11 if
  /// two ranks have different bundles. Returns 14 if a rank is late or its
  /// process has ended. Returns 12 if world sizes differ, if a rank is out of
  /// range or exists twice, or if rank 0 cannot listen.
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

  /// Blocks until all ranks are connected, or until the run fails. Rank 0 waits
  /// for `seconds` at most. Every other rank waits for `seconds` + 2 at most.
  /// If a rank is not connected after this time, ends the run with an error.
  /// Returns the error of the run, if there is one.
  ///
  /// After an error, rank 0 waits for up to one more second (kLateness). In
  /// this time, ranks that connect late receive the error from rank 0.
  Status waitForAll(double seconds);
  /// Blocks until one of these events:
  ///
  /// - `isTrue` returns true: returns success.
  /// - The run fails: returns the error of the run.
  /// - `seconds` have passed: ends the run with an error, and returns this
  ///   error. The message of the error ends with the text that `missing`
  ///   returns, as in "rank 0 waited 60 s: not every rank has finished".
  Status await(double seconds, const std::function<bool()> &isTrue,
               const std::function<std::string()> &missing);
  /// Body of the monitor's thread. Reads the sockets until this rank has left
  /// the run (leave()), or until the object is destroyed.
  void monitor();
  /// Waits up to 0.1 s for events on the sockets, and processes them.
  void attend();
  /// Returns whether the rank has been inside one call of CUDA or NCCL for more
  /// than `deadline` seconds. If so, ends the run with an error. `deadline` is
  /// a member of this class. `passed` is the time in seconds since the last
  /// call of isStuck().
  bool isStuck(double passed);
  /// Wakes the monitor.
  void wake();

  const int rank;
  const GiveUp giveUp;
  /// An eventfd that wakes the monitor. The monitor is the thread that reads
  /// the sockets; it waits until a message arrives. The destructor of this
  /// object calls wake(), which writes to the eventfd. The monitor then stops
  /// waiting, and ends.
  OpenFile wakeUp;
  /// Longest time, in seconds, that the rank may be inside one call of CUDA or
  /// NCCL.
  std::atomic<double> deadline;
  /// Whether the run has failed, because of an error on this rank or on another
  /// rank. SocketRendezvous::poll() reads this flag first. If the flag is
  /// false, SocketRendezvous::poll() returns success without locking `mutex`.
  std::atomic<bool> hasEnded{false};
  /// Whether the thread that reads the sockets should end. This thread is the
  /// member `thread`. leave() and the destructor set this flag to true.
  std::atomic<bool> isOver{false};

  /// Guards `peers`.
  mutable std::mutex mutex;
  /// Wakes threads that wait for a change of `peers`. For example, waitForAll()
  /// waits until all ranks are connected. The monitor is the thread that reads
  /// the sockets. Each time the monitor has read the sockets and updated
  /// `peers`, the monitor notifies `changed`.
  std::condition_variable changed;
  const std::unique_ptr<Peers> peers;

  /// Number of begun CUDA and NCCL calls (WatchedCalls::begun) at the last call
  /// of isStuck().
  uint64_t callsSeen = 0;
  /// Time in seconds for which the rank has been inside the current call of
  /// CUDA or NCCL.
  double secondsInside = 0;

  /// The thread that executes monitor(), which reads the sockets. The thread
  /// starts when the constructor initializes this member. The thread uses the
  /// other members, so they must be initialized before. C++ initializes members
  /// in the order of their declarations, so this member is declared last.
  std::thread thread;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_SOCKETRENDEZVOUS_H
