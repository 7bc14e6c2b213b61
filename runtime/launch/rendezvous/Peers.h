//===- Peers.h - one end of the connections between ranks -----------------===//
//
// Every rank is connected to rank 0, which tells all what one of them says:
//
//        rank 1 ──┐
//        rank 2 ──┼── rank 0      RendezvousServer: rank 0's end; RendezvousClient: that of another
//        rank 3 ──┘
//
// Nothing here blocks: somebody waits until something has arrived, or some
// time has passed, and then lets the peers take its advance.
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

/// Where a rank meets the others, and as whom.
struct JoinTerms {
  Address address;
  JobToken token;
  RankFacts self;
};

class Peers {
public:
  using Clock = std::chrono::steady_clock;

  /// Rank 0 listens then; exit code 12 if it cannot, or if there is no such
  /// host.
  static Status open(const JoinTerms &terms, std::unique_ptr<Peers> &made);

  virtual ~Peers() = default;
  Peers(const Peers &) = delete;
  Peers &operator=(const Peers &) = delete;

  /// Adds what to wait for.
  virtual void watch(std::vector<pollfd> &watched) const = 0;
  /// Goes on as far as it can; `watched` is what watch() has added, with what
  /// has come of it.
  virtual void advance(std::span<const pollfd> watched) = 0;

  /// Whether all ranks are there.
  virtual bool isReady() const = 0;
  /// What it still waits for, for messages: "ranks 2 and 3 did not come".
  virtual std::string missing() const = 0;
  /// Whether everybody on the other side has been told why the run has ended,
  /// if it has: who comes late, too.
  virtual bool haveAllHeard() const = 0;
  /// Whether everybody on the other side has left, in peace or not.
  virtual bool haveAllLeft() const = 0;
  /// Takes one message of everybody on the other side, by rank; false until
  /// all have come.
  virtual bool take(std::vector<std::string> &messages) = 0;
  /// Tells everybody on the other side.
  virtual void tell(const Frame &frame) = 0;

  /// Ends the run on all ranks, if nothing has yet. `lost`: the rank that has
  /// gone without a word.
  void end(const Status &why, std::optional<int> lost = {});

  /// Why the run has ended, if it has.
  const Status &verdict() const { return ended; }
  std::optional<int> lost() const { return lostRank; }

protected:
  explicit Peers(const JoinTerms &terms) : terms(terms) {}

  /// The same without telling others.
  void conclude(const Status &why, std::optional<int> lost);
  /// The frame that tells why the run has ended.
  Frame farewell() const;
  /// What such a frame, or a refusal, says.
  static Status reasonIn(const Frame &frame, std::optional<int> &lost);

  const JoinTerms terms;

private:
  Status ended;
  std::optional<int> lostRank;
};

/// How long a connection may take to say who it is.
inline constexpr std::chrono::seconds kHandshakeTimeout(5);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_PEERS_H
