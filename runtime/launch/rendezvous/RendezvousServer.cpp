//===- RendezvousServer.cpp - connections of rank 0 to other ranks --------===//

#include "runtime/launch/rendezvous/RendezvousServer.h"
#include "runtime/comm/WaitError.h"
#include "runtime/launch/rendezvous/Handshake.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/resource.h>
#include <unistd.h>

namespace pcc::runtime {

/// Raises the soft limit on open files to the hard limit, because rank 0 has a
/// socket for every other rank.
static void allowManyFiles() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

RendezvousServer::RendezvousServer(const JoinTerms &terms)
    : Peers(terms), peers(size_t(terms.self.worldSize)) {
  allowManyFiles();
}

RendezvousServer::~RendezvousServer() { removeFile(); }

void RendezvousServer::removeFile() {
  if (std::exchange(hasFile, false))
    unlink(terms.address.place.c_str());
}

Status RendezvousServer::listen() {
  Status status = listenAt(terms.address, listener);
  hasFile = status.ok() && terms.address.kind == Address::Kind::File;
  return status;
}

/// Omits the listening socket while kMostUnknownPeers handshakes are in
/// progress, so that no further connections are accepted.
void RendezvousServer::watch(std::vector<pollfd> &watched) const {
  const bool hasRoom = unknownPeers.size() < kMostUnknownPeers;
  watched.push_back({hasRoom ? listener.fd() : -1, POLLIN, 0});
  for (const UnknownPeer &stranger : unknownPeers)
    watched.push_back({stranger.connection.fd(), POLLIN, 0});
  for (const Peer &peer : peers)
    watched.push_back({peer.connection.fd(), POLLIN, 0});
}

/// Entry i of `watched` belongs to entry i of the list that watch() built.
/// Calls accept() last, because accept() appends to `unknownPeers`, and the
/// entries would no longer match.
void RendezvousServer::advance(std::span<const pollfd> watched) {
  for (size_t i = 0; i < unknownPeers.size(); ++i)
    greet(unknownPeers[i], watched[1 + i].revents != 0);
  const size_t first = 1 + unknownPeers.size();
  for (size_t rank = 0; rank < peers.size(); ++rank)
    if (watched[first + rank].revents != 0)
      readFrom(peers[rank]);
  std::erase_if(unknownPeers, [](const UnknownPeer &stranger) {
    return !stranger.connection.isOpen();
  });
  if (watched[0].revents != 0)
    accept();
}

/// Accepts waiting connections. If the process's limit on open files is
/// reached, ends the run with an error that advises to raise the limit.
void RendezvousServer::accept() {
  while (unknownPeers.size() < kMostUnknownPeers) {
    OpenFile socket(
        accept4(listener.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.isOpen() && (errno == EMFILE || errno == ENFILE))
      end(Status::error(WrongWorld,
                        "rank 0 cannot take " +
                            std::to_string(terms.self.worldSize - 1) +
                            " connections: " + std::strerror(errno),
                        {"raise the limit on open files (ulimit -n)"}));
    if (!socket.isOpen())
      return;
    const bool isOurs = isOfThisUser(socket.fd());
    UnknownPeer stranger{Connection(std::move(socket)), JobToken::challenge(),
                         Clock::now()};
    if (!isOurs)
      reject(stranger, "it was another user's");
    else if (stranger.connection.send(makeChallenge(stranger.challenge)))
      unknownPeers.push_back(std::move(stranger));
  }
}

void RendezvousServer::reject(UnknownPeer &stranger, const std::string &why) {
  ++numRejected;
  lastRejection = why;
  stranger.connection.close();
}

/// Reads the Hello frame of a new connection. Closes the connection if the peer
/// sends anything else or is too slow.
void RendezvousServer::greet(UnknownPeer &stranger, bool isReadable) {
  const bool isOpen = !isReadable || stranger.connection.receive();
  Frame frame;
  switch (stranger.connection.take(frame)) {
  case Parsed::Whole:
    return answer(stranger, frame);
  case Parsed::Garbage:
    return reject(stranger, "it did not speak pcc's protocol");
  case Parsed::OtherVersion:
    return refuse(stranger,
                  Status::error(DamagedBundle,
                                "rank 0 comes from a different build of pcc"));
  case Parsed::Partial:
    break;
  }
  if (!isOpen)
    reject(stranger, "it ended before it identified itself");
  else if (Clock::now() - stranger.since > kHandshakeTimeout)
    reject(stranger, "it did not identify itself");
}

/// Sends the reason `why` to a peer whose job or build differs, and closes the
/// connection. The job continues without this peer.
void RendezvousServer::refuse(UnknownPeer &stranger, const Status &why) {
  stranger.connection.send(
      {FrameKind::Refusal,
       encodeFields({{"code", std::to_string(int(why.code()))},
                     {"reason", why.message()}})});
  reject(stranger, why.message());
}

void RendezvousServer::answer(UnknownPeer &stranger, const Frame &frame) {
  const auto hello = readHello(frame, terms.token, stranger.challenge);
  if (!hello)
    return reject(stranger, "it did not identify itself");
  if (!hello->isProven)
    return refuse(stranger,
                  Status::error(WrongWorld, hello->facts.text() +
                                                " has another PCC_JOB_TOKEN "
                                                "than rank 0 at " +
                                                terms.address.text()));
  stranger.connection.send(
      makeWelcome(terms.token, {stranger.challenge, hello->challenge}));
  admit(stranger, hello->facts);
}

/// The result depends on `facts` and on the state of the run:
///
/// - `facts` do not fit, and all ranks are connected: the peer is a stray
///   process, and is refused.
/// - `facts` do not fit, and some ranks are not connected yet: the run ends,
///   because a rank of this job is wrong.
/// - The run has failed, possibly because of this peer: the peer gets the
///   verdict (first error) and is disconnected.
/// - Otherwise the peer is admitted.
void RendezvousServer::admit(UnknownPeer &stranger, const RankFacts &facts) {
  Status status = checkFacts(terms.self, facts);
  const bool isOfWorld = facts.rank > 0 && size_t(facts.rank) < peers.size();
  Peer *const peer = isOfWorld ? &peers[size_t(facts.rank)] : nullptr;
  if (status.ok() && peer->hasCome)
    status = Status::error(
        WrongWorld, facts.text() + " appears twice: as " + peer->facts.text(),
        {"two jobs meet at one address, or the launcher "
         "has given two processes one rank"});
  if (status.failed() && ready)
    return refuse(stranger, status);
  if (status.failed())
    end(status);
  if (verdict().failed()) {
    stranger.connection.send(farewell());
    stranger.connection.close();
    if (peer)
      peer->hasCome = peer->hasLeft = true;
    return;
  }
  *peer = {std::move(stranger.connection), facts, {}, true};
  if (terms.address.kind == Address::Kind::Tcp)
    watchHost(peer->connection.fd());
  if (++numCome < terms.self.worldSize - 1)
    return;
  ready = true;
  removeFile();
  tell({FrameKind::Ready});
}

void RendezvousServer::readFrom(Peer &peer) {
  const bool isOpen = peer.connection.receive();
  Frame frame;
  Parsed parsed = Parsed::Whole;
  while (peer.connection.isOpen() &&
         (parsed = peer.connection.take(frame)) == Parsed::Whole)
    hear(peer, frame);
  if (parsed == Parsed::Garbage || parsed == Parsed::OtherVersion)
    lose(peer, "it has sent an invalid message");
  else if (!isOpen)
    lose(peer, "its process has ended");
}

/// Processes a frame of an admitted rank. A rank may have at most 16 Data
/// messages that gather() has not read yet. Further Data messages are
/// discarded; a correct rank never sends that many in advance.
void RendezvousServer::hear(Peer &peer, const Frame &frame) {
  constexpr size_t most = 16;
  std::optional<int> lost;
  if (frame.kind == FrameKind::Data && peer.messages.size() < most)
    peer.messages.push_back(frame.payload);
  else if (frame.kind == FrameKind::Abort) {
    peer.hasLeft = true;
    const Status why = reasonIn(frame, lost);
    end(why, lost);
  } else if (frame.kind == FrameKind::Leave)
    peer.hasLeft = true;
}

void RendezvousServer::lose(Peer &peer, const std::string &how) {
  peer.connection.close();
  if (peer.hasLeft || verdict().failed())
    return;
  const RankFacts &facts = peer.facts;
  end(Status::error(PeerLost, "rank " + std::to_string(facts.rank) +
                                  " was lost: " + how + " (" +
                                  std::to_string(facts.pid) + " on " +
                                  facts.host + ")"),
      facts.rank);
}

std::string RendezvousServer::missing() const {
  std::vector<int> ranks;
  for (size_t rank = 1; rank < peers.size(); ++rank)
    if (!peers[rank].hasCome)
      ranks.push_back(int(rank));
  std::string text =
      listRanks(ranks) + " did not come to " + terms.address.text();
  if (numRejected > 0)
    text += "; " + std::to_string(numRejected) +
            " connections were rejected, the last because " + lastRejection;
  return text;
}

bool RendezvousServer::haveAllHeard() const {
  return std::all_of(peers.begin() + 1, peers.end(),
                     [](const Peer &peer) { return peer.hasCome; });
}

bool RendezvousServer::haveAllLeft() const {
  return std::all_of(peers.begin() + 1, peers.end(), [](const Peer &peer) {
    return peer.hasLeft || (peer.hasCome && !peer.connection.isOpen());
  });
}

bool RendezvousServer::take(std::vector<std::string> &messages) {
  if (std::any_of(peers.begin() + 1, peers.end(),
                  [](const Peer &peer) { return peer.messages.empty(); }))
    return false;
  for (size_t rank = 1; rank < peers.size(); ++rank) {
    messages.push_back(std::move(peers[rank].messages.front()));
    peers[rank].messages.pop_front();
  }
  return true;
}

void RendezvousServer::tell(const Frame &frame) {
  for (Peer &peer : peers)
    if (peer.connection.isOpen())
      peer.connection.send(frame);
}

} // namespace pcc::runtime
