//===- RendezvousServer.h - connections of rank 0 to other ranks ----------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSSERVER_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSSERVER_H

#include "runtime/launch/rendezvous/EventQueue.h"
#include "runtime/launch/rendezvous/Peers.h"
#include "runtime/launch/rendezvous/UnknownPeers.h"

#include <deque>

namespace pcc::runtime {

/// The connections of rank 0 to all other ranks. Rank 0 admits another rank
/// after this handshake, in which time runs from left to right:
///
///   rank 0              Answer ─>                      Welcome ─>   Ready ─>
///   rank r   Knock ─>             Hello (encrypted) ─>
///
/// - Knock and Answer prove that their senders know the secret of the job.
/// - Hello contains the identity of rank r, such as its rank and its bundle.
/// - Welcome tells rank r that rank 0 has admitted it.
/// - Ready tells every rank that rank 0 has admitted all ranks.
///
/// If Hello does not arrive within 5 seconds, rank 0 closes the connection.
class RendezvousServer final : public Peers {
public:
  /// Creates an object without connections; listen() opens the socket later.
  /// `terms` contains the address at which rank 0 listens, the secret of the
  /// job, and the number of ranks. Raises the limit on open files of this
  /// process to the hard limit, because each connection to another rank is an
  /// open file.
  explicit RendezvousServer(const JoinTerms &terms);
  /// Deletes the file of the Unix socket, if there is one.
  ~RendezvousServer() override;

  /// Begins to listen at the job's address. Returns an error with exit code 12
  /// if rank 0 cannot listen there.
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
  /// State of one other rank of the job. `connection` is the connection between
  /// rank 0 and this rank. `facts` is the identity that the rank has sent, such
  /// as its host name and its process id. Rank 0 sets `connection` and `facts`
  /// when it admits the rank. `messages` contains the data from the rank that
  /// take() has not removed yet.
  struct Peer {
    Connection connection = {};
    RankFacts facts = {};
    std::deque<std::string> messages = {};
    /// `hasCome` is true after rank 0 has admitted the rank. `hasLeft` is true
    /// after the rank has announced its end. A rank announces its end with a
    /// Leave message if it has finished its work, and with an Abort message if
    /// it has failed.
    ///
    /// A rank can connect for the first time after the run has failed. A rank
    /// can also make the run fail, because its identity does not fit the job.
    /// In both cases, rank 0 sends the error of the run to the rank, closes the
    /// new connection, and sets both flags to true. Rank 0 then does not wait
    /// for this rank.
    bool hasCome = false, hasLeft = false;
  };

  /// Accepts connections that wait at the listening socket.
  void accept();
  /// Continues the handshake of a connection. In the handshake, the peer proves
  /// that it knows the secret of the job, and sends its identity. The peer
  /// sends two messages: first Knock, then Hello. `id` is the number of the
  /// connection in `unknownPeers`. Reads the bytes that have arrived on the
  /// connection. If the next message of the peer is complete, processes the
  /// message. If the peer has closed the connection before the end of the
  /// handshake, removes the connection from `unknownPeers`.
  void greet(uint64_t id);
  /// Reads the Knock, the first message of a new connection. `id` is the number
  /// of the connection, and `stranger` is the connection. If the Knock proves
  /// that the peer knows the secret of the job, sends a reply, the Answer.
  /// Closes the connection if the Knock does not prove this. Does nothing if
  /// the Knock has not arrived completely.
  void readKnock(uint64_t id, UnknownPeer &stranger);
  /// Reads Hello, the first encrypted message of a connection. `id` is the
  /// number of the connection, and `stranger` is the connection. The key of the
  /// encryption derives from the secret of the job. If the decryption succeeds,
  /// the sender therefore knows the secret. In this case, calls admit() with
  /// the identity that Hello contains. If the decryption fails, closes the
  /// connection. Does nothing if Hello has not arrived completely.
  void readHello(uint64_t id, UnknownPeer &stranger);
  /// Admits the peer of `connection` as rank `facts.rank`. The peer has already
  /// proved that it knows the secret of the job. `facts` is the identity that
  /// the peer has sent. If the peer is the last missing rank, tells all ranks
  /// that every rank is connected. Rejects the peer if `facts` do not fit the
  /// job, for example because the peer has another world size.
  void admit(Connection connection, const RankFacts &facts);
  /// Closes the connection with the number `id`, and sends no answer to the
  /// peer. The connection is in `unknownPeers`, because its handshake is not
  /// complete. `why` is the reason, such as "it did not know the job's token";
  /// the token is the secret of the job. Stores the reason in `lastRejection`.
  /// If a rank does not connect in time, the error message contains
  /// `lastRejection`.
  void reject(uint64_t id, const std::string &why);
  /// Reads the bytes that the rank `peer` has sent to rank 0, and calls hear()
  /// for each complete message. Calls lose() if a message cannot be decrypted,
  /// or if the rank has closed the connection. Rank 0 must have admitted the
  /// rank before.
  void readFrom(Peer &peer);
  /// Processes `frame`, a decrypted message from the rank `peer`. There are
  /// three kinds of messages:
  ///
  /// - Data: stores the content of the message until take() removes it.
  /// - Leave: notes that the rank has finished its work.
  /// - Abort: ends the run with the error that the message contains.
  ///
  /// Ignores messages of any other kind.
  void hear(Peer &peer, const Frame &frame);
  /// Closes the connection of the admitted rank `peer`, because the connection
  /// has failed or its process has ended. A rank that has finished sends a
  /// Leave message before it ends, and a rank that has failed sends an Abort
  /// message. If `peer` has sent neither message, ends the run with an error.
  /// The text of the error contains `how`, such as "its process has ended".
  void lose(Peer &peer, const std::string &how);
  /// Deletes the file of the Unix socket, if there is one.
  void removeFile();

  /// The set of sockets that rank 0 reads, each with a number. When a socket
  /// can be read, take() returns its number:
  ///
  ///   0                               the socket that accepts connections
  ///   1 to world size - 1             the connection of the rank with this
  ///                                   number
  ///   UnknownPeers::kFirst or above   a connection whose rank is not known
  EventQueue events;
  /// The socket at which rank 0 accepts connections. The next member, `place`,
  /// is the address of this socket.
  OpenFile listener;
  Address place;
  UnknownPeers unknownPeers;
  /// State of all ranks: peers[3] is the state of rank 3. This object belongs
  /// to rank 0, and rank 0 has no connection to itself, so peers[0] is unused.
  std::vector<Peer> peers;
  /// Number of ranks that have been admitted.
  int numCome = 0;
  bool ready = false;
  /// Whether rank 0 listens at a Unix socket that has a file, and has not
  /// deleted this file yet. removeFile() deletes the file.
  bool hasFile = false;
  /// Number of rejected connections. Error messages contain this number.
  int numRejected = 0;
  /// Reason why the last rejected connection was closed. Error messages contain
  /// this reason.
  std::string lastRejection;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSSERVER_H
