//===- UnknownPeers.h - connections that have not proved the job token ----===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_UNKNOWNPEERS_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_UNKNOWNPEERS_H

#include "runtime/launch/rendezvous/Connection.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>

namespace pcc::runtime {

/// A connection to rank 0 whose handshake is not complete.
struct UnknownPeer {
  Connection connection;
  std::chrono::steady_clock::time_point since;
  /// Whether this peer has sent a first message which proves that the peer
  /// knows the secret of the job. Rank 0 has answered this message.
  bool isAnswered = false;
};

/// Connections to rank 0 whose handshake is not complete. A later connection
/// has a larger number. In the class `silent`, the peer has sent no valid first
/// message. In the class `answered`, the first message has proved that the peer
/// knows the secret of the job, and rank 0 has answered.
///
/// Processes outside the job can also connect. removeExpired() therefore closes
/// connections older than 5 seconds. A class has at most `mostOfClass`
/// connections. A new connection in a full class closes the oldest one.
class UnknownPeers {
public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLongestStay{5};

  explicit UnknownPeers(size_t mostOfClass) : mostOfClass(mostOfClass) {}

  /// Adds `connection`, a new connection to rank 0, to the class `silent`. This
  /// class holds the connections whose peer has not sent a valid first message.
  /// If the class has `mostOfClass` connections already, closes its oldest
  /// connection. Returns the number of the new connection. The first connection
  /// gets the number kFirst, the second one kFirst + 1, and so on.
  uint64_t add(Connection connection);
  /// Returns connection `id`, or null if it was removed.
  UnknownPeer *find(uint64_t id);
  /// Moves connection `id` from the class `silent` to the class `answered`,
  /// because its first message has proved that the peer knows the secret of the
  /// job. If the class `answered` is full, closes its oldest connection.
  void setAnswered(uint64_t id);
  /// Removes the UnknownPeer of connection `id`. The UnknownPeer owns the
  /// socket, so remove() closes the socket. There is one exception: if the
  /// caller has moved the member `connection` out of the UnknownPeer
  /// (std::move) before, the caller owns the socket, and the socket stays open.
  void remove(uint64_t id);
  /// Closes and removes one connection. The socket of a connection counts as an
  /// open file. If the process of rank 0 has reached its limit on open files,
  /// the process can thus accept a new connection after this call.
  ///
  /// removeOldest() chooses the oldest connection whose peer has not sent a
  /// valid first message. If all peers have sent a valid first message,
  /// removeOldest() chooses the oldest connection. Returns true if a connection
  /// was closed. Returns false if there was no connection.
  bool removeOldest();
  /// Closes and removes each connection that was added more than 5 seconds
  /// (kLongestStay) ago. Returns the number of connections that removeExpired()
  /// has closed.
  int removeExpired();

  /// Number of the first connection that add() adds. RendezvousServer
  /// identifies each of its sockets by a number. Numbers below kFirst belong to
  /// other sockets: number 0 is the socket that listens, and number 3 is the
  /// connection of rank 3 after rank 0 has admitted this rank.
  static constexpr uint64_t kFirst = uint64_t(1) << 32;

private:
  using Class = std::map<uint64_t, UnknownPeer>;

  /// `silent`: connections whose peer has not sent a valid first message.
  /// `answered`: connections whose peer has proved in its first message that it
  /// knows the secret of the job.
  Class silent, answered;
  const size_t mostOfClass;
  uint64_t next = kFirst;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_UNKNOWNPEERS_H
