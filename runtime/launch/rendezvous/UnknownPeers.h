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
  /// Whether a Knock with the right proof has arrived and was answered.
  bool isAnswered = false;
};

/// The connections to rank 0 whose handshake is not complete, by number, in the
/// order of their arrival. There may be many connections of strangers, which
/// must neither use up the memory and files of this process nor delay ranks:
///
/// - Each connection may stay for kLongestStay.
/// - There are two classes, of at most `mostOfClass` connections each: those
///   that have not proved anything, and those that have sent a right Knock. If
///   a class is full, its oldest connection is closed. Strangers thus cannot
///   displace ranks that have sent a Knock.
class UnknownPeers {
public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLongestStay{5};

  explicit UnknownPeers(size_t mostOfClass) : mostOfClass(mostOfClass) {}

  /// Adds a connection. Returns its number, which is at least kFirst.
  uint64_t add(Connection connection);
  /// Returns connection `id`, or null if it was removed.
  UnknownPeer *find(uint64_t id);
  /// Moves connection `id` to the class of those that have sent a right Knock.
  void setAnswered(uint64_t id);
  /// Removes connection `id`, and closes it unless it was moved away.
  void remove(uint64_t id);
  /// Closes the connection that has been idle for longest, so that a file is
  /// free. Returns false if there is none.
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
