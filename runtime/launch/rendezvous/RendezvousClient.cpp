//===- RendezvousClient.cpp - connection of other ranks to rank 0 ---------===//

#include "runtime/launch/rendezvous/RendezvousClient.h"
#include "status/PrintableText.h"

#include <algorithm>
#include <cstdio>

namespace pcc::runtime {

/// Time for which a rank pauses its search for rank 0 in three cases:
///
/// - The rank can begin no new connection attempt now, because all addresses
///   are tried, or because kMostAttempts attempts are in progress.
/// - All attempts have failed.
/// - Rank 0 has closed the connection before it has admitted the rank.
///
/// After a new attempt, the rank waits longer: kPatience or
/// kPatienceWithStrangers.
static constexpr std::chrono::milliseconds kPause(20);
/// Time for which a rank waits for an answer of rank 0 before the rank begins
/// another connection attempt. The previous attempt goes on. The time is less
/// than a second, because Linux repeats a lost TCP connection request only
/// after a second; another attempt can succeed earlier.
static constexpr std::chrono::milliseconds kPatience(250);
/// Time for which a rank waits for an answer of rank 0 before the rank begins
/// another connection attempt. This time applies after the rank has found a
/// process that is not rank 0 or does not answer. Before that, the longer time
/// kPatience applies.
static constexpr std::chrono::milliseconds kPatienceWithStrangers(50);
/// Time after which the search for rank 0 includes more TCP ports. Rank 0
/// listens at the first free port of 16 ports. Another rank tries only the
/// first port at the beginning of its search. If the search has lasted for this
/// time, the rank also tries the other 15 ports.
static constexpr std::chrono::seconds kWideSearch(1);
/// Time limit with two uses:
///
/// - A connection attempt ends if rank 0 has not answered within this time.
/// - After the answer, this rank sends Hello, the first encrypted message. If
///   rank 0 does not reply to Hello within this time, this rank closes the
///   connection and searches for rank 0 again.
static constexpr std::chrono::seconds kLongestAttempt(5);
/// Largest number of connection attempts that this rank makes at the same time.
/// Each attempt is a connection to an address at which rank 0 may listen. At
/// the limit, this rank begins no new attempt until another attempt has ended.
static constexpr size_t kMostAttempts = 128;

static constexpr const char *kStranger =
    "a process that does not know the job's token answered there";
static constexpr const char *kSilence =
    "the process that listens there does not answer";
static constexpr const char *kClosed =
    "the process that listens there closes the connection, as rank 0 of a job "
    "with another PCC_JOB_TOKEN does";

/// Does nothing if the run has failed. If this rank has not found rank 0,
/// continues the connection attempts and begins new ones. If this rank has
/// found rank 0, processes the messages of rank 0 that have arrived. If rank 0
/// does not admit this rank within 5 s (kLongestAttempt), this rank closes the
/// connection and searches again.
void RendezvousClient::advance() {
  if (verdict().failed())
    return;
  const std::vector<uint64_t> ids = events.take();
  if (state != ClientState::Searching) {
    if (!ids.empty())
      listen();
    else if (state == ClientState::Proving &&
             Clock::now() - provingSince > kLongestAttempt)
      loseServer();
    return;
  }
  for (const uint64_t id : ids)
    advanceAttempt(id);
  checkTimes();
  startAttempts();
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

/// Begins to connect to addresses at which rank 0 may listen. One call tries
/// all Unix sockets, but only one TCP address. The next call continues with the
/// next address. Skips an address if the connection fails at once, or if the
/// process there belongs to another user. At most kMostAttempts attempts are in
/// progress at the same time.
///
/// Sets `nextAttempt`, the time before which later calls do nothing. The pause
/// until this time is at least five times as long as this call.
void RendezvousClient::startAttempts() {
  const Clock::time_point now = Clock::now();
  if (state != ClientState::Searching || now < nextAttempt)
    return;
  Clock::duration pause = kPause;
  while (attempts.size() < kMostAttempts) {
    const SocketAddress *place = search.next();
    if (!place)
      break;
    if (!startAttempt(*place))
      continue;
    pause = hasOtherPlaces ? kPatienceWithStrangers : kPatience;
    if (terms.address.kind == Address::Kind::Tcp)
      break;
  }
  nextAttempt = now + std::max(pause, 5 * (Clock::now() - now));
}

bool RendezvousClient::startAttempt(const SocketAddress &place) {
  Connection made(connectTo(place));
  if (!made.isOpen())
    return false;
  if (!isOfThisUser(made.fd())) {
    trouble = "the process that listens there belongs to another user";
    return false;
  }
  const uint64_t id = ++numAttempts;
  events.add(made.fd(), id, /*forWriting=*/true);
  attempts.emplace(id, Attempt{std::move(made), Clock::now(), {}});
  return true;
}

void RendezvousClient::lookElsewhere() {
  hasOtherPlaces = true;
  search.widen();
}

/// Ends each connection attempt that has lasted for more than 5 s
/// (kLongestAttempt). If 128 attempts (kMostAttempts) are in progress, also
/// ends each attempt that has lasted for more than 250 ms (kPatience), so that
/// new attempts can begin.
///
/// Extends the search to more ports in two cases: if the search has lasted for
/// more than 1 s (kWideSearch), or if a process has accepted a connection but
/// has not answered within 250 ms.
void RendezvousClient::checkTimes() {
  const Clock::time_point now = Clock::now();
  if (now - begin > kWideSearch)
    search.widen();
  const Clock::duration longest = attempts.size() < kMostAttempts
                                      ? Clock::duration(kLongestAttempt)
                                      : Clock::duration(kPatience);
  std::vector<uint64_t> late;
  for (const auto &[id, attempt] : attempts) {
    if (!attempt.nonce.empty() && now - attempt.since > kPatience)
      lookElsewhere();
    if (now - attempt.since > longest)
      late.push_back(id);
  }
  for (const uint64_t id : late)
    endAttempt(id, kSilence);
}

/// Continues connection `id`, which this rank has opened in its search for rank
/// 0. The first call sends the first message to rank 0. If the connection could
/// not be established, the first call removes the connection instead. All later
/// calls read the reply of rank 0. No call blocks.
void RendezvousClient::advanceAttempt(uint64_t id) {
  const auto found = attempts.find(id);
  if (found == attempts.end())
    return;
  Attempt &attempt = found->second;
  if (!attempt.nonce.empty())
    return readAnswer(id, attempt);
  if (!isConnected(attempt.connection.fd()))
    return endAttempt(id, "no process listens there");
  attempt.nonce = randomNonce();
  attempt.connection.send(makeKnock(terms.token, attempt.nonce));
  events.change(attempt.connection.fd(), id);
}

void RendezvousClient::readAnswer(uint64_t id, Attempt &attempt) {
  const bool isOpen = attempt.connection.receive();
  Greeting answer;
  const Parsed parsed = attempt.connection.take(answer);
  if (parsed == Parsed::Partial && isOpen)
    return;
  if (parsed == Parsed::Partial)
    return endStranger(id, kClosed);
  if (parsed != Parsed::Whole)
    return endStranger(id, kStranger);
  const SessionKeys keys =
      deriveKeys(terms.token, {attempt.nonce, answer.nonce,
                               routeOf(attempt.connection.fd(), false)});
  if (!isProvenAnswer(keys, answer))
    return endStranger(id, kStranger);
  adopt(attempt, keys);
}

void RendezvousClient::adopt(Attempt &attempt, const SessionKeys &keys) {
  connection = std::move(attempt.connection);
  attempts.clear();
  connection.seal({keys, SealedChannel::Role::Client});
  connection.trust();
  connection.send({FrameKind::Hello, encodeFields(terms.self.toFields())});
  provingSince = Clock::now();
  state = ClientState::Proving;
}

void RendezvousClient::endAttempt(uint64_t id, const std::string &why) {
  attempts.erase(id);
  trouble = why;
  if (attempts.empty())
    nextAttempt = std::min(nextAttempt, Clock::now() + kPause);
}

/// Ends the connection attempt `id`, because the process at the other end is
/// not rank 0. Extends the search for rank 0 to more ports. Prints a note that
/// such a process was found and that the search continues. The search can last
/// for minutes, and the note tells the user about the problem early. Each rank
/// prints at most one note.
///
/// `what` describes the action of the process. If the process has only closed
/// the connection, prints the note only if the search has lasted for at least
/// two seconds. This delay avoids false notes, because rank 0 itself sometimes
/// closes a connection.
void RendezvousClient::endStranger(uint64_t id, const char *what) {
  endAttempt(id, what);
  lookElsewhere();
  if (!stranger || what == kStranger)
    stranger = what;
  if ((what == kClosed && Clock::now() - begin < 2 * kWideSearch) ||
      std::exchange(hasToldUser, true))
    return;
  std::fprintf(stderr,
               "note: rank %d looks for rank 0 at %s, but %s; the search goes "
               "on\n",
               terms.self.rank, printable(terms.address.text()).c_str(), what);
}

std::string RendezvousClient::missing() const {
  const std::string where = terms.address.text();
  if (state == ClientState::Welcome)
    return "rank 0 at " + where + " waits for others";
  const bool isSilent =
      std::any_of(attempts.begin(), attempts.end(), [](const auto &entry) {
        return !entry.second.nonce.empty();
      });
  return "rank 0 was not found at " + where + ": " +
         (stranger   ? stranger
          : isSilent ? kSilence
                     : trouble);
}

//===----------------------------------------------------------------------===//
// Rank 0
//===----------------------------------------------------------------------===//

void RendezvousClient::listen() {
  const bool isOpen = connection.receive();
  Frame frame;
  Parsed parsed = Parsed::Partial;
  while (verdict().ok() && (parsed = connection.take(frame)) == Parsed::Whole)
    hear(frame);
  if (!isOpen || parsed == Parsed::Garbage)
    loseServer();
}

void RendezvousClient::loseServer() {
  if (verdict().failed())
    return;
  connection = Connection();
  if (state == ClientState::Proving) {
    state = ClientState::Searching;
    trouble = "rank 0 has closed the connection";
    nextAttempt = Clock::now() + kPause;
    return;
  }
  conclude(Status::error(PeerLost, "rank 0 was lost: its process has ended"),
           0);
}

/// Processes `frame`, a message of rank 0. Refusal and Abort contain an error,
/// with which the run ends on this rank. Welcome means that rank 0 has admitted
/// this rank. Ready means that all ranks have connected to rank 0. Data
/// contains data, which take() removes later. The message needs no check of its
/// sender. The message was decrypted with a key that only rank 0 and this rank
/// have.
void RendezvousClient::hear(const Frame &frame) {
  std::optional<int> lost;
  if (frame.kind == FrameKind::Refusal) {
    const Status why = reasonIn(frame, lost);
    conclude(why, {});
  } else if (frame.kind == FrameKind::Welcome) {
    state = ClientState::Welcome;
    if (terms.address.kind == Address::Kind::Tcp)
      watchHost(connection.fd());
  } else if (frame.kind == FrameKind::Ready) {
    ready = true;
  } else if (frame.kind == FrameKind::Data) {
    messages.push_back(frame.payload);
  } else if (frame.kind == FrameKind::Abort) {
    const Status why = reasonIn(frame, lost);
    conclude(why, lost);
  }
}

bool RendezvousClient::take(std::vector<std::string> &taken) {
  if (messages.empty())
    return false;
  taken.push_back(std::move(messages.front()));
  messages.pop_front();
  return true;
}

void RendezvousClient::tell(const Frame &frame) {
  if (state == ClientState::Welcome)
    connection.send(frame);
}

} // namespace pcc::runtime
