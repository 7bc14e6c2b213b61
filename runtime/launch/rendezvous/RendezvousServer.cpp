//===- RendezvousServer.cpp - connections of rank 0 to other ranks --------===//

#include "runtime/launch/rendezvous/RendezvousServer.h"
#include "runtime/comm/WaitError.h"
#include "runtime/launch/rendezvous/MeetingPlace.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/resource.h>
#include <unistd.h>

namespace pcc::runtime {

/// Raises the soft limit on open files of this process to the hard limit,
/// because rank 0 needs one socket for each other rank. Returns the hard limit.
/// If the limits cannot be read, returns 1024.
static size_t allowManyFiles() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return 1024;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

/// Returns the largest number of connections in each of the two classes of
/// UnknownPeers, which holds connections whose handshake is not complete. First
/// raises the limit on open files to the hard limit. One file per rank and 512
/// files for weights and libraries are reserved. The result is a quarter of the
/// other files, but at least 16 and at most 2048. For example, 4096 files and 8
/// ranks give (4096 - 8 - 512) / 4 = 894.
static size_t mostUnknownPeers(int worldSize) {
  constexpr size_t least = 16, most = 2048, others = 512;
  const size_t limit = allowManyFiles(), used = size_t(worldSize) + others;
  return std::clamp((limit - std::min(limit, used)) / 4, least, most);
}

RendezvousServer::RendezvousServer(const JoinTerms &terms)
    : Peers(terms), unknownPeers(mostUnknownPeers(terms.self.worldSize)),
      peers(size_t(terms.self.worldSize)) {}

RendezvousServer::~RendezvousServer() { removeFile(); }

void RendezvousServer::removeFile() {
  if (std::exchange(hasFile, false))
    unlink(place.place.c_str());
}

Status RendezvousServer::listen() {
  PCC_RETURN_IF_ERROR(listenAt(terms.address, listener, place));
  hasFile = place.kind == Address::Kind::File;
  events.add(listener.fd(), 0);
  return Status::success();
}

/// Performs three steps:
///
/// 1. Reads the messages that have arrived on open connections.
/// 2. Closes the connections whose handshake has taken longer than 5 seconds.
/// 3. Accepts new connections.
///
/// The number of connections without a complete handshake is limited. At the
/// limit, step 3 closes an old connection for each new connection. A message
/// may have arrived on the old connection. Step 1 precedes step 3, so that rank
/// 0 reads this message before it closes the old connection.
void RendezvousServer::advance() {
  for (const uint64_t id : events.take())
    if (id >= UnknownPeers::kFirst)
      greet(id);
    else if (id > 0 && peers[id].connection.isOpen())
      readFrom(peers[id]);
  if (const int numExpired = unknownPeers.removeExpired()) {
    numRejected += numExpired;
    lastRejection = "it did not identify itself";
  }
  accept();
}

/// Accepts up to 256 connections that wait at the listening socket. If the
/// process has reached its limit on open files, closes a connection whose
/// handshake is not complete, and tries again. If all handshakes are complete,
/// no connection can be closed, and the run ends with an error.
void RendezvousServer::accept() {
  constexpr int most = 256;
  for (int i = 0; i < most; ++i) {
    OpenFile socket(
        accept4(listener.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    const bool isFull =
        !socket.isOpen() && (errno == EMFILE || errno == ENFILE);
    if (isFull && unknownPeers.removeOldest())
      continue;
    if (isFull)
      end(Status::error(WrongWorld,
                        "rank 0 cannot take " +
                            std::to_string(terms.self.worldSize - 1) +
                            " connections: " + std::strerror(errno),
                        {"raise the limit on open files (ulimit -n)"}));
    if (!socket.isOpen())
      return;
    socket = withHighNumber(std::move(socket));
    if (!isOfThisUser(socket.fd())) {
      ++numRejected;
      lastRejection = "it was another user's";
      continue;
    }
    const int fd = socket.fd();
    events.add(fd, unknownPeers.add(Connection(std::move(socket))));
  }
}

void RendezvousServer::reject(uint64_t id, const std::string &why) {
  ++numRejected;
  lastRejection = why;
  unknownPeers.remove(id);
}

void RendezvousServer::greet(uint64_t id) {
  UnknownPeer *const stranger = unknownPeers.find(id);
  if (!stranger)
    return;
  const bool isOpen = stranger->connection.receive();
  if (stranger->isAnswered)
    readHello(id, *stranger);
  else
    readKnock(id, *stranger);
  if (isOpen || !unknownPeers.find(id))
    return;
  // The peer has closed this connection. A rank can open several connections to
  // rank 0. The rank keeps the first connection on which rank 0 answers, and
  // closes its other connections. `isAnswered` is true if rank 0 has answered
  // on this connection. The end of an answered connection is therefore normal,
  // and is not counted as a rejection. The end of a connection without an
  // answer is counted as a rejection.
  if (stranger->isAnswered)
    unknownPeers.remove(id);
  else
    reject(id, "it ended before it identified itself");
}

void RendezvousServer::readKnock(uint64_t id, UnknownPeer &stranger) {
  Greeting knock;
  const Parsed parsed = stranger.connection.take(knock);
  if (parsed == Parsed::Partial)
    return;
  if (parsed == Parsed::OtherVersion)
    return reject(id, "it came from another build of pcc");
  if (parsed == Parsed::Garbage)
    return reject(id, "it did not speak pcc's protocol");
  if (!isProvenKnock(terms.token, knock))
    return reject(id, "it did not know the job's token");
  const Session session = {knock.nonce, randomNonce(),
                           routeOf(stranger.connection.fd(), true)};
  const SessionKeys keys = deriveKeys(terms.token, session);
  stranger.connection.send(makeAnswer(keys, session));
  stranger.connection.seal({keys, SealedChannel::Role::Server});
  unknownPeers.setAnswered(id);
}

/// Decrypts Hello, the first encrypted message of a connection. Hello contains
/// the identity of the sender, such as its rank and its bundle. The encryption
/// key derives from the secret of the job. If the decryption succeeds, the
/// sender therefore knows the secret. The function then passes the identity to
/// admit(), which checks whether the identity fits the job. If the decryption
/// fails, or if the identity is incomplete, the function closes the connection.
/// If Hello has not arrived completely, the function does nothing.
void RendezvousServer::readHello(uint64_t id, UnknownPeer &stranger) {
  Frame hello;
  const Parsed parsed = stranger.connection.take(hello);
  if (parsed == Parsed::Partial)
    return;
  const auto facts = parsed == Parsed::Whole && hello.kind == FrameKind::Hello
                         ? RankFacts::fromFields(decodeFields(hello.payload))
                         : std::nullopt;
  if (!facts)
    return reject(id, "it did not know the job's token");
  Connection connection = std::move(stranger.connection);
  unknownPeers.remove(id);
  connection.trust();
  admit(std::move(connection), *facts);
}

/// Checks `facts`, the identity of the peer of `connection`. The peer must have
/// the same number of ranks and the same bundle as rank 0. Its rank must be in
/// range and not yet connected. If the identity fits, adds the peer to `peers`
/// and sends Welcome. After the last rank, sends Ready to all ranks except rank
/// 0. If the run has failed, sends the error of the run instead. If the
/// identity does not fit, sends an error. The run then ends if some ranks have
/// not connected yet, and continues otherwise.
void RendezvousServer::admit(Connection connection, const RankFacts &facts) {
  Status status = checkFacts(terms.self, facts);
  const bool isOfWorld = facts.rank > 0 && size_t(facts.rank) < peers.size();
  Peer *const peer = isOfWorld ? &peers[size_t(facts.rank)] : nullptr;
  if (status.ok() && peer->hasCome)
    status = Status::error(
        WrongWorld, facts.text() + " appears twice: as " + peer->facts.text(),
        {"two jobs meet at one address, or the launcher "
         "has given two processes one rank"});
  if (status.failed() && ready)
    return connection.send(refusal(status));
  if (status.failed())
    end(status);
  if (verdict().failed()) {
    connection.send(farewell());
    if (peer)
      peer->hasCome = peer->hasLeft = true;
    return;
  }
  connection.send({FrameKind::Welcome});
  events.change(connection.fd(), uint64_t(facts.rank));
  *peer = {std::move(connection), facts, {}, true};
  if (terms.address.kind == Address::Kind::Tcp)
    watchHost(peer->connection.fd());
  if (++numCome < terms.self.worldSize - 1)
    return;
  ready = true;
  removeFile();
  // All ranks have connected, so rank 0 rejects every process that connects
  // later. While the listening socket is in `events`, each new connection wakes
  // the thread that calls advance(). Many new connections could thus wake the
  // thread very often. The next line therefore removes the listening socket
  // from `events`. The thread also calls advance() about ten times a second
  // without an event. Each of these calls accepts the connections that other
  // processes have opened since the previous call. Rank 0 then rejects these
  // processes.
  events.remove(listener.fd());
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
    lose(peer, "a message was changed on its way");
  else if (!isOpen)
    lose(peer, "its process has ended");
}

/// Processes `frame`, a message from the admitted rank `peer`:
///
/// - Data: Stores the content of the message until take() removes it. If 16
///   messages of this rank are stored already, discards the message. A correct
///   rank never exceeds this limit.
/// - Abort: The rank has failed. Sets `hasLeft`, and ends the run with the
///   error in the message.
/// - Leave: The rank has finished its work. Sets `hasLeft`.
///
/// Ignores all other messages.
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
  std::string text = listRanks(ranks) + " did not come to " + place.text();
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
