//===- RendezvousClient.cpp - connection of other ranks to rank 0 ---------===//

#include "runtime/launch/rendezvous/RendezvousClient.h"

namespace pcc::runtime {

/// Time between two attempts to connect to rank 0.
static constexpr std::chrono::milliseconds kPause(20);

Status RendezvousClient::resolve() {
  return runtime::resolve(terms.address, places);
}

void RendezvousClient::watch(std::vector<pollfd> &watched) const {
  const short events = state == ClientState::Connecting ? POLLOUT : POLLIN;
  watched.push_back({verdict().ok() ? connection.fd() : -1, events, 0});
}

void RendezvousClient::connect() {
  if (Clock::now() < nextTry)
    return;
  since = Clock::now();
  connection = Connection(connectTo(places[numTries++ % places.size()]));
  if (connection.isOpen())
    state = ClientState::Connecting;
  else
    retryLater("no process listens there");
}

/// Closes the connection, and connects again after kPause. The process at the
/// address may be another program, or rank 0 may not listen yet.
void RendezvousClient::retryLater(const std::string &why) {
  connection = Connection();
  state = ClientState::Apart;
  trouble = why;
  nextTry = Clock::now() + kPause;
}

/// Advances the handshake with rank 0: checks the timeout, then the state of
/// the socket, then processes received frames.
void RendezvousClient::advance(std::span<const pollfd> watched) {
  if (verdict().failed())
    return;
  if (state == ClientState::Apart)
    return connect();
  if (state != ClientState::Welcome && Clock::now() - since > kHandshakeTimeout)
    return retryLater("the process that listens there does not answer");
  if (watched[0].revents == 0)
    return;
  if (state == ClientState::Connecting) {
    if (!isConnected(connection.fd()))
      return retryLater("no process listens there");
    if (!isOfThisUser(connection.fd()))
      return retryLater(
          "the process that listens there belongs to another user");
    state = ClientState::Greeting;
    return;
  }
  const bool isOpen = connection.receive();
  Frame frame;
  Parsed parsed = Parsed::Partial;
  while (connection.isOpen() &&
         (parsed = connection.take(frame)) == Parsed::Whole)
    hear(frame);
  if (parsed == Parsed::OtherVersion)
    conclude(
        Status::error(DamagedBundle,
                      "rank 0 at " + terms.address.text() +
                          " comes from a different build of pcc than rank " +
                          std::to_string(terms.self.rank)),
        {});
  if (!isOpen || parsed == Parsed::Garbage)
    loseServer();
}

void RendezvousClient::loseServer() {
  if (verdict().failed())
    return;
  if (state != ClientState::Welcome)
    return retryLater(
        "the process that listens there does not speak pcc's protocol");
  connection.close();
  conclude(Status::error(PeerLost, "rank 0 was lost: its process has ended"),
           0);
}

/// Processes `frame` according to the state of the handshake.
///
/// - A Refusal counts only after this rank has sent its proof (HMAC of the job
///   token).
/// - An unexpected frame during the handshake means that the peer is not pcc.
///   This rank then connects again later.
void RendezvousClient::hear(const Frame &frame) {
  std::optional<int> lost;
  const bool mayBeRefused = state == ClientState::Proving ||
                            (state == ClientState::Welcome && !ready);
  if (frame.kind == FrameKind::Refusal && mayBeRefused) {
    const Status why = reasonIn(frame, lost);
    conclude(why, {});
  } else if (frame.kind == FrameKind::Challenge &&
             state == ClientState::Greeting) {
    answer(frame);
  } else if (frame.kind == FrameKind::Welcome &&
             state == ClientState::Proving) {
    checkWelcome(frame);
  } else if (state != ClientState::Welcome) {
    retryLater("the process that listens there does not speak pcc's protocol");
  } else if (frame.kind == FrameKind::Ready) {
    ready = true;
  } else if (frame.kind == FrameKind::Data) {
    messages.push_back(frame.payload);
  } else if (frame.kind == FrameKind::Abort) {
    const Status why = reasonIn(frame, lost);
    conclude(why, lost);
  }
}

void RendezvousClient::answer(const Frame &challenge) {
  const auto server = challengeIn(challenge);
  if (!server)
    return retryLater(
        "the process that listens there does not speak pcc's protocol");
  challenges = {*server, JobToken::challenge()};
  connection.send(makeHello(terms.token, challenges, terms.self));
  state = ClientState::Proving;
}

void RendezvousClient::checkWelcome(const Frame &welcome) {
  if (!isProven(welcome, terms.token, challenges))
    return retryLater(
        "the process that listens there does not know PCC_JOB_TOKEN");
  state = ClientState::Welcome;
  if (terms.address.kind == Address::Kind::Tcp)
    watchHost(connection.fd());
}

std::string RendezvousClient::missing() const {
  return state == ClientState::Welcome
             ? "rank 0 at " + terms.address.text() + " waits for others"
             : "rank 0 was not found at " + terms.address.text() + ": " +
                   trouble;
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
