//===- MeetingPlace.cpp - sockets at which rank 0 may listen --------------===//

#include "runtime/launch/rendezvous/MeetingPlace.h"
#include "runtime/launch/rendezvous/UnixPlace.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>

namespace pcc::runtime {

/// Number of ports at which rank 0 may listen.
static constexpr int kNumPorts = 16;

/// Resolves a host to all its IPv4 and IPv6 addresses.
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

/// Returns the port with index `index` among those at which rank 0 may listen.
static int portOf(const Address &address, int index) {
  const int port = address.port + index;
  return port <= 65535 ? port : address.port - kNumPorts + index;
}

//===----------------------------------------------------------------------===//
// Listening
//===----------------------------------------------------------------------===//

/// Returns the error (exit code 12) for an address at which this rank cannot
/// listen, with advice. `reason` is an errno.
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

/// Tries to listen at port `port` of one of the addresses `hosts`. Returns 0 or
/// an errno, preferably EADDRINUSE.
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

/// Tries each port until one is free.
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

/// Returns the first port of a TCP address in every round (pass over all
/// addresses), because rank 0 listens at the first port if it is free.
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
