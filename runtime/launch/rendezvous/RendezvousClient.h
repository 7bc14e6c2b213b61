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

/// The connection of a rank other than 0 to rank 0. The rank connects to all
/// addresses at which rank 0 may listen. The rank repeats these attempts,
/// because rank 0 may start later. Knock and Answer prove that the senders know
/// the secret of the job. Hello contains the identity of this rank. Welcome
/// admits this rank. The messages of an attempt, and the states of this object:
///
///   this rank   Knock ─>              Hello ─>
///   rank 0                Answer ─>             Welcome ─>
///
///   Searching ── an Answer with a valid proof arrives ──> Proving
///   Proving ──── Welcome arrives ───────────────────────> Welcome
///   Proving ──── 5 s pass, or the connection closes ────> Searching
///   Welcome ──── the connection closes ─────────────────> the run fails
class RendezvousClient final : public Peers {
public:
  explicit RendezvousClient(const JoinTerms &terms)
      : Peers(terms), search(terms.address) {}

  /// Resolves the address of rank 0. May block on name servers. Returns an
  /// error with exit code 12 if the host does not exist.
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
    /// Rank 0 has admitted this rank to the job. Rank 0 has sent the message
    /// Welcome, the last message of the handshake between the two ranks.
    Welcome,
  };
  /// A connection to an address at which rank 0 may listen.
  struct Attempt {
    Connection connection;
    Clock::time_point since;
    /// Random bytes that this rank has sent in its Knock. A Knock is the first
    /// message of this rank on a connection. `nonce` is empty until this rank
    /// has sent the Knock.
    std::string nonce;
  };

  /// Continues the search for rank 0. Does nothing if rank 0 has been found, or
  /// if the current time is before the time `nextAttempt`. Otherwise, performs
  /// two steps:
  ///
  /// 1. Begins to connect to addresses at which rank 0 may listen. This rank
  ///    knows a list of these addresses. If the list contains TCP addresses,
  ///    begins to connect to the next address of the list. If the list contains
  ///    Unix sockets, begins to connect to all addresses of the list.
  /// 2. Sets `nextAttempt` to a later time, at which this rank begins the next
  ///    connections. For example, `nextAttempt` is 250 ms later if step 1 has
  ///    begun a connection, and 20 ms later if step 1 has begun no connection.
  void startAttempts();
  /// Begins to connect to `place`, an address at which rank 0 may listen, and
  /// does not wait for the result. Returns false if the connection fails at
  /// once, or if the process that listens there belongs to another user.
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
  /// Reads the bytes that have arrived from rank 0, and processes each complete
  /// message. Calls loseServer() if rank 0 has closed the connection, or if a
  /// message cannot be decrypted.
  void listen();
  /// Processes the message `frame`, which rank 0 has sent to this rank.
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
  /// Connections of this rank to addresses at which rank 0 may listen. The key
  /// of the map is the number of the connection. The first connection has the
  /// number 1. When a connection is closed, it is removed from the map. The map
  /// is empty after rank 0 has been found.
  std::map<uint64_t, Attempt> attempts;
  uint64_t numAttempts = 0;
  /// Reason why the latest attempt to connect to rank 0 has failed. If this
  /// rank does not find rank 0 in time, the error message can contain this
  /// text.
  std::string trouble = "no process listens there";
  /// Text about a process that listens at an address of rank 0, but has not
  /// proved that it is rank 0. An example is "a process that does not know the
  /// job's token answered there". The error message contains the text if rank 0
  /// is not found. Null if this rank has not connected to such a process.
  const char *stranger = nullptr;
  /// `hasOtherPlaces`: whether this rank has called lookElsewhere(). If this is
  /// true, the search for rank 0 begins a new connection every 50 ms instead of
  /// every 250 ms.
  ///
  /// `hasToldUser`: whether this rank has printed a note that it has found a
  /// process that is not rank 0. This rank prints such a note only once.
  bool hasOtherPlaces = false, hasToldUser = false;

  ClientState state = ClientState::Searching;
  /// `connection` is the connection to rank 0. It is not open while this rank
  /// searches for rank 0. `provingSince` is the time at which this rank has
  /// sent its identity to rank 0.
  Connection connection;
  Clock::time_point provingSince;
  /// Data that rank 0 has sent to this rank, and that take() has not removed
  /// yet. Each entry is the content of one message. The oldest message is the
  /// first entry.
  std::deque<std::string> messages;
  /// Whether all ranks of the job are connected to rank 0. Rank 0 sends a
  /// message (FrameKind::Ready) to this rank when this is the case.
  bool ready = false;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_RENDEZVOUSCLIENT_H
