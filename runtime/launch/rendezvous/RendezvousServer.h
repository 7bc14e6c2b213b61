//===- RendezvousServer.h - rank 0's end of the connections between ranks -===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSSERVER_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSSERVER_H

#include "runtime/launch/rendezvous/Peers.h"

#include <deque>

namespace pcc::runtime {

/// Lets ranks in that prove that they belong to the job:
///
///   connection ── Challenge ─> … <─ Hello ── Welcome ─> a rank ── Ready ─>
///
/// Who does not get there within seconds is turned away, and changes nothing.
class RendezvousServer final : public Peers {
public:
  explicit RendezvousServer(const JoinTerms &terms);
  ~RendezvousServer() override;

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
  /// Who has connected and is not known yet.
  struct UnknownPeer {
    Connection connection;
    std::string challenge;
    Clock::time_point since;
  };
  struct Peer {
    Connection connection = {};
    RankFacts facts = {};
    std::deque<std::string> messages = {};
    bool hasCome = false, hasLeft = false;
  };
  /// At once: others wait in the kernel's queue.
  static constexpr size_t kMostUnknownPeers = 256;

  void accept();
  void greet(UnknownPeer &stranger, bool isReadable);
  void answer(UnknownPeer &stranger, const Frame &hello);
  void admit(UnknownPeer &stranger, const RankFacts &facts);
  void refuse(UnknownPeer &stranger, const Status &why);
  void reject(UnknownPeer &stranger, const std::string &why);
  void readFrom(Peer &peer);
  void hear(Peer &peer, const Frame &frame);
  void lose(Peer &peer, const std::string &how);
  void removeFile();

  OpenFile listener;
  std::vector<UnknownPeer> unknownPeers;
  std::vector<Peer> peers; ///< by rank; that of rank 0 is never there
  int numCome = 0;
  bool ready = false;
  bool hasFile = false;
  int numRejected = 0;
  std::string lastRejection; ///< why
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSSERVER_H
