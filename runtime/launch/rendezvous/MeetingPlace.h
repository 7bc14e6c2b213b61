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

/// Opens `listener`, a socket that listens at `address`, and sets `place` to
/// the address of the socket itself, with the random digits or the port that
/// was free. With TCP, the socket accepts connections only on the network
/// interface of `address`. If the host's name resolves to the loopback
/// interface, as in Debian's /etc/hosts, the socket accepts connections on all
/// interfaces. Exit code 12 if no port is free, if `address` is not one of this
/// host, or if other users may change the folder of a Unix socket.
Status listenAt(const Address &address, OpenFile &listener, Address &place);

/// The places at which rank 0 may listen, as another rank tries them one after
/// another, in rounds.
class PlaceSearch {
public:
  explicit PlaceSearch(const Address &address) : address(address) {}

  /// Resolves the host of a TCP address. May block on name servers. Exit code
  /// 12 if the host does not exist.
  Status resolve();

  /// Returns the next place, or null at the end of a round; the call after that
  /// begins another round.
  const SocketAddress *next();

  /// Makes later rounds of a TCP address also try one of the other ports at
  /// which rank 0 listens if the first one was not free, each round another.
  void widen() { isWide = true; }

private:
  const Address address;
  /// Resolved addresses of a TCP host.
  std::vector<SocketAddress> hosts;
  /// Places of the current round, and how many of them were returned.
  std::vector<SocketAddress> places;
  size_t numReturned = 0;
  bool isWide = false;
  /// Number of rounds that have tried another port than the first.
  int numWideRounds = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RENDEZVOUS_MEETINGPLACE_H
