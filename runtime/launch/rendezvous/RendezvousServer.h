//===- RendezvousServer.h - connections of rank 0 to other ranks ----------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSSERVER_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSSERVER_H

#include "runtime/launch/rendezvous/Peers.h"

#include <deque>

namespace pcc::runtime {

/// Rank 0's connections to all other ranks. Accepts connections, and admits a
/// rank if the rank proves that it belongs to the job:
///
///   rank 0   Challenge ─>            Welcome ─>   Ready ─> (all admitted)
///   rank r                 <─ Hello
///
/// A connection that does not complete this handshake within kHandshakeTimeout
/// is closed, and does not affect the job.
class RendezvousServer final : public Peers {
public:
  /// Raises the process's limit on open files, because rank 0 has one socket
  /// per rank.
  explicit RendezvousServer(const JoinTerms &terms);
  /// Deletes the file of the Unix socket, if there is one.
  ~RendezvousServer() override;

  /// Begins to listen at the job's address. Exit code 12 if the address is in
  /// use, or is not an address of this host.
  Status listen();

  void watch(std::vector<pollfd> &watched) const override;
  void advance(std::span<const pollfd> watched) override;
  bool isReady() const override { return ready; }
  std::string missing() const override;
  bool haveAllHeard() const override;
  bool haveAllLeft() const override;
  bool take(std::vector<std::string> &messages) override;
  void tell(const Frame &frame) override;

private:
  /// A connection whose handshake is not complete.
  struct UnknownPeer {
    Connection connection;
    std::string challenge;
    Clock::time_point since;
  };
  /// A rank of the job. `facts` and `connection` are valid once the rank has
  /// been admitted (`hasCome`).
  struct Peer {
    Connection connection = {};
    RankFacts facts = {};
    std::deque<std::string> messages = {};
    /// `hasCome`: whether the rank was admitted. `hasLeft`: whether it has sent
    /// Leave or Abort.
    bool hasCome = false, hasLeft = false;
  };
  /// Largest number of concurrent handshakes. Further connections wait in the
  /// kernel's queue, so that the memory of this process is bounded.
  static constexpr size_t kMostUnknownPeers = 256;

  /// Accepts the connections that wait at the listening socket, and sends a
  /// Challenge frame to each.
  void accept();
  /// Continues the handshake of the new connection `stranger`. Reads received
  /// bytes if `isReadable`, and processes a complete frame. Closes the
  /// connection if the peer misbehaves or exceeds kHandshakeTimeout.
  void greet(UnknownPeer &stranger, bool isReadable);
  /// Verifies the proof (HMAC of the job token) in the Hello frame `frame`. If
  /// the proof is right, sends rank 0's own proof; otherwise closes the
  /// connection.
  void answer(UnknownPeer &stranger, const Frame &frame);
  /// Admits the rank `facts.rank`: stores `stranger` as the rank's connection.
  /// The peer must have proved that it knows the job token. After the last rank
  /// was admitted, sends a Ready frame to all ranks.
  ///
  /// If `facts` do not fit the job, ends the run. If all ranks are connected
  /// already, only refuses the peer.
  void admit(UnknownPeer &stranger, const RankFacts &facts);
  /// Sends the error `why` to a connection in a Refusal frame, then closes the
  /// connection.
  void refuse(UnknownPeer &stranger, const Status &why);
  /// Closes a connection without an answer. Increments `numRejected`, and
  /// stores the reason `why`; missing() puts both into its message.
  void reject(UnknownPeer &stranger, const std::string &why);
  /// Reads all frames that an admitted rank has sent, and processes them.
  void readFrom(Peer &peer);
  /// Processes one frame of an admitted rank.
  void hear(Peer &peer, const Frame &frame);
  /// Processes the end of the connection of an admitted rank. If the rank has
  /// not sent Leave or Abort, ends the run because the rank was lost. `how`
  /// describes the end for the error message.
  void lose(Peer &peer, const std::string &how);
  /// Deletes the file of the Unix socket, if there is one.
  void removeFile();

  /// The listening socket.
  OpenFile listener;
  std::vector<UnknownPeer> unknownPeers;
  /// All ranks by index; entry 0, this rank itself, is unused.
  std::vector<Peer> peers;
  /// Number of ranks that have been admitted.
  int numCome = 0;
  bool ready = false;
  /// Whether the listening socket has a file in the file system, which must be
  /// deleted.
  bool hasFile = false;
  /// Number of connections that were closed because they did not belong to the
  /// job; missing() reports it.
  int numRejected = 0;
  /// Reason why the last rejected connection was closed; missing() puts it into
  /// its message.
  std::string lastRejection;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSSERVER_H
