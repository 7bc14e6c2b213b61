//===- RendezvousClient.cpp - connection of other ranks to rank 0 ---------===//

#include "runtime/launch/rendezvous/RendezvousClient.h"
#include "status/PrintableText.h"

#include <algorithm>
#include <cstdio>

namespace pcc::runtime {

/// Pause between two rounds over the addresses at which rank 0 may listen.
static constexpr std::chrono::milliseconds kPause(20);
/// Time without an answer after which another connection is tried as well.
/// Linux itself repeats a dropped connection request only after a second.
static constexpr std::chrono::milliseconds kPatience(250);
/// Shorter kPatience, used after a process that is not rank 0 has answered.
static constexpr std::chrono::milliseconds kPatienceWithStrangers(50);
/// Time after which the search for rank 0 includes other ports than the first.
static constexpr std::chrono::seconds kWideSearch(1);
/// Longest time of a connection attempt, and of the reply to Hello (the first
/// encrypted frame).
static constexpr std::chrono::seconds kLongestAttempt(5);
/// Largest number of simultaneous connection attempts.
static constexpr size_t kMostAttempts = 128;

static constexpr const char *kStranger =
    "a process that does not know the job's token answered there";
static constexpr const char *kSilence =
    "the process that listens there does not answer";
static constexpr const char *kClosed =
    "the process that listens there closes the connection, as rank 0 of a job "
    "with another PCC_JOB_TOKEN does";

/// Advances the search for rank 0, or reads its frames.
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

/// Skips addresses that refuse the connection or belong to other users. Tries
/// all Unix sockets of a round together, but TCP addresses one by one. A round
/// that takes long is followed by a longer pause.
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

/// Ends attempts after kLongestAttempt. If the maximum number is reached, ends
/// them already after kPatience.
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

/// Sends a Knock (first message to rank 0) when the socket is connected, then
/// waits for the Answer.
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

/// Tells the user early, because the search may last for minutes. Mentions a
/// connection that was merely closed only if the search lasts, because rank 0
/// also closes connections.
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

/// Trusts all frames, because the keys of the connection prove that rank 0
/// sends them.
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
