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

  /// Creates the object that manages the connections of rank `terms.self.rank`,
  /// and stores the object in `made`. The rank is not connected to other ranks
  /// yet; advance() makes the connections later. There are two cases:
  ///
  /// - Rank 0 begins to listen at `terms.address`. Returns an error with exit
  ///   code 12 if rank 0 cannot listen there.
  /// - Any other rank finds the IP addresses of the host in `terms.address`, if
  ///   this is a TCP address. Returns an error with exit code 12 if the host
  ///   does not exist. If the address is a Unix socket, returns an error with
  ///   exit code 12 if its name is too long.
  static Status open(const JoinTerms &terms, std::unique_ptr<Peers> &made);

  virtual ~Peers() = default;
  Peers(const Peers &) = delete;
  Peers &operator=(const Peers &) = delete;

  /// Returns a file descriptor. The descriptor is readable if an event on a
  /// connection waits: for example, a message has arrived. The caller must then
  /// call advance(), which processes the event.
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
  /// Returns whether rank 0 has sent the error of the run to all other ranks.
  /// Must be called only after the run has failed.
  ///
  /// - On rank 0, returns true if every other rank has connected to rank 0. If
  ///   a rank was connected when the run failed, rank 0 has sent the error to
  ///   this rank at that time. If a rank connects later, rank 0 sends the error
  ///   to this rank at once.
  /// - On any other rank, always returns true, because only rank 0 sends the
  ///   error to all other ranks.
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
  /// Sends the message `frame`. There are two cases:
  ///
  /// - On rank 0, sends the message to all ranks that are connected to rank 0.
  /// - On any other rank, sends the message to rank 0. Does nothing if rank 0
  ///   has not yet sent a Welcome message to this rank. A Welcome message means
  ///   that rank 0 accepts this rank as a rank of the job.
  virtual void tell(const Frame &frame) = 0;

  /// Ends the run with the error `why`. Does nothing if the run has already
  /// ended with another error. There are two cases:
  ///
  /// - On rank 0, sends the error to all ranks that are connected to rank 0.
  /// - On any other rank, sends the error to rank 0. Sends nothing if rank 0
  ///   has not yet sent a Welcome message to this rank. A Welcome message means
  ///   that rank 0 accepts this rank as a rank of the job.
  ///
  /// `lost` is the number of the rank whose failed connection is the reason for
  /// the error. `lost` is std::nullopt if the error has another reason.
  void end(const Status &why, std::optional<int> lost = {});

  /// Returns the error with which the run has failed. If the run has not
  /// failed, returns success.
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
  /// Returns the message that tells another rank with which error the run has
  /// ended. The kind of the message is FrameKind::Abort. The message contains
  /// the exit code and the text of the error, and the number of the lost rank.
  /// A rank is lost if its connection fails before the rank has announced its
  /// end. If no rank is lost, the message contains the number -1.
  Frame farewell() const;
  /// Returns the message with which rank 0 rejects another process that wants
  /// to join the job. The kind of the message is FrameKind::Refusal. `why` is
  /// the error with which the other process ends. The message contains the exit
  /// code and the text of `why`.
  static Frame refusal(const Status &why);
  /// Returns the error that the received message `frame` contains. If the kind
  /// of the message is FrameKind::Abort, the run has ended with this error. If
  /// the kind is FrameKind::Refusal, rank 0 has rejected this rank because of
  /// this error.
  ///
  /// The message can also contain the number of a lost rank. The function
  /// stores this number in `lost`. If the message contains no such number, the
  /// function does not change `lost`. A rank is lost if its connection fails
  /// before the rank has announced its end, for example because the process of
  /// the rank has crashed.
  static Status reasonIn(const Frame &frame, std::optional<int> &lost);

  const JoinTerms terms;

private:
  Status ended;
  std::optional<int> lostRank;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_PEERS_H
