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
  /// Opens or accepts connections, reads the messages that have arrived, and
  /// sends the replies. Returns without blocking. The caller must call
  /// advance() when fd() is readable. The caller must also call advance() about
  /// every 10 ms until all ranks have connected, and about every 100 ms after
  /// that. Some actions depend only on time: for example, advance() repeats
  /// failed connection attempts.
  virtual void advance() = 0;

  /// Returns whether all ranks have connected.
  virtual bool isReady() const = 0;
  /// Returns a text about the ranks that have not connected yet, such as "ranks
  /// 2 and 3 did not come to tcp://…".
  virtual std::string missing() const = 0;
  /// Returns whether rank 0 has sent the verdict to all other ranks. The
  /// verdict is the first error of the run. If a rank connects after the error,
  /// rank 0 sends the verdict to this rank at that time. On ranks other than 0,
  /// always returns true. The result has no meaning if the run has no verdict.
  virtual bool haveAllHeard() const = 0;
  /// Returns whether all peers of this rank have left the job.
  ///
  /// - On rank 0, the peers are all other ranks. A peer has left if it has sent
  ///   a Leave or Abort message to rank 0, or if its connection was closed.
  /// - On any other rank, the only peer is rank 0. Rank 0 has left if this rank
  ///   has no open connection to rank 0.
  virtual bool haveAllLeft() const = 0;
  /// Takes data that other ranks have sent to this rank in Data messages. Each
  /// Data message waits in a queue until take() removes it.
  ///
  /// - On rank 0, there is one queue for each other rank. If no queue is empty,
  ///   take() removes the oldest message of each queue. Otherwise, take()
  ///   removes no message and returns false.
  /// - On any other rank, there is one queue, because the rank receives
  ///   messages only from rank 0. take() removes the oldest message. If the
  ///   queue is empty, take() returns false.
  ///
  /// Appends the contents of the removed messages to `messages`. On rank 0, the
  /// order is the order of the ranks.
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
  /// Returns the rank that was lost, if this loss is the error that has ended
  /// the run. Otherwise, returns std::nullopt. A rank is lost if its connection
  /// fails before the rank has announced its end, for example because the
  /// process of the rank has crashed.
  std::optional<int> lost() const { return lostRank; }

protected:
  /// Copies `terms`.
  explicit Peers(const JoinTerms &terms) : terms(terms) {}

  /// Makes the error `why` the verdict of the run. The verdict is the first
  /// error of the run, so conclude() does nothing if the run has a verdict
  /// already. Does not send the verdict to other ranks.
  ///
  /// `lost` is the rank whose failed connection is the reason for the error.
  /// `lost` is std::nullopt if the error has another reason.
  void conclude(const Status &why, std::optional<int> lost);
  /// Returns the Abort frame that carries the verdict (first error) of the run.
  Frame farewell() const;
  /// Returns the Refusal frame that carries the error `why`.
  static Frame refusal(const Status &why);
  /// Returns the error that `frame` describes. The kind of `frame` is Abort or
  /// Refusal. If `frame` contains the number of a lost rank, sets `lost` to
  /// this number. Otherwise, does not change `lost`. A rank is lost if its
  /// connection fails before the rank has announced its end, for example
  /// because the process of the rank has crashed.
  static Status reasonIn(const Frame &frame, std::optional<int> &lost);

  const JoinTerms terms;

private:
  Status ended;
  std::optional<int> lostRank;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_PEERS_H
