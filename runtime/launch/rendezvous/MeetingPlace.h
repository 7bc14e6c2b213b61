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

/// Opens `listener`, the socket at which rank 0 listens, and stores its address
/// in `place`. `place` may differ from `address`, which another process may
/// use. For a Unix socket, appends 16 random hexadecimal digits. For TCP, tries
/// 16 ports from the port in `address` on. The TCP socket listens only on the
/// interface of the host's IP address. If a name such as "node7" resolves to a
/// loopback address, the socket listens on all interfaces. Returns exit code 12
/// if the socket cannot listen, or if other users may change the folder of a
/// Unix socket.
Status listenAt(const Address &address, OpenFile &listener, Address &place);

/// The socket addresses at which rank 0 may listen. Another rank does not know
/// which of these addresses rank 0 uses. The other rank therefore tries to
/// connect to one address after another. If the other rank does not find rank
/// 0, it begins again with the first address.
class PlaceSearch {
public:
  explicit PlaceSearch(const Address &address) : address(address) {}

  /// Resolves the host of a TCP address. May block on name servers. Returns an
  /// error with exit code 12 if the host does not exist.
  Status resolve();

  /// Returns a socket address at which rank 0 may listen, or null. Successive
  /// calls return all of these addresses, and then null. After that, the calls
  /// begin again with the first address, because rank 0 may start later than
  /// this rank. For example, if there are two addresses A and B, successive
  /// calls return A, B, null, A, B, null.
  ///
  /// The addresses can change after each null. For Unix sockets, the function
  /// then searches again for existing sockets. For TCP, see widen().
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
  /// Socket addresses that next() returns one after another, before next()
  /// returns null. next() has already returned the first `numReturned`
  /// addresses of this list.
  std::vector<SocketAddress> places;
  size_t numReturned = 0;
  bool isWide = false;
  /// Number of rounds that have begun since widen() was called. In each round,
  /// next() returns one address per call, and null at the end of the round.
  /// Rank 0 listens at one of 16 TCP ports. After a call of widen(), each round
  /// contains the first of these ports and one other of these ports. The number
  /// of the round determines the other port. For example, if the 16 ports are
  /// 61440 to 61455:
  ///
  ///   round after widen()   ports
  ///   1st                   61440 and 61441
  ///   2nd                   61440 and 61442
  ///   15th                  61440 and 61455
  ///   16th                  61440 and 61441 again
  int numWideRounds = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_MEETINGPLACE_H
