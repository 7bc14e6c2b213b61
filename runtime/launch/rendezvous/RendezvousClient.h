//===- RendezvousClient.h - another rank's connection to rank 0 -----------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSCLIENT_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSCLIENT_H

#include "runtime/launch/rendezvous/Peers.h"

#include <deque>

namespace pcc::runtime {

/// Tries to reach rank 0 again and again, which may start later, until it is
/// welcome. Anything else that listens there is left alone.
class RendezvousClient final : public Peers {
public:
  explicit RendezvousClient(const JoinTerms &terms) : Peers(terms) {}

  /// Finds where rank 0 is.
  Status resolve();

  void watch(std::vector<pollfd> &watched) const override;
  void advance(std::span<const pollfd> watched) override;
  bool isReady() const override { return ready; }
  std::string missing() const override;
  bool haveAllHeard() const override { return true; }
  bool haveAllLeft() const override { return !connection.isOpen(); }
  bool take(std::vector<std::string> &messages) override;
  void tell(const Frame &frame) override;

private:
  enum class ClientState {
    Apart,      ///< tries to connect from time to time
    Connecting, ///< the kernel does
    Greeting,   ///< rank 0's challenge is to come
    Proving,    ///< its welcome is to come
    Welcome,
  };

  void connect();
  void hear(const Frame &frame);
  void answer(const Frame &challenge);
  void checkWelcome(const Frame &welcome);
  void retryLater(const std::string &why);
  void loseServer();

  std::vector<SocketAddress> places;
  size_t numTries = 0;
  Clock::time_point nextTry = Clock::now();
  Clock::time_point since;                      ///< when this try began
  std::string trouble = "nobody listens there"; ///< of the last try
  ClientState state = ClientState::Apart;
  Connection connection;
  std::string serverChallenge, ownChallenge;
  std::deque<std::string> messages;
  bool ready = false;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSCLIENT_H
