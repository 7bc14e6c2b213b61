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

/// The connection of a rank other than 0 to rank 0. The rank does not know the
/// exact address of rank 0. The rank therefore opens connections to all
/// addresses at which rank 0 may listen. Each of these connections is called an
/// attempt. The rank repeats its attempts, because rank 0 may start later, and
/// because other processes may listen at these addresses. The messages of an
/// attempt that reaches rank 0:
///
///   this rank   Knock ─>              Hello ─>
///   rank 0                Answer ─>             Welcome ─>
///
/// Knock and Answer prove that their senders know the secret of the job. Hello
/// contains the identity of this rank. Welcome tells this rank that rank 0 has
/// admitted it. The states of this object:
///
///   Searching ── an Answer with a valid proof arrives ──> Proving
///   Proving ──── Welcome arrives ───────────────────────> Welcome
///   Proving ──── 5 s pass, or the connection closes ────> Searching
///   Welcome ──── the connection closes ─────────────────> the run fails
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
    /// Rank 0 has proved that it knows the secret of the job. This rank has
    /// sent its identity to rank 0 (message Hello), and waits until rank 0
    /// admits it (message Welcome).
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

  /// Begins to connect to further addresses at which rank 0 may listen: one
  /// address for TCP, all addresses for Unix sockets. Does nothing if rank 0
  /// has been found, or if the time `nextAttempt` has not come yet.
  void startAttempts();
  /// Begins to connect to `place`. Returns false if no process of this user
  /// listens there.
  bool startAttempt(const SocketAddress &place);
  /// Extends the search for rank 0, because another process may listen at the
  /// first address that this rank tries. After this call, this rank begins a
  /// new connection every 50 ms instead of every 250 ms. A search over TCP also
  /// tries the 15 other ports at which rank 0 may listen.
  void lookElsewhere();
  /// Continues the handshake of attempt `id`, whose socket can be read or
  /// written. An attempt is a connection to an address at which rank 0 may
  /// listen. Sends the first message when the connection is established. Reads
  /// the reply at later calls.
  void advanceAttempt(uint64_t id);
  /// Reads the Answer, the reply of rank 0 to the first message of this rank.
  /// `attempt` is the connection, and `id` is its number. If the Answer proves
  /// that its sender knows the secret of the job, the sender is rank 0, and
  /// this rank keeps the connection. Closes the connection if the Answer does
  /// not prove this.
  void readAnswer(uint64_t id, Attempt &attempt);
  /// Makes `attempt` the connection to rank 0, because the peer of `attempt`
  /// has proved that it is rank 0. Closes all other connections that this rank
  /// has opened in its search for rank 0. Sends the identity of this rank to
  /// rank 0 (message Hello). Encrypts this message and all later messages with
  /// `keys`.
  void adopt(Attempt &attempt, const SessionKeys &keys);
  /// Closes attempt `id`. An attempt is a connection to an address at which
  /// rank 0 may listen. `why` is the reason, such as "no process listens
  /// there". If rank 0 is not found, the error message can contain the last
  /// reason.
  void endAttempt(uint64_t id, const std::string &why);
  /// Closes connection `id`, whose peer has not proved that it is rank 0.
  /// `what` tells the user what the peer has done, such as "a process that does
  /// not know the job's token answered there". Prints `what` to stderr, but at
  /// most once per process. Extends the search for rank 0 (lookElsewhere()).
  void endStranger(uint64_t id, const char *what);
  /// Closes attempts that are older than 5 s, or older than 0.25 s if 128
  /// attempts are open. An attempt is a connection to an address at which rank
  /// 0 may listen. Rank 0 listens at one of 16 TCP ports, and this rank first
  /// searches at one port only. Extends the search to all 16 ports in two
  /// cases:
  ///
  /// - Rank 0 was not found within one second.
  /// - A process has accepted a connection, but has not answered within 0.25 s.
  void checkTimes();
  /// Reads frames of rank 0.
  void listen();
  /// Processes one frame of rank 0.
  void hear(const Frame &frame);
  /// Processes the loss of the connection to rank 0. If rank 0 had not admitted
  /// this rank yet, starts a new search for the address of rank 0. If rank 0
  /// had admitted this rank, ends the run with an error, because the process of
  /// rank 0 has ended.
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
  /// Text about a process that listens at an address of rank 0, but has not
  /// proved that it is rank 0. An example is "a process that does not know the
  /// job's token answered there". The error message contains the text if rank 0
  /// is not found. Null if this rank has not connected to such a process.
  const char *stranger = nullptr;
  /// `hasOtherPlaces`: whether lookElsewhere() was called, which extends the
  /// search for rank 0 to more addresses. `hasToldUser`: whether the user has
  /// been told that a process other than rank 0 listens at an address of rank
  /// 0.
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
