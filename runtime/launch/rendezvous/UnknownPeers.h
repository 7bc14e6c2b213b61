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
  /// Whether this peer has sent a Knock (first message) with the right proof.
  bool isAnswered = false;
};

/// Rank 0's connections without a complete handshake, by number, in the order
/// of arrival. Limits the memory and files that foreign processes can occupy:
///
/// - Each connection may stay for kLongestStay.
/// - There are two classes, without and with a right Knock (first message with
///   a proof of the token).
/// - A class has at most `mostOfClass` connections. If it is full, its oldest
///   connection is closed.
class UnknownPeers {
public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLongestStay{5};

  explicit UnknownPeers(size_t mostOfClass) : mostOfClass(mostOfClass) {}

  /// Adds a connection. Returns its number, which is at least kFirst.
  uint64_t add(Connection connection);
  /// Returns connection `id`, or null if it was removed.
  UnknownPeer *find(uint64_t id);
  /// Moves connection `id` to the class of connections with a right Knock.
  void setAnswered(uint64_t id);
  /// Removes connection `id`, and closes it unless it was moved away.
  void remove(uint64_t id);
  /// Closes an old connection to free a file, preferably one without a right
  /// Knock. Returns false if there is none.
  bool removeOldest();
  /// Closes all connections that have stayed too long. Returns their number.
  int removeExpired();

  /// First number of a connection. Lower numbers are free for other uses.
  static constexpr uint64_t kFirst = uint64_t(1) << 32;

private:
  using Class = std::map<uint64_t, UnknownPeer>;

  /// Connections without and with a right Knock.
  Class silent, answered;
  const size_t mostOfClass;
  uint64_t next = kFirst;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_UNKNOWNPEERS_H
