//===- Guest.cpp - another rank's connection to rank 0 --------------------===//

#include "runtime/launch/rendezvous/Guest.h"

namespace pcc::runtime {

/// Between two tries.
static constexpr std::chrono::milliseconds kPause(20);

Status Guest::resolve() { return runtime::resolve(terms.address, places); }

void Guest::watch(std::vector<pollfd> &watched) const {
  const short events = state == State::Connecting ? POLLOUT : POLLIN;
  watched.push_back({verdict().ok() ? connection.fd() : -1, events, 0});
}

void Guest::connect() {
  if (Clock::now() < nextTry)
    return;
  since = Clock::now();
  connection = Connection(connectTo(places[numTries++ % places.size()]));
  if (connection.isOpen())
    state = State::Connecting;
  else
    retreat("nobody listens there");
}

/// Leaves who is not, or not yet, rank 0.
void Guest::retreat(const std::string &why) {
  connection = Connection();
  state = State::Apart;
  trouble = why;
  nextTry = Clock::now() + kPause;
}

void Guest::turn(std::span<const pollfd> watched) {
  if (verdict().failed())
    return;
  if (state == State::Apart)
    return connect();
  if (state != State::Welcome && Clock::now() - since > kGreetingPatience)
    return retreat("who listens there does not answer");
  if (watched[0].revents == 0)
    return;
  if (state == State::Connecting) {
    if (!isConnected(connection.fd()))
      return retreat("nobody listens there");
    if (!isOfThisUser(connection.fd()))
      return retreat("it is another user's process that listens there");
    state = State::Greeting;
    return;
  }
  const bool isOpen = connection.receive();
  Frame frame;
  Parsed parsed = Parsed::Partial;
  while (connection.isOpen() &&
         (parsed = connection.take(frame)) == Parsed::Whole)
    hear(frame);
  if (parsed == Parsed::OtherVersion)
    conclude(Status::error(DamagedBundle,
                           "rank 0 at " + terms.address.text() +
                               " is of another build of pcc than rank " +
                               std::to_string(terms.self.rank)),
             {});
  if (!isOpen || parsed == Parsed::Garbage)
    loseHost();
}

void Guest::loseHost() {
  if (verdict().failed())
    return;
  if (state != State::Welcome)
    return retreat("who listens there does not speak as pcc does");
  connection.close();
  conclude(Status::error(PeerLost, "rank 0 was lost: its process has ended"),
           0);
}

void Guest::hear(const Frame &frame) {
  std::optional<int> lost;
  const bool mayBeRefused =
      state == State::Proving || (state == State::Welcome && !ready);
  if (frame.kind == FrameKind::Refusal && mayBeRefused) {
    const Status why = reasonIn(frame, lost);
    conclude(why, {});
  } else if (frame.kind == FrameKind::Challenge && state == State::Greeting) {
    answer(frame);
  } else if (frame.kind == FrameKind::Welcome && state == State::Proving) {
    checkWelcome(frame);
  } else if (state != State::Welcome) {
    retreat("who listens there does not speak as pcc does");
  } else if (frame.kind == FrameKind::Ready) {
    ready = true;
  } else if (frame.kind == FrameKind::Data) {
    messages.push_back(frame.payload);
  } else if (frame.kind == FrameKind::Abort) {
    const Status why = reasonIn(frame, lost);
    conclude(why, lost);
  }
}

void Guest::answer(const Frame &challenge) {
  hostsChallenge = fromHex(decodeFields(challenge.payload)["challenge"]);
  ownChallenge = JobToken::challenge();
  if (hostsChallenge.size() != ownChallenge.size())
    return retreat("who listens there does not speak as pcc does");
  Fields fields = terms.self.toFields();
  const std::string proof =
      terms.token.proof(JobToken::Role::Guest, hostsChallenge, ownChallenge,
                        encodeFields(fields));
  fields["challenge"] = toHex(ownChallenge);
  fields["proof"] = toHex(proof);
  connection.send({FrameKind::Hello, encodeFields(fields)});
  state = State::Proving;
}

void Guest::checkWelcome(const Frame &welcome) {
  const std::string proof = fromHex(decodeFields(welcome.payload)["proof"]);
  if (!JobToken::areEqual(proof,
                          terms.token.proof(JobToken::Role::Host,
                                            hostsChallenge, ownChallenge, "")))
    return retreat("who listens there does not know PCC_JOB_TOKEN");
  state = State::Welcome;
  if (terms.address.kind == Address::Kind::Tcp)
    watchHost(connection.fd());
}

std::string Guest::missing() const {
  return state == State::Welcome
             ? "rank 0 at " + terms.address.text() + " waits for others"
             : "rank 0 was not found at " + terms.address.text() + ": " +
                   trouble;
}

bool Guest::take(std::vector<std::string> &taken) {
  if (messages.empty())
    return false;
  taken.push_back(std::move(messages.front()));
  messages.pop_front();
  return true;
}

void Guest::tell(const Frame &frame) {
  if (state == State::Welcome)
    connection.send(frame);
}

} // namespace pcc::runtime
