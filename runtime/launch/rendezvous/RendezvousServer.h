//===- RendezvousServer.h - connections of rank 0 to other ranks ----------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSSERVER_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSSERVER_H

#include "runtime/launch/rendezvous/Peers.h"

#include <deque>

namespace pcc::runtime {

/// The end of rank 0. Accepts connections, and admits those that prove that
/// they belong to the job:
///
///   rank 0   Challenge ─>            Welcome ─>   Ready ─> (all admitted)
///   rank r                 <─ Hello
///
/// A connection that does not complete the handshake within kHandshakeTimeout
/// is closed, and does not affect the job.
class RendezvousServer final : public Peers {
public:
  /// Raises the limit on open files, because rank 0 has a socket per rank.
  explicit RendezvousServer(const JoinTerms &terms);
  /// Removes the socket's file, if there is one.
  ~RendezvousServer() override;

  /// Begins to listen; exit code 12 if the address is in use or not of this
  /// host.
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
  /// An admitted rank. `facts` and `connection` are valid once `hasCome` is
  /// true.
  struct Peer {
    Connection connection = {};
    RankFacts facts = {};
    std::deque<std::string> messages = {};
    /// Whether the rank was admitted, and whether it has said Leave or Abort.
    bool hasCome = false, hasLeft = false;
  };
  /// Largest number of concurrent handshakes. Further connections wait in the
  /// kernel's queue, which bounds memory.
  static constexpr size_t kMostUnknownPeers = 256;

  /// Accepts waiting connections, and sends each a Challenge.
  void accept();
  /// Continues one handshake.
  void greet(UnknownPeer &stranger, bool isReadable);
  /// Verifies the proof of a Hello frame, and answers with the server's proof.
  void answer(UnknownPeer &stranger, const Frame &hello);
  /// Makes an authenticated connection the peer of its rank, or ends the run if
  /// its facts do not fit. After the last rank, sends Ready to all.
  void admit(UnknownPeer &stranger, const RankFacts &facts);
  /// Sends `why` to a connection, then closes it.
  void refuse(UnknownPeer &stranger, const Status &why);
  /// Closes a connection without an answer, and counts it for missing().
  void reject(UnknownPeer &stranger, const std::string &why);
  /// Reads and handles the frames of an admitted rank.
  void readFrom(Peer &peer);
  /// Handles one frame of an admitted rank.
  void hear(Peer &peer, const Frame &frame);
  /// Handles a closed connection: ends the run unless the rank has left.
  void lose(Peer &peer, const std::string &how);
  /// Removes the socket's file.
  void removeFile();

  /// The listening socket.
  OpenFile listener;
  std::vector<UnknownPeer> unknownPeers;
  /// Peers by rank; entry 0, this rank itself, is unused.
  std::vector<Peer> peers;
  /// Number of admitted ranks.
  int numCome = 0;
  bool ready = false;
  /// Whether the socket has a file that must be removed.
  bool hasFile = false;
  /// Number of connections that were rejected, for missing().
  int numRejected = 0;
  /// Reason for the last rejection.
  std::string lastRejection;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSSERVER_H
