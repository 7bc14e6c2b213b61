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

/// Data with which a rank joins its job: the address of rank 0, the secret
/// token of the job, and facts about the rank.
struct JoinTerms {
  Address address;
  JobToken token;
  RankFacts self;
};

/// Connections of one rank, as a state machine without threads. Rank 0 is
/// connected to all other ranks. Any other rank is connected only to rank 0.
/// The first error becomes the verdict of the run; later errors are ignored.
class Peers {
public:
  using Clock = std::chrono::steady_clock;

  /// Creates the connections of rank `terms.self.rank`. Rank 0 begins to
  /// listen. Any other rank only resolves the address of rank 0; advance()
  /// connects it later. Exit code 12 if rank 0 cannot listen, or if the host in
  /// its address does not exist.
  static Status open(const JoinTerms &terms, std::unique_ptr<Peers> &made);

  virtual ~Peers() = default;
  Peers(const Peers &) = delete;
  Peers &operator=(const Peers &) = delete;

  /// Returns a file descriptor that is readable when advance() has work to do.
  virtual int fd() const = 0;
  /// Accepts or opens connections, reads and answers messages, without
  /// blocking. Must be called regularly, even without events.
  virtual void advance() = 0;

  /// Returns whether all ranks have connected.
  virtual bool isReady() const = 0;
  /// Returns a text about the ranks that have not connected yet, such as "ranks
  /// 2 and 3 did not come to tcp://…".
  virtual std::string missing() const = 0;
  /// Returns whether all ranks have been sent the verdict (first error of the
  /// run), including ranks that connect late. Always true on ranks other than
  /// 0. Meaningful only after an error.
  virtual bool haveAllHeard() const = 0;
  /// Returns whether all peers have left. The peers of rank 0 are all other
  /// ranks. The only peer of any other rank is rank 0. A peer has left if its
  /// connection is closed, or if it has sent a Leave or Abort frame to rank 0.
  virtual bool haveAllLeft() const = 0;
  /// Takes the oldest Data message of each peer, and appends them to `messages`
  /// in rank order. The peers of rank 0 are all other ranks. The only peer of
  /// any other rank is rank 0. If a peer has sent no message, takes nothing and
  /// returns false.
  virtual bool take(std::vector<std::string> &messages) = 0;
  /// Sends `frame` to all other ranks if this rank is rank 0, otherwise to rank
  /// 0.
  virtual void tell(const Frame &frame) = 0;

  /// Makes the error `why` the verdict (first error) of the run, and sends it
  /// to all connected ranks. Does nothing if the run has a verdict already.
  /// `lost` is the rank whose process ended without a message; std::nullopt if
  /// there is none.
  void end(const Status &why, std::optional<int> lost = {});

  /// Returns the error with which the run has failed; success while it has not.
  const Status &verdict() const { return ended; }
  /// Returns the rank whose process ended without a message and so ended the
  /// run; std::nullopt if there is none.
  std::optional<int> lost() const { return lostRank; }

protected:
  /// Copies `terms`.
  explicit Peers(const JoinTerms &terms) : terms(terms) {}

  /// Makes `why` the verdict (first error) of the run, without sending it.
  /// `lost` is the rank whose process ended without a message; std::nullopt if
  /// there is none.
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
