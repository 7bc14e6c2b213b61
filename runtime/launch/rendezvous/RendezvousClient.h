//===- RendezvousClient.h - connection of other ranks to rank 0 -----------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSCLIENT_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSCLIENT_H

#include "runtime/launch/rendezvous/Peers.h"

#include <deque>

namespace pcc::runtime {

/// The end of any rank but 0. Connects to rank 0, and retries until the
/// handshake succeeds, because rank 0 may start later and another process may
/// listen at the address:
///
///   Apart ──> Connecting ──> Greeting ──> Proving ──> Welcome
///     ^            │             │            │
///     └────────────┴─────────────┴────────────┘  timeout, or not rank 0
///
/// After the handshake, a closed connection means that rank 0 was lost.
class RendezvousClient final : public Peers {
public:
  explicit RendezvousClient(const JoinTerms &terms) : Peers(terms) {}

  /// Resolves the address of rank 0. May block on name servers. Exit code 12 if
  /// the host does not exist.
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
  /// State of the handshake.
  enum class ClientState {
    /// Not connected; tries again from time to time.
    Apart,
    /// The kernel is connecting.
    Connecting,
    /// Connected; the Challenge of rank 0 has not arrived.
    Greeting,
    /// Hello was sent; the Welcome of rank 0 has not arrived.
    Proving,
    /// Both ends have proved that they know the token.
    Welcome,
  };

  /// Begins to connect if it is time for another try.
  void connect();
  /// Handles one frame in the current state.
  void hear(const Frame &frame);
  /// Answers a Challenge with a Hello frame.
  void answer(const Frame &challenge);
  /// Verifies the proof of rank 0, and completes the handshake.
  void checkWelcome(const Frame &welcome);
  /// Closes the connection, and schedules another try; `why` is for messages.
  void retryLater(const std::string &why);
  /// Handles a closed connection: retries during the handshake, otherwise sets
  /// the verdict that rank 0 was lost.
  void loseServer();

  /// All resolved addresses of rank 0, which are tried in turn.
  std::vector<SocketAddress> places;
  size_t numTries = 0;
  Clock::time_point nextTry = Clock::now();
  /// Start of the current try.
  Clock::time_point since;
  /// Reason for the failure of the last try.
  std::string trouble = "nobody listens there";
  ClientState state = ClientState::Apart;
  Connection connection;
  /// Challenges of the current handshake.
  std::string serverChallenge, ownChallenge;
  /// Data messages that take() has not returned.
  std::deque<std::string> messages;
  /// Whether rank 0 has said that all ranks are connected.
  bool ready = false;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSCLIENT_H
