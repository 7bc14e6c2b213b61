//===- MeetingPlace.cpp - sockets at which rank 0 may listen --------------===//

#include "runtime/launch/rendezvous/MeetingPlace.h"
#include "runtime/launch/rendezvous/UnixPlace.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>

namespace pcc::runtime {

/// Number of TCP ports that rank 0 may use. Rank 0 listens at only one of these
/// ports: the first port that is not in use. For example, if the first port is
/// 61440, the 16 ports are 61440 to 61455.
static constexpr int kNumPorts = 16;

/// Finds all IPv4 and IPv6 addresses of the host `address.place`, such as
/// "node7". Appends each of them to `found`, together with the port
/// `address.port`. Returns an error with exit code 12 if the host does not
/// exist.
static Status resolveTcp(const Address &address,
                         std::vector<SocketAddress> &found) {
  addrinfo wanted = {};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo *list = nullptr;
  const int problem =
      getaddrinfo(address.place.c_str(), std::to_string(address.port).c_str(),
                  &wanted, &list);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list,
                                                                 freeaddrinfo);
  if (problem != 0)
    return Status::error(WrongWorld, "ranks meet at " + address.text() +
                                         ", but there is no host " +
                                         address.place + ": " +
                                         gai_strerror(problem));
  for (const addrinfo *entry = list; entry; entry = entry->ai_next) {
    SocketAddress one;
    std::memcpy(&one.storage, entry->ai_addr, entry->ai_addrlen);
    one.length = entry->ai_addrlen;
    found.push_back(std::move(one));
  }
  return Status::success();
}

/// Returns one of the 16 TCP ports at which rank 0 may listen. `index` selects
/// the port: index 0 selects the first port, and index 15 selects the last
/// port. The first port is `address.port`. The ports are consecutive. For
/// example, if `address.port` is 61440, index 2 selects port 61442.
///
/// The largest TCP port is 65535. If `address.port` + `index` is greater, the
/// function subtracts 16. For example, if `address.port` is 65530, the indices
/// 5, 6 and 7 select the ports 65535, 65520 and 65521.
static int portOf(const Address &address, int index) {
  const int port = address.port + index;
  return port <= 65535 ? port : address.port - kNumPorts + index;
}

//===----------------------------------------------------------------------===//
// Listening
//===----------------------------------------------------------------------===//

/// Returns the error that ends rank 0 if it cannot listen at `address`. The
/// error has exit code 12. `reason` is the errno of the system call that has
/// failed. If the port is in use, or if the address belongs to another host,
/// the error also tells the user to set another address in the environment
/// variable PCC_RENDEZVOUS.
static Status cannotListen(const Address &address, int reason) {
  const std::string text = address.text();
  if (reason == EADDRINUSE)
    return Status::error(WrongWorld,
                         "rank 0 cannot listen at " + text + ": this and the " +
                             std::to_string(kNumPorts - 1) +
                             " ports after it are in use",
                         {"PCC_RENDEZVOUS names another address"});
  if (reason == EADDRNOTAVAIL)
    return Status::error(WrongWorld,
                         "ranks meet at " + text +
                             ", which is not the host of rank 0",
                         {"set PCC_RENDEZVOUS to tcp://HOST:PORT, with the "
                          "host of rank 0"});
  return Status::error(WrongWorld, "rank 0 cannot listen at " + text + ": " +
                                       std::strerror(reason));
}

/// Opens `listener`, a socket that listens at one address. Returns 0, or the
/// errno of the failure.
static int listenThere(const SocketAddress &address, OpenFile &listener) {
  listener = makeSocket(address);
  const bool listens =
      listener.isOpen() &&
      bind(listener.fd(), address.generic(), address.length) == 0 &&
      listen(listener.fd(), SOMAXCONN) == 0;
  return listens ? 0 : errno;
}

/// Opens `listener`, a socket that listens at port `port`. `hosts` contains the
/// IP addresses to which the host name in `address` resolves. Tries these IP
/// addresses one after another until the socket can listen at one. Returns 0 if
/// the socket listens. Otherwise, returns EADDRINUSE if the port was in use at
/// one of the IP addresses, or else the errno of the last IP address.
///
/// A host name such as "node7" may resolve to a loopback address, which other
/// hosts cannot reach. In this case, the socket listens on all interfaces.
static int listenAtPort(const Address &address, int port,
                        const std::vector<SocketAddress> &hosts,
                        OpenFile &listener) {
  int problem = EADDRNOTAVAIL;
  for (const SocketAddress &host : hosts) {
    const bool isWrongInterface = !address.isLoopback() && host.isLoopback();
    const int reason = listenThere(
        (isWrongInterface ? host.withAnyHost() : host.withPort(port))
            .withPort(port),
        listener);
    if (reason == 0)
      return 0;
    if (problem != EADDRINUSE)
      problem = reason;
  }
  return problem;
}

/// Opens `listener`, a TCP socket at which rank 0 listens. `address` contains a
/// host and a port. Tries this port and 15 other ports, one after another,
/// until one of them is not in use. Sets `place.port` to the port at which the
/// socket listens. Returns an error with exit code 12 if all 16 ports are in
/// use, if the host does not exist, or if the socket cannot listen for another
/// reason.
static Status listenTcp(const Address &address, OpenFile &listener,
                        Address &place) {
  std::vector<SocketAddress> hosts;
  PCC_RETURN_IF_ERROR(resolveTcp(address, hosts));
  int reason = EADDRINUSE;
  for (int index = 0; index < kNumPorts && reason == EADDRINUSE; ++index) {
    place.port = portOf(address, index);
    reason = listenAtPort(address, place.port, hosts, listener);
  }
  return reason == 0 ? Status::success() : cannotListen(address, reason);
}

Status listenAt(const Address &address, OpenFile &listener, Address &place) {
  place = address;
  if (address.kind == Address::Kind::Tcp)
    return listenTcp(address, listener, place);
  PCC_RETURN_IF_ERROR(prepareUnix(address));
  place = chooseUnix(address);
  SocketAddress there;
  PCC_RETURN_IF_ERROR(resolveUnix(place, there));
  const int reason = listenThere(there, listener);
  return reason == 0 ? Status::success() : cannotListen(address, reason);
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

Status PlaceSearch::resolve() {
  if (address.kind == Address::Kind::Tcp)
    return resolveTcp(address, hosts);
  SocketAddress ignored;
  return resolveUnix(chooseUnix(address), ignored);
}

/// Returns the addresses in the list `places` one after another, and then null.
/// The first call, and each call after null, makes a new list. For Unix
/// sockets, the list has the existing sockets that may be rank 0's socket. For
/// TCP, the list has each IP address of the host with the port `address.port`,
/// because rank 0 listens there if this port is free. After a call of widen(),
/// the list also has each IP address with one other of the 16 possible ports.
/// This port changes from list to list.
const SocketAddress *PlaceSearch::next() {
  if (numReturned < places.size())
    return &places[numReturned++];
  const bool isRoundOver = numReturned > 0;
  places.clear();
  numReturned = 0;
  if (isRoundOver)
    return nullptr;
  if (address.kind != Address::Kind::Tcp)
    places = findUnix(address);
  for (const SocketAddress &host : hosts)
    places.push_back(host.withPort(address.port));
  const int other = isWide ? 1 + numWideRounds++ % (kNumPorts - 1) : 0;
  for (const SocketAddress &host : hosts)
    if (other)
      places.push_back(host.withPort(portOf(address, other)));
  return places.empty() ? nullptr : &places[numReturned++];
}

} // namespace pcc::runtime
