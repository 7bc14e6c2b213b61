//===- SocketRendezvous.cpp - rendezvous with failure detection -----------===//

#include "runtime/launch/rendezvous/SocketRendezvous.h"
#include "runtime/base/WatchedCalls.h"
#include "status/Counted.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace pcc::runtime {

using Clock = Peers::Clock;

/// Time in seconds by which the other ranks wait longer than rank 0 at
/// start-up. For example, rank 0 waits 60 s until all ranks are connected, and
/// each other rank waits 62 s. If a rank is missing, rank 0 thus reports the
/// error first, and sends it to the other ranks. The error of rank 0 names the
/// missing rank. Other ranks do not know which rank is missing.
static constexpr double kHeadStart = 2;
/// Longest time, in seconds, for which rank 0 waits if the run fails before all
/// ranks have connected to rank 0. A rank that connects during this time
/// receives the error of the run from rank 0.
static constexpr double kLateness = 1;

static double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

static std::string inSeconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

SocketRendezvous::SocketRendezvous(std::unique_ptr<Peers> peers, int rank,
                                   double seconds, GiveUp giveUp)
    : rank(rank), giveUp(std::move(giveUp)),
      wakeUp(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), deadline(seconds),
      peers(std::move(peers)), thread([this] { monitor(); }) {}

SocketRendezvous::~SocketRendezvous() {
  isOver = true;
  wake();
  thread.join();
}

Status SocketRendezvous::join(const JoinTerms &terms, double seconds,
                              GiveUp giveUp,
                              std::shared_ptr<SocketRendezvous> &joined) {
  std::unique_ptr<Peers> peers;
  PCC_RETURN_IF_ERROR(Peers::open(terms, peers));
  joined.reset(new SocketRendezvous(std::move(peers), terms.self.rank, seconds,
                                    std::move(giveUp)));
  return joined->waitForAll(seconds);
}

Status SocketRendezvous::waitForAll(double seconds) {
  Status status = await(
      seconds + (rank == 0 ? 0 : kHeadStart),
      [this] { return peers->isReady(); }, [this] { return peers->missing(); });
  if (status.failed()) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::duration<double>(kLateness),
                     [this] { return peers->haveAllHeard(); });
  }
  return status;
}

Status SocketRendezvous::await(double seconds,
                               const std::function<bool()> &isTrue,
                               const std::function<std::string()> &missing) {
  std::unique_lock lock(mutex);
  const bool isInTime =
      changed.wait_for(lock, std::chrono::duration<double>(seconds),
                       [&] { return peers->verdict().failed() || isTrue(); });
  if (!isInTime)
    peers->end(Status::error(PeerLost, "rank " + std::to_string(rank) +
                                           " waited " + inSeconds(seconds) +
                                           ": " + missing()));
  return peers->verdict();
}

/// Sends one string of every rank to rank 0. `mine` is the string of this rank.
///
/// - On ranks other than 0, sends `mine` to rank 0, makes `all` empty, and
///   returns without blocking.
/// - On rank 0, blocks until the strings of all ranks have arrived, and stores
///   the strings in `all`. For example, all[3] is the string of rank 3. If a
///   string does not arrive within `seconds`, ends the run with an error.
Status SocketRendezvous::gather(const std::string &mine, double seconds,
                                std::vector<std::string> &all) {
  all.clear();
  if (rank != 0) {
    const std::lock_guard lock(mutex);
    peers->tell({FrameKind::Data, mine});
    return peers->verdict();
  }
  all.push_back(mine);
  return await(
      seconds, [&] { return peers->take(all); },
      [] { return "not every rank has reported its GPU"; });
}

/// Copies the bytes `data` from rank 0 to all other ranks. All ranks must pass
/// the same number of bytes.
///
/// - On rank 0, sends `data` to all other ranks and returns without blocking.
/// - On any other rank, blocks until the bytes of rank 0 have arrived, and
///   writes the bytes to `data`. If the bytes do not arrive within `seconds` +
///   2 (kHeadStart), ends the run with an error.
Status SocketRendezvous::broadcast(std::span<std::byte> data, double seconds) {
  if (rank == 0) {
    const std::lock_guard lock(mutex);
    peers->tell({FrameKind::Data,
                 {reinterpret_cast<const char *>(data.data()), data.size()}});
    return peers->verdict();
  }
  std::vector<std::string> messages;
  Status status = await(
      seconds + kHeadStart, [&] { return peers->take(messages); },
      [] { return "rank 0 did not answer"; });
  if (status.failed())
    return status;
  if (messages.front().size() != data.size())
    return Status::error(
        DamagedBundle,
        "rank 0 sent " + counted(messages.front().size(), "byte") + ", rank " +
            std::to_string(rank) + " expected " + std::to_string(data.size()));
  std::memcpy(data.data(), messages.front().data(), data.size());
  return status;
}

Status SocketRendezvous::poll() const {
  if (!hasEnded.load(std::memory_order_acquire))
    return Status::success();
  const std::lock_guard lock(mutex);
  return peers->verdict();
}

std::optional<int> SocketRendezvous::lost() const {
  const std::lock_guard lock(mutex);
  return peers->lost();
}

void SocketRendezvous::abort(const Status &why) {
  const std::lock_guard lock(mutex);
  peers->end(why, {});
}

/// Announces that this rank has finished its work. If the run has failed,
/// returns the error of the run.
///
/// - On ranks other than 0, sends a Leave message to rank 0 and returns without
///   blocking.
/// - On rank 0, blocks until every other rank has sent a Leave message or has
///   closed its connection. If this takes longer than the time limit
///   `deadline`, ends the run with an error.
///
/// Rank 0 blocks because all other ranks are connected only to rank 0. If rank
/// 1 fails, rank 2 gets the error from rank 0, so rank 0 must not end before
/// rank 2.
Status SocketRendezvous::leave() {
  if (rank != 0) {
    const std::lock_guard lock(mutex);
    peers->tell({FrameKind::Leave});
    isOver = true;
    return peers->verdict();
  }
  Status status = await(
      deadline, [this] { return peers->haveAllLeft(); },
      [] { return "not every rank has finished"; });
  isOver = true;
  return status;
}

//===----------------------------------------------------------------------===//
// The monitor
//===----------------------------------------------------------------------===//

void SocketRendezvous::wake() {
  const uint64_t one = 1;
  if (write(wakeUp.fd(), &one, sizeof one) < 0)
    return;
}

/// Reads the sockets until this rank has left the run (leave()), or until the
/// object is destroyed. Ends the process in two cases:
///
/// - A call of CUDA or NCCL takes longer than `deadline` seconds. `deadline` is
///   a member of this class, which setDeadline() sets.
/// - The run has failed, and after 2.5 seconds (kGrace) this rank has neither
///   left the run nor destroyed the object.
void SocketRendezvous::monitor() {
  std::optional<Clock::time_point> end;
  Clock::time_point last = Clock::now();
  while (!isOver) {
    attend();
    const double passed = secondsSince(std::exchange(last, Clock::now()));
    bool isTime = isStuck(passed);
    if (hasEnded && !end)
      end = Clock::now();
    isTime |= end && Clock::now() - *end > kGrace;
    if (isTime && !isOver) {
      giveUp(poll(), lost());
      return;
    }
  }
}

/// Waits until a message or a new connection arrives at a socket, or until
/// another thread calls wake(). Then calls Peers::advance(), which reads the
/// messages, accepts connections, and sends replies.
///
/// The wait ends after 100 ms at the latest. While some ranks are not connected
/// yet, the wait ends after 10 ms at the latest, because a rank may need
/// several attempts to connect to rank 0, and only Peers::advance() begins an
/// attempt.
///
/// Does not hold `mutex` during the wait, because other threads lock `mutex`,
/// for example to send a message.
void SocketRendezvous::attend() {
  bool isReady = false;
  {
    const std::lock_guard lock(mutex);
    isReady = peers->isReady();
  }
  pollfd watched[] = {{peers->fd(), POLLIN, 0}, {wakeUp.fd(), POLLIN, 0}};
  ::poll(watched, std::size(watched), isReady ? 100 : 10);
  const std::lock_guard lock(mutex);
  peers->advance();
  hasEnded.store(peers->verdict().failed(), std::memory_order_release);
  changed.notify_all();
}

/// Measures in `secondsInside` how long the rank has been inside its current
/// call of CUDA or NCCL. `passed` is the time in seconds since the last call of
/// isStuck().
///
/// - If the rank is still inside the call that it was inside at the last call
///   of isStuck(), adds `passed` to `secondsInside`, but at most 0.5. For
///   example, if the operating system stops the process for 60 s, only 0.5 s
///   are added.
/// - Otherwise, sets `secondsInside` to 0.
///
/// If `secondsInside` exceeds `deadline`, ends the run with an error and
/// returns true.
bool SocketRendezvous::isStuck(double passed) {
  constexpr double longest = 0.5;
  const uint64_t ended = watchedCalls.ended, begun = watchedCalls.begun;
  const bool isSame = begun != ended && begun == callsSeen;
  callsSeen = begun;
  secondsInside = isSame ? secondsInside + std::min(passed, longest) : 0;
  if (secondsInside <= deadline)
    return false;
  const std::lock_guard lock(mutex);
  peers->end(Status::error(PeerLost, "rank " + std::to_string(rank) +
                                         ": a call of the driver or of NCCL "
                                         "has not returned for " +
                                         inSeconds(secondsInside)));
  hasEnded = true;
  return true;
}

} // namespace pcc::runtime
