//===- RendezvousClient.h - connection of other ranks to rank 0 -----------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSCLIENT_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSCLIENT_H

#include "runtime/launch/rendezvous/Handshake.h"
#include "runtime/launch/rendezvous/Peers.h"

#include <deque>

namespace pcc::runtime {

/// The connection of a rank other than 0 to rank 0. Connects to rank 0, and
/// repeats the attempt until the handshake succeeds. Repetition is needed
/// because rank 0 may start later, and because another process may listen at
/// the address. The states:
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
  /// State of this rank's handshake with rank 0.
  enum class ClientState {
    /// Not connected; waits for the time of the next attempt.
    Apart,
    /// The socket is being connected.
    Connecting,
    /// The socket is connected, and the Challenge frame of rank 0 has not
    /// arrived yet.
    Greeting,
    /// The Hello frame was sent, and the Welcome frame of rank 0 has not
    /// arrived yet.
    Proving,
    /// The handshake is complete: both ends have proved that they know the job
    /// token.
    Welcome,
  };

  /// Begins to connect to rank 0. Does nothing if the pause after the last
  /// attempt is not over.
  void connect();
  /// Processes one received frame, according to the state of the handshake.
  void hear(const Frame &frame);
  /// Sends a Hello frame in reply to rank 0's frame `challenge`. The Hello
  /// contains this rank's proof (HMAC) that it knows the job token.
  void answer(const Frame &challenge);
  /// Verifies rank 0's proof (HMAC) of the job token in the frame `welcome`,
  /// and completes the handshake. If the proof is wrong, closes the connection,
  /// and connects again later.
  void checkWelcome(const Frame &welcome);
  /// Closes the connection, and schedules another attempt. `why` is the reason
  /// of the failure, for messages.
  void retryLater(const std::string &why);
  /// Processes the loss of the connection. During the handshake, schedules
  /// another attempt; afterwards, ends the run because rank 0 was lost.
  void loseServer();

  /// All resolved addresses of rank 0, which are tried in turn.
  std::vector<SocketAddress> places;
  size_t numTries = 0;
  Clock::time_point nextTry = Clock::now();
  /// Time at which the current attempt to connect to rank 0 started.
  Clock::time_point since;
  /// Reason why the last attempt to connect to rank 0 failed.
  std::string trouble = "no process listens there";
  ClientState state = ClientState::Apart;
  Connection connection;
  /// Random bytes that both ends contribute to the current handshake.
  Challenges challenges;
  /// Contents of received Data frames that take() has not removed yet, oldest
  /// first.
  std::deque<std::string> messages;
  /// Whether the Ready frame of rank 0 has arrived: all ranks are connected.
  bool ready = false;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSCLIENT_H
