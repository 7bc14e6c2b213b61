//===- Peers.h - one end of the connections between ranks -----------------===//
//
// Every other rank has one connection, to rank 0, which relays what a rank
// reports:
//
//      rank 1 ──┐
//      rank 2 ──┼── rank 0      RendezvousServer: the end of rank 0
//      rank 3 ──┘               RendezvousClient: the end of any other rank
//
// No function here blocks, except for name resolution in open(). The owner
// polls the files that watch() names, then calls advance().
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_PEERS_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_PEERS_H

#include "runtime/launch/rendezvous/JobToken.h"
#include "runtime/launch/rendezvous/RankFacts.h"
#include "runtime/launch/rendezvous/Socket.h"

#include <chrono>
#include <memory>
#include <optional>
#include <poll.h>
#include <span>
#include <string>
#include <vector>

namespace pcc::runtime {

/// The terms on which a rank joins its job: the meeting address, the token that
/// proves that it belongs to the job, and facts about itself.
struct JoinTerms {
  Address address;
  JobToken token;
  RankFacts self;
};

/// One end of the connections, as a state machine without threads. "The other
/// side" is rank 0 for any other rank, and all other ranks for rank 0. The
/// first error becomes the verdict of the run; later errors are ignored.
class Peers {
public:
  using Clock = std::chrono::steady_clock;

  /// Creates the end that belongs to `terms.self.rank`. Rank 0 starts to
  /// listen; other ranks resolve the address and connect later, in advance().
  /// Exit code 12 if rank 0 cannot listen, or if the host does not exist.
  static Status open(const JoinTerms &terms, std::unique_ptr<Peers> &made);

  virtual ~Peers() = default;
  Peers(const Peers &) = delete;
  Peers &operator=(const Peers &) = delete;

  /// Appends the files and events to poll. Entries with file -1 are
  /// placeholders.
  virtual void watch(std::vector<pollfd> &watched) const = 0;
  /// Handles all events without blocking. `watched` has the entries that
  /// watch() appended, with the results of poll().
  virtual void advance(std::span<const pollfd> watched) = 0;

  /// Returns whether all ranks have connected.
  virtual bool isReady() const = 0;
  /// Returns what this end still waits for, for error messages: "ranks 2 and 3
  /// did not come to tcp://…".
  virtual std::string missing() const = 0;
  /// Returns whether the other side has been sent the verdict, including ranks
  /// that connect after the run has failed. Meaningful only after an error.
  virtual bool haveAllHeard() const = 0;
  /// Returns whether the other side has left, regularly or by losing its
  /// connection.
  virtual bool haveAllLeft() const = 0;
  /// Appends one Data message of each rank on the other side, in rank order,
  /// and returns true. Returns false, and takes nothing, until all have
  /// arrived.
  virtual bool take(std::vector<std::string> &messages) = 0;
  /// Sends a frame to everyone on the other side.
  virtual void tell(const Frame &frame) = 0;

  /// Sets the verdict of the run, and sends it to the other side, unless the
  /// run has a verdict already. `lost` is the rank that ended without a
  /// message, if any.
  void end(const Status &why, std::optional<int> lost = {});

  /// Returns why the run has failed; success while it has not.
  const Status &verdict() const { return ended; }
  /// Returns the rank whose loss is the verdict, if any.
  std::optional<int> lost() const { return lostRank; }

protected:
  /// Copies `terms`.
  explicit Peers(const JoinTerms &terms) : terms(terms) {}

  /// Sets the verdict without sending it.
  void conclude(const Status &why, std::optional<int> lost);
  /// Returns the Abort frame that carries the verdict.
  Frame farewell() const;
  /// Returns the error that an Abort or Refusal frame carries. Sets `lost` if
  /// the frame names a lost rank.
  static Status reasonIn(const Frame &frame, std::optional<int> &lost);

  const JoinTerms terms;

private:
  Status ended;
  std::optional<int> lostRank;
};

/// Longest time from connecting to the end of the handshake.
inline constexpr std::chrono::seconds kHandshakeTimeout(5);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_PEERS_H
