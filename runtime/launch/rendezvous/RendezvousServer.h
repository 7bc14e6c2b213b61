//===- RendezvousServer.h - connections of rank 0 to other ranks ----------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSSERVER_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSSERVER_H

#include "runtime/launch/rendezvous/EventQueue.h"
#include "runtime/launch/rendezvous/Peers.h"
#include "runtime/launch/rendezvous/UnknownPeers.h"

#include <deque>

namespace pcc::runtime {

/// Rank 0's connections to all other ranks. Admits a rank if it proves that it
/// belongs to the job:
///
///   rank 0              Answer ─>                      Welcome ─>   Ready ─>
///   rank r   Knock ─>             Hello (encrypted) ─>              (all here)
///
/// A connection that does not complete this handshake in time is closed.
class RendezvousServer final : public Peers {
public:
  /// Raises the process's limit on open files, because rank 0 has one socket
  /// per rank.
  explicit RendezvousServer(const JoinTerms &terms);
  /// Deletes the file of the Unix socket, if there is one.
  ~RendezvousServer() override;

  /// Begins to listen at the job's address. Exit code 12 if rank 0 cannot
  /// listen there.
  Status listen();

  int fd() const override { return events.fd(); }
  void advance() override;
  bool isReady() const override { return ready; }
  std::string missing() const override;
  bool haveAllHeard() const override;
  bool haveAllLeft() const override;
  bool take(std::vector<std::string> &messages) override;
  void tell(const Frame &frame) override;

private:
  /// A rank of the job. `facts` and `connection` are valid once the rank has
  /// been admitted (`hasCome`).
  struct Peer {
    Connection connection = {};
    RankFacts facts = {};
    std::deque<std::string> messages = {};
    /// `hasCome`: whether the rank was admitted. `hasLeft`: whether the rank
    /// has sent Leave or Abort.
    bool hasCome = false, hasLeft = false;
  };

  /// Accepts connections that wait at the listening socket.
  void accept();
  /// Continues the handshake of connection `id`, which has become readable.
  void greet(uint64_t id);
  /// Reads the Knock (first message) of a new connection. If its proof is
  /// right, sends the Answer.
  void readKnock(uint64_t id, UnknownPeer &stranger);
  /// Reads the Hello (first encrypted frame) of a connection. Admits the rank
  /// if the frame can be decrypted.
  void readHello(uint64_t id, UnknownPeer &stranger);
  /// Makes `connection`, whose peer knows the job token, the connection of rank
  /// `facts.rank`. If `facts` do not fit the job, ends the run. After the last
  /// rank, sends Ready to all ranks.
  void admit(Connection connection, const RankFacts &facts);
  /// Closes connection `id` without an answer, and records the reason `why` for
  /// missing().
  void reject(uint64_t id, const std::string &why);
  /// Reads all frames that an admitted rank has sent, and processes them.
  void readFrom(Peer &peer);
  /// Processes one frame of an admitted rank.
  void hear(Peer &peer, const Frame &frame);
  /// Processes the end of an admitted rank's connection. Ends the run, unless
  /// the rank has sent Leave or Abort. `how` describes the end for the error
  /// message.
  void lose(Peer &peer, const std::string &how);
  /// Deletes the file of the Unix socket, if there is one.
  void removeFile();

  /// Files that can be read. Event numbers: 0 for the listening socket, the
  /// rank for its connection, a number of `unknownPeers` for any other
  /// connection.
  EventQueue events;
  /// The listening socket, and where it listens.
  OpenFile listener;
  Address place;
  UnknownPeers unknownPeers;
  /// All ranks by index; entry 0, this rank itself, is unused.
  std::vector<Peer> peers;
  /// Number of ranks that have been admitted.
  int numCome = 0;
  bool ready = false;
  /// Whether the listening socket has a file that must be deleted.
  bool hasFile = false;
  /// Number of connections that were rejected, for messages.
  int numRejected = 0;
  /// Reason why the last rejected connection was closed, for messages.
  std::string lastRejection;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSSERVER_H
