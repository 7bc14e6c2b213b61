//===- MeetingPlace.h - sockets at which rank 0 may listen ----------------===//
//
// Any process of a host could listen at an address that it can guess, before
// rank 0 does. Rank 0 therefore listens where it cannot be hindered, and the
// other ranks look for it:
//
//   address           rank 0 listens at             others look
//   unix:PATH         PATH-<16 random digits>       in the folder of PATH
//   unix:@NAME        @NAME-<16 random digits>      in /proc/net/unix
//   tcp://HOST:PORT   the first free of 16 ports,   first at PORT only
//                     from PORT on
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_LAUNCH_RENDEZVOUS_MEETINGPLACE_H
#define PCC_RUNTIME_LAUNCH_RENDEZVOUS_MEETINGPLACE_H

#include "runtime/launch/rendezvous/Address.h"
#include "runtime/launch/rendezvous/Socket.h"

#include <vector>

namespace pcc::runtime {

/// Opens `listener`, the socket at which rank 0 listens. Sets `place` to the
/// socket's address. For TCP, this is `address` with the first free one of 16
/// ports. For a Unix socket, it is `address` with random digits at its end.
///
/// A TCP socket accepts connections only on the interface of `address`. If the
/// host's name (such as "node7") resolves to loopback, the socket accepts
/// connections on all interfaces. Returns an error with exit code 12 in these
/// cases:
///
/// - No port is free.
/// - `address` is not an address of this host.
/// - Other users may change the folder of a Unix socket.
Status listenAt(const Address &address, OpenFile &listener, Address &place);

/// The places (socket addresses) at which rank 0 may listen. Another rank tries
/// them one after another, in rounds.
class PlaceSearch {
public:
  explicit PlaceSearch(const Address &address) : address(address) {}

  /// Resolves the host of a TCP address. May block on name servers. Returns an
  /// error with exit code 12 if the host does not exist.
  Status resolve();

  /// Returns the next socket address at which rank 0 may listen. Returns null
  /// after the last address; the next call begins again with the first.
  const SocketAddress *next();

  /// Extends the search for rank 0 to more TCP ports. Rank 0 listens at one of
  /// 16 ports, for example at one of the ports 61440 to 61455. next() returns
  /// addresses in rounds. A round ends when next() returns null.
  ///
  /// - Before a call of widen(), each round contains only port 61440.
  /// - After a call of widen(), the first new round contains the ports 61440
  ///   and 61441. The second new round contains the ports 61440 and 61442. The
  ///   15th new round contains the ports 61440 and 61455. The 16th new round
  ///   contains the same ports as the first new round.
  ///
  /// Has no effect if the ranks connect by Unix sockets.
  void widen() { isWide = true; }

private:
  const Address address;
  /// All IP addresses of the host on which rank 0 listens, each with the port
  /// in `address`. resolve() sets this list. The list is empty if the ranks
  /// connect by Unix sockets.
  std::vector<SocketAddress> hosts;
  /// Socket addresses of the current round (pass over all addresses). next()
  /// has returned the first `numReturned` of them.
  std::vector<SocketAddress> places;
  size_t numReturned = 0;
  bool isWide = false;
  /// Number of rounds that have begun since widen() was called. A round is a
  /// pass over all addresses. The 16 ports of rank 0 have the indices 0 to 15.
  /// Each of these rounds contains port 0 and one other port: the first round
  /// contains port 1, the second round port 2, the 15th round port 15, and the
  /// 16th round port 1 again.
  int numWideRounds = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_MEETINGPLACE_H
