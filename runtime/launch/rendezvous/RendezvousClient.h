//===- RendezvousClient.h - connection of other ranks to rank 0 -----------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSCLIENT_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSCLIENT_H

#include "runtime/launch/rendezvous/Connection.h"
#include "runtime/launch/rendezvous/EventQueue.h"
#include "runtime/launch/rendezvous/MeetingPlace.h"
#include "runtime/launch/rendezvous/Peers.h"

#include <deque>
#include <map>

namespace pcc::runtime {

/// The connection of a rank other than 0 to rank 0. Makes connection attempts
/// to all addresses at which rank 0 may listen. Repeats them, because rank 0
/// may start later and other processes may listen there. The states:
///
///   Searching ── Answer of an attempt with right proof ──> Proving
///     ^ │                                                    │    │
///     │ └─ attempts without it end                 timeout ──┘    └──> Welcome
///     └─────────────────────────────────────────────────────┘
///
/// In state Welcome, a closed connection means that rank 0 was lost.
class RendezvousClient final : public Peers {
public:
  explicit RendezvousClient(const JoinTerms &terms)
      : Peers(terms), search(terms.address) {}

  /// Resolves the address of rank 0. May block on name servers. Exit code 12 if
  /// the host does not exist.
  Status resolve() { return search.resolve(); }

  int fd() const override { return events.fd(); }
  void advance() override;
  bool isReady() const override { return ready; }
  std::string missing() const override;
  bool haveAllHeard() const override { return true; }
  bool haveAllLeft() const override { return !connection.isOpen(); }
  bool take(std::vector<std::string> &messages) override;
  void tell(const Frame &frame) override;

private:
  /// State of this rank's handshake with rank 0.
  enum class ClientState {
    /// Rank 0 has not been found.
    Searching,
    /// Rank 0 has proved that it knows the job token. This rank has sent Hello
    /// (its identity), and waits for Welcome.
    Proving,
    /// The handshake is complete.
    Welcome,
  };
  /// A connection to an address at which rank 0 may listen.
  struct Attempt {
    Connection connection;
    Clock::time_point since;
    /// Random bytes that this rank has sent in its Knock (first message); empty
    /// before.
    std::string nonce;
  };

  /// Begins to connect to the next addresses, if it is time.
  void startAttempts();
  /// Begins to connect to `place`. Returns false if no process of this user
  /// listens there.
  bool startAttempt(const SocketAddress &place);
  /// Makes the search faster and includes more ports, because other processes
  /// may occupy the usual port of rank 0.
  void lookElsewhere();
  /// Continues attempt `id`, whose socket is ready.
  void advanceAttempt(uint64_t id);
  /// Reads the Answer (reply of rank 0) in attempt `id`. If its proof is right,
  /// the attempt becomes the connection to rank 0.
  void readAnswer(uint64_t id, Attempt &attempt);
  /// Makes `attempt` the connection to rank 0, ends all other attempts, and
  /// sends Hello (this rank's identity).
  void adopt(Attempt &attempt, const SessionKeys &keys);
  /// Ends attempt `id`. `why` is the reason, for messages.
  void endAttempt(uint64_t id, const std::string &why);
  /// Ends attempt `id`, whose peer is not rank 0. `what` describes the peer's
  /// action for messages. The first call prints a note.
  void endStranger(uint64_t id, const char *what);
  /// Ends attempts that have lasted too long. If no answer comes soon, extends
  /// the search to more ports.
  void checkTimes();
  /// Reads frames of rank 0.
  void listen();
  /// Processes one frame of rank 0.
  void hear(const Frame &frame);
  /// Processes the loss of the connection. During the handshake, searches
  /// again; afterwards, ends the run because rank 0 was lost.
  void loseServer();

  EventQueue events;
  PlaceSearch search;
  const Clock::time_point begin = Clock::now();
  Clock::time_point nextAttempt = begin;
  /// Attempts in progress, by number.
  std::map<uint64_t, Attempt> attempts;
  uint64_t numAttempts = 0;
  /// Reason why the last attempt failed, for messages.
  std::string trouble = "no process listens there";
  /// Action of a process that does not know the job token, for messages; null
  /// if no such process was met.
  const char *stranger = nullptr;
  /// Whether lookElsewhere() was called, and whether endStranger() has printed
  /// a note.
  bool hasOtherPlaces = false, hasToldUser = false;

  ClientState state = ClientState::Searching;
  /// The connection to rank 0, and the time at which Hello was sent.
  Connection connection;
  Clock::time_point provingSince;
  /// Contents of received Data frames that take() has not removed yet, oldest
  /// first.
  std::deque<std::string> messages;
  /// Whether the Ready frame of rank 0 has arrived: all ranks are connected.
  bool ready = false;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSCLIENT_H
