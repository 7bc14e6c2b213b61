//===- DeadlockCheck.cpp - deadlock proof of a pipeline with messages -----===//

#include "passes/plan/schedule/DeadlockCheck.h"

#include <algorithm>
#include <map>

namespace pcc::plan {
namespace {

/// Messages from one pipeline position to another, in the order of posting:
/// sends that the sender has posted, and receives that the receiver has posted.
struct Channel {
  std::vector<Message> sent, received;

  /// Returns the number of delivered messages. A message is delivered once the
  /// sender has posted its send and the receiver has posted its receive.
  size_t met() const { return std::min(sent.size(), received.size()); }
};

/// Name of a message: its transfer (value between two stages) and its
/// microbatch.
using MessageName = std::pair<int, int>;
MessageName nameOf(const Message &message) {
  return {message.transfer, message.microbatch};
}

/// A set of pairs of a row number and a microbatch. A row can stand for a
/// transfer between stages, for example.
class Marks {
public:
  explicit Marks(size_t numRows) : rows(numRows) {}

  void set(size_t row, int microbatch) {
    if (rows[row].size() <= size_t(microbatch))
      rows[row].resize(microbatch + 1, false);
    rows[row][microbatch] = true;
  }
  bool has(size_t row, int microbatch) const {
    return size_t(microbatch) < rows[row].size() && rows[row][microbatch];
  }

private:
  std::vector<std::vector<char>> rows;
};

/// Executes the programs of all pipeline positions with rendezvous messages.
/// Invariant: position p has executed its first at[p] steps.
class DeadlockCheck {
public:
  explicit DeadlockCheck(const PipelineProgram &program)
      : program(program), count(program.positions.size()), at(count, 0),
        open(count), into(program.positionOfStage.size()),
        made(into.size() * 3), arrived(program.transfers.size()) {
    for (size_t t = 0; t < program.transfers.size(); ++t)
      into[program.transfers[t].toStage].push_back(static_cast<int>(t));
  }

  ReplayResult run();

private:
  /// Messages that a pipeline position has posted and not yet waited for. Maps
  /// the name of each message to its index in Channel::sent (for a send) or
  /// Channel::received (for a receive).
  using OpenMessages = std::map<MessageName, size_t>;
  struct OpenEnds {
    OpenMessages sends, receives;
  };

  /// Executes steps of a pipeline position until it blocks at a wait or ends.
  /// Appends to `awake` the positions that its messages may unblock.
  void advance(int position, std::vector<int> &awake);
  void post(int position, const ProgramStep &step, std::vector<int> &awake);
  void compare(int from, int to);
  /// Executes a wait if all of its messages are delivered, and returns whether
  /// they are. Records an error if a message was never posted by `position`.
  bool await(int position, const ProgramStep &step);
  bool isThrough(int position, const Message &message, bool isSend);
  void checkAction(int position, const Action &action);
  /// Records an error if a pipeline position ends with messages that it has not
  /// waited for.
  void checkEnd(int position);
  static size_t rowOf(int stage, TransferKind kind) {
    return size_t(stage) * 3 + static_cast<size_t>(kind);
  }
  /// Records the error, unless there is one already.
  void fail(std::string text) {
    if (result.error.empty())
      result.error = std::move(text);
  }
  int waitsFor(int position, std::string *what);
  void explainDeadlock(int start);
  std::string place(int position) const {
    return "position " + std::to_string(position);
  }

  const PipelineProgram &program;
  const size_t count;
  std::vector<size_t> at;
  std::vector<OpenEnds> open;
  /// For each stage: indices of the transfers that the stage receives.
  std::vector<std::vector<int>> into;
  /// For each pair of a sending and a receiving pipeline position: the messages
  /// from the first to the second.
  std::map<std::pair<int, int>, Channel> channels;
  /// Sets of pairs of a row and a microbatch. `made` has the values that stages
  /// have computed, with one row per stage and kind of value (rowOf). `arrived`
  /// has the received values that a pipeline position has waited for, with one
  /// row per transfer (value between two stages).
  Marks made, arrived;
  ReplayResult result;
};

/// Records an error unless the pipeline position has waited for each input of
/// `action` from another position. Then records its results as computed.
void DeadlockCheck::checkAction(int position, const Action &action) {
  for (int t : into[action.stage]) {
    const Transfer &transfer = program.transfers[t];
    const bool remote = program.positionOfStage[transfer.fromStage] != position;
    const int microbatch = microbatchOf(action, transfer);
    if (remote && uses(action, transfer) && !arrived.has(t, microbatch))
      fail(place(position) + " runs " + print(action) +
           " before it has received " + nameOf(program, {t, microbatch, 0}));
  }
  for (TransferKind kind :
       {TransferKind::Forward, TransferKind::Backward, TransferKind::Update})
    if (belongsTo(action, kind))
      made.set(rowOf(action.stage, kind), action.microbatch);
}

/// Compares the send and the receive of the last delivered message between two
/// pipeline positions. Records an error if their values differ.
void DeadlockCheck::compare(int from, int to) {
  const Channel &channel = channels[{from, to}];
  if (channel.met() == 0)
    return;
  const Message &sent = channel.sent[channel.met() - 1];
  const Message &received = channel.received[channel.met() - 1];
  if (sent.transfer != received.transfer ||
      sent.microbatch != received.microbatch)
    fail(place(from) + " sends " + nameOf(program, sent) + " to " + place(to) +
         ", which expects " + nameOf(program, received));
}

/// Posts the sends and receives of a step. Appends to `awake` the pipeline
/// positions at the far ends, which may unblock.
void DeadlockCheck::post(int position, const ProgramStep &step,
                         std::vector<int> &awake) {
  auto add = [&](const Message &message, OpenMessages &ends,
                 std::vector<Message> &posted) {
    if (!ends.insert({nameOf(message), posted.size()}).second)
      fail(place(position) + " posts " + nameOf(program, message) + " twice");
    posted.push_back(message);
    awake.push_back(message.peer);
  };
  for (const Message &message : step.sends) {
    const Transfer &transfer = program.transfers[message.transfer];
    const int number = transfer.kind == TransferKind::Update
                           ? transfer.part
                           : message.microbatch;
    if (!made.has(rowOf(transfer.fromStage, transfer.kind), number))
      fail(place(position) + " sends " + nameOf(program, message) +
           " before it has computed it");
    add(message, open[position].sends, channels[{position, message.peer}].sent);
    compare(position, message.peer);
  }
  for (const Message &message : step.receives) {
    add(message, open[position].receives,
        channels[{message.peer, position}].received);
    compare(message.peer, position);
  }
}

/// Returns whether a message is delivered, that is, posted at both ends.
/// Records an error if `position` has not posted it.
bool DeadlockCheck::isThrough(int position, const Message &message,
                              bool isSend) {
  const OpenMessages &ends =
      isSend ? open[position].sends : open[position].receives;
  auto it = ends.find(nameOf(message));
  if (it == ends.end()) {
    fail(place(position) + " waits for " + nameOf(program, message) +
         ", which it has not posted");
    return false;
  }
  const auto [from, to] = isSend ? std::pair(position, message.peer)
                                 : std::pair(message.peer, position);
  return it->second < channels[{from, to}].met();
}

bool DeadlockCheck::await(int position, const ProgramStep &step) {
  for (const Message &message : step.sends)
    if (!isThrough(position, message, /*isSend=*/true))
      return false;
  for (const Message &message : step.receives)
    if (!isThrough(position, message, /*isSend=*/false))
      return false;
  for (const Message &message : step.sends)
    open[position].sends.erase(nameOf(message));
  for (const Message &message : step.receives) {
    open[position].receives.erase(nameOf(message));
    arrived.set(message.transfer, message.microbatch);
  }
  return true;
}

void DeadlockCheck::checkEnd(int position) {
  for (const OpenMessages *ends :
       {&open[position].sends, &open[position].receives})
    if (!ends->empty()) {
      const auto [transfer, microbatch] = ends->begin()->first;
      fail(place(position) + " ends without having waited for " +
           nameOf(program, {transfer, microbatch, 0}));
    }
}

void DeadlockCheck::advance(int position, std::vector<int> &awake) {
  const PositionProgram &steps = program.positions[position];
  for (; at[position] < steps.size(); ++at[position]) {
    const ProgramStep &step = steps[at[position]];
    if (step.kind == ProgramStep::Compute)
      checkAction(position, step.action);
    if (step.kind == ProgramStep::Post)
      post(position, step, awake);
    if (step.kind == ProgramStep::Wait && !await(position, step))
      return;
  }
  checkEnd(position);
}

/// Returns the pipeline position at the far end of the first message that
/// `position` waits for; -1 if `position` has ended and waits for none.
/// Describes the message in `what`.
int DeadlockCheck::waitsFor(int position, std::string *what) {
  const PositionProgram &steps = program.positions[position];
  if (at[position] == steps.size())
    return -1;
  const ProgramStep &step = steps[at[position]];
  for (const Message &message : step.sends)
    if (!isThrough(position, message, /*isSend=*/true)) {
      *what = place(position) + " sends " + nameOf(program, message) + " to " +
              place(message.peer);
      return message.peer;
    }
  for (const Message &message : step.receives)
    if (!isThrough(position, message, /*isSend=*/false)) {
      *what = place(position) + " receives " + nameOf(program, message) +
              " from " + place(message.peer);
      return message.peer;
    }
  return -1;
}

/// Records the error of a replay that cannot continue. Follows the pipeline
/// positions from `start`, each to the one that it waits for, until:
///  - a position is reached twice: a deadlock; or
///  - a position has ended: it never posts the message that another position
///    waits for.
void DeadlockCheck::explainDeadlock(int start) {
  std::vector<int> path;
  std::vector<std::string> claims;
  for (int position = start;;) {
    auto seen = std::find(path.begin(), path.end(), position);
    if (seen != path.end()) {
      claims.erase(claims.begin(), claims.begin() + (seen - path.begin()));
      result.cycle.assign(seen, path.end());
      break;
    }
    std::string claim;
    const int next = waitsFor(position, &claim);
    if (next < 0)
      break;
    path.push_back(position);
    claims.push_back(claim);
    position = next;
  }
  std::string text;
  for (const std::string &claim : claims)
    text += (text.empty() ? "" : ", ") + claim;
  fail(result.cycle.empty() ? text + ", which has come to its end"
                            : "deadlock: " + text);
}

/// Executes the programs of all pipeline positions. `awake` lists the positions
/// that may be able to continue. A position that posts a message adds the peer
/// of the message to this list. Once the list is empty, each position that has
/// not ended its program waits forever.
ReplayResult DeadlockCheck::run() {
  std::vector<int> awake;
  for (size_t position = count; position-- > 0;)
    awake.push_back(static_cast<int>(position));
  while (!awake.empty() && result.error.empty()) {
    const int position = awake.back();
    awake.pop_back();
    advance(position, awake);
  }
  for (size_t position = 0; position < count && result.error.empty();
       ++position)
    if (at[position] < program.positions[position].size())
      explainDeadlock(static_cast<int>(position));
  return result;
}

} // namespace

ReplayResult replay(const PipelineProgram &program) {
  return DeadlockCheck(program).run();
}

} // namespace pcc::plan
