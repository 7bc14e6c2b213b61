//===- UnknownPeers.cpp - connections that have not proved the job token --===//

#include "runtime/launch/rendezvous/UnknownPeers.h"

#include <utility>

namespace pcc::runtime {

/// Makes space for one more connection in `peers`, which may hold at most
/// `most` connections. For example, if `most` is 16 and `peers` holds 16
/// connections, closes and removes the oldest connection. The oldest connection
/// has the smallest key in `peers`.
static void makeSpace(std::map<uint64_t, UnknownPeer> &peers, size_t most) {
  while (!peers.empty() && peers.size() >= most)
    peers.erase(peers.begin());
}

uint64_t UnknownPeers::add(Connection connection) {
  makeSpace(silent, mostOfClass);
  silent.emplace(next, UnknownPeer{std::move(connection), Clock::now()});
  return next++;
}

UnknownPeer *UnknownPeers::find(uint64_t id) {
  for (Class *peers : {&silent, &answered})
    if (const auto found = peers->find(id); found != peers->end())
      return &found->second;
  return nullptr;
}

void UnknownPeers::setAnswered(uint64_t id) {
  makeSpace(answered, mostOfClass);
  answered.insert(silent.extract(id));
  answered.at(id).isAnswered = true;
}

void UnknownPeers::remove(uint64_t id) {
  silent.erase(id);
  answered.erase(id);
}

bool UnknownPeers::removeOldest() {
  Class &peers = silent.empty() ? answered : silent;
  if (peers.empty())
    return false;
  peers.erase(peers.begin());
  return true;
}

int UnknownPeers::removeExpired() {
  const Clock::time_point oldest = Clock::now() - kLongestStay;
  int numRemoved = 0;
  for (Class *peers : {&silent, &answered})
    for (; !peers->empty() && peers->begin()->second.since < oldest;
         ++numRemoved)
      peers->erase(peers->begin());
  return numRemoved;
}

} // namespace pcc::runtime
