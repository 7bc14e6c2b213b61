//===- DeadlockCheck.cpp - deadlock proof of a pipeline with messages -----===//

#include "passes/plan/schedule/DeadlockCheck.h"

#include <algorithm>
#include <map>

namespace pcc::plan {
namespace {

/// Messages from one pipeline rank to another, in the order of posting: sends
/// that the sender has posted, and receives that the receiver has posted.
struct Channel {
  std::vector<Message> sent, received;

  /// Returns the number of delivered messages. A message is delivered once the
  /// sender has posted its send and the receiver has posted its receive.
  size_t met() const { return std::min(sent.size(), received.size()); }
};

/// Name of a message: two numbers. The first number is the index of a transfer
/// in `program.transfers`. A transfer is a value that one stage passes to
/// another stage. The second number is the microbatch of the value.
using MessageName = std::pair<int, int>;
MessageName nameOf(const Message &message) {
  return {message.transfer, message.microbatch};
}

/// A table of flags. Each row has one flag per microbatch. A flag is false
/// until the function `set` makes it true. The user of the table decides what a
/// row is. For example, a table can have one row per stage.
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

/// Simulates the programs of all pipeline ranks, in order to find deadlocks.
/// The simulation computes no tensors and sends no data. A program is a list of
/// steps. A step computes, begins sends and receives, or waits for them.
/// Messages are not buffered: a message is delivered once the sender has begun
/// the send and the receiver has begun the receive. The member at[p] is the
/// number of steps that rank p has executed.
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
  /// Sends or receives that one pipeline rank has posted (begun), but for which
  /// it has not waited yet. The key is the name of the message. The mapped
  /// number is the index of the send in the list Channel::sent, or the index of
  /// the receive in the list Channel::received. A channel contains all sends
  /// and receives from one rank to one other rank.
  using OpenMessages = std::map<MessageName, size_t>;
  struct OpenEnds {
    OpenMessages sends, receives;
  };

  /// Executes steps of the pipeline rank `position` until the rank blocks in a
  /// wait, or until it has executed all its steps. A step can begin sends and
  /// receives. For each of them, the function appends the other rank of the
  /// message to `awake`. If this other rank is blocked in a wait for the
  /// message, it may be able to continue.
  void advance(int position, std::vector<int> &awake);
  void post(int position, const ProgramStep &step, std::vector<int> &awake);
  void compare(int from, int to);
  /// Tries to execute `step`, a step in which the pipeline rank `position`
  /// waits for sends and receives. Returns false if one of these messages is
  /// not delivered yet. Records an error for a message that `position` has not
  /// posted.
  bool await(int position, const ProgramStep &step);
  bool isThrough(int position, const Message &message, bool isSend);
  void checkAction(int position, const Action &action);
  /// Records an error if a pipeline rank ends with messages that it has not
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
  /// For each stage, the transfers that bring a value to the stage. A transfer
  /// is a value that one stage passes to another stage. `into` stores the
  /// indices of the transfers in `program.transfers`. Example: if transfer 3
  /// passes a value from stage 0 to stage 1, into[1] contains 3.
  std::vector<std::vector<int>> into;
  /// For each pair of a sending and a receiving pipeline rank: the messages
  /// from the first to the second.
  std::map<std::pair<int, int>, Channel> channels;
  /// Flags of computed values (`made`) and received values (`arrived`), with
  /// one column per microbatch. `made` has three rows per stage: activations,
  /// gradients and values of the optimizer update. `arrived` has one row per
  /// transfer. Values of the optimizer update do not belong to a microbatch.
  /// Their column in `made` is the number of the update action, such as 1 for
  /// U1, and their column in `arrived` is 0.
  Marks made, arrived;
  ReplayResult result;
};

/// Records an error if `action`, which the pipeline rank `position` executes,
/// uses a value of another pipeline rank before `position` has received this
/// value. Then marks in `made` the value that `action` computes.
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

/// Checks the last delivered message from pipeline rank `from` to pipeline rank
/// `to`. The sender and the receiver each name the value that they expect in
/// the message. For example, it is the activation of stage 2 in microbatch 1.
/// Records an error if the two names differ. Compares no tensor elements.
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

/// Posts the sends and receives of `step`, a step of pipeline rank `position`.
/// Appends the peer of each message to `awake`. The peer of a send is the
/// receiver, and the peer of a receive is the sender. `awake` lists the
/// pipeline ranks that may be able to continue: a peer can be blocked in a wait
/// for this message. Records an error if a message is posted twice, if a value
/// is sent before it is computed, or if a receive does not match its send.
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

/// Returns whether `message` is delivered. A message is delivered once the
/// sender has posted its send and the receiver has posted its receive. The
/// caller uses the function when the pipeline rank `position` waits for the
/// message. `isSend` tells whether `position` is the sender. If `position` has
/// not posted its own send or receive, the function records an error and
/// returns false.
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

/// Returns the pipeline rank for which `position` waits when no rank can
/// continue: the peer of the first message that is not delivered. Sets `what`
/// to a text about this message. Returns -1 if `position` has executed its
/// whole program.
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

/// Records why the pipeline rank `start` is blocked when no rank can continue.
/// Follows the chain of ranks that wait for each other. The chain ends in a
/// cycle, which is a deadlock and is stored in `result`, or at a rank that has
/// executed its whole program.
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

/// Executes the programs of all pipeline ranks. `awake` lists the ranks that
/// may be able to continue. A rank that posts a message adds the peer of the
/// message to this list. Once the list is empty, each rank that has not ended
/// its program waits forever.
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
