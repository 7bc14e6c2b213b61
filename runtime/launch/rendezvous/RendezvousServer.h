//===- RendezvousServer.h - connections of rank 0 to other ranks ----------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSSERVER_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSSERVER_H

#include "runtime/launch/rendezvous/Peers.h"

#include <deque>

namespace pcc::runtime {

/// The end of the connections on rank 0. Accepts connections, and admits a rank
/// if it proves that it belongs to the job:
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
  /// kernel's queue, which bounds memory.
  static constexpr size_t kMostUnknownPeers = 256;

  /// Accepts waiting connections, and sends each a Challenge.
  void accept();
  /// Continues one handshake.
  void greet(UnknownPeer &stranger, bool isReadable);
  /// Verifies the proof in a Hello frame. If it is right, sends the server's
  /// proof; otherwise closes the connection.
  void answer(UnknownPeer &stranger, const Frame &frame);
  /// Makes an authenticated connection the connection of its rank. If `facts`
  /// do not fit the job, ends the run. After the last rank was admitted, sends
  /// Ready to all ranks.
  void admit(UnknownPeer &stranger, const RankFacts &facts);
  /// Sends the error `why` to a connection in a Refusal frame, then closes the
  /// connection.
  void refuse(UnknownPeer &stranger, const Status &why);
  /// Closes a connection without an answer. Counts it, and stores `why`, for
  /// the message of missing().
  void reject(UnknownPeer &stranger, const std::string &why);
  /// Reads all frames that an admitted rank has sent, and processes them.
  void readFrom(Peer &peer);
  /// Processes one frame of an admitted rank.
  void hear(Peer &peer, const Frame &frame);
  /// Processes the closed connection of a rank: if the rank has not left, ends
  /// the run because the rank was lost.
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
  /// Reason why the last rejected connection was rejected, for missing().
  std::string lastRejection;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSSERVER_H
