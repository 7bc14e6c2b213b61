//===- Peers.h - one end of the connections between ranks -----------------===//
//
// Rank 0 has one connection to every other rank. Other ranks have no
// connections between each other, so rank 0 relays what they send:
//
//      rank 1 ──┐
//      rank 2 ──┼── rank 0      RendezvousServer: the end of rank 0
//      rank 3 ──┘               RendezvousClient: the end of any other rank
//
// No function here blocks, except for name resolution in open(). The owner of a
// Peers object polls the descriptor fd(), then calls advance().
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_PEERS_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_PEERS_H

#include "runtime/launch/rendezvous/Frame.h"
#include "runtime/launch/rendezvous/JobToken.h"
#include "runtime/launch/rendezvous/RankFacts.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Data with which a rank joins its job: the address at which rank 0 listens,
/// the token that proves that the rank belongs to the job, and facts about the
/// rank.
struct JoinTerms {
  Address address;
  JobToken token;
  RankFacts self;
};

/// One end of the connections between rank 0 and all other ranks, as a state
/// machine without threads. For rank 0, "the other side" is all other ranks.
/// For any other rank, "the other side" is rank 0. The first error becomes the
/// verdict of the run; later errors are ignored.
class Peers {
public:
  using Clock = std::chrono::steady_clock;

  /// Creates the object for rank `terms.self.rank`. Rank 0 starts to listen for
  /// connections. Other ranks only resolve the address of rank 0; they connect
  /// later, in advance(). Exit code 12 if rank 0 cannot listen, or if the host
  /// does not exist.
  static Status open(const JoinTerms &terms, std::unique_ptr<Peers> &made);

  virtual ~Peers() = default;
  Peers(const Peers &) = delete;
  Peers &operator=(const Peers &) = delete;

  /// Returns a file descriptor that is readable when advance() has work to do.
  virtual int fd() const = 0;
  /// Processes all events without blocking: accepts or opens connections, reads
  /// and answers messages. Must also be called when time has passed.
  virtual void advance() = 0;

  /// Returns whether all ranks have connected.
  virtual bool isReady() const = 0;
  /// Returns a description of the ranks that this end still waits for, for
  /// error messages: "ranks 2 and 3 did not come to tcp://…".
  virtual std::string missing() const = 0;
  /// Returns whether every rank on the other side has been sent the verdict
  /// (first error of the run). On rank 0, this includes ranks that have not
  /// connected yet. On other ranks, always true. Meaningful only after an
  /// error.
  virtual bool haveAllHeard() const = 0;
  /// Returns whether every rank on the other side has left. A rank has left if
  /// it has sent a Leave frame, or if its connection is closed.
  virtual bool haveAllLeft() const = 0;
  /// Takes one Data message from each rank on the other side, the oldest one,
  /// and appends the contents to `messages` in rank order. Returns true if all
  /// ranks had a message. Otherwise takes nothing and returns false.
  virtual bool take(std::vector<std::string> &messages) = 0;
  /// Sends `frame` to all other ranks if this rank is rank 0, otherwise to rank
  /// 0.
  virtual void tell(const Frame &frame) = 0;

  /// Makes the error `why` the verdict (first error) of the run, and sends it
  /// to every rank to which this rank is connected. Does nothing if the run has
  /// a verdict already. If `why` reports a rank whose process ended without a
  /// message, `lost` is that rank.
  void end(const Status &why, std::optional<int> lost = {});

  /// Returns the error with which the run has failed; success while it has not.
  const Status &verdict() const { return ended; }
  /// If the run has failed because a rank's process ended without a message,
  /// returns that rank. Otherwise returns std::nullopt.
  std::optional<int> lost() const { return lostRank; }

protected:
  /// Copies `terms`.
  explicit Peers(const JoinTerms &terms) : terms(terms) {}

  /// Makes `why` the verdict (first error) of the run, without sending it.
  /// `lost` is the rank whose process was lost, if one was.
  void conclude(const Status &why, std::optional<int> lost);
  /// Returns the Abort frame that carries the verdict (first error) of the run.
  Frame farewell() const;
  /// Returns the Refusal frame that carries the error `why`.
  static Frame refusal(const Status &why);
  /// Returns the error that the payload of an Abort or Refusal frame describes.
  /// Sets `lost` if the frame names a rank whose process was lost.
  static Status reasonIn(const Frame &frame, std::optional<int> &lost);

  const JoinTerms terms;

private:
  Status ended;
  std::optional<int> lostRank;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_PEERS_H
