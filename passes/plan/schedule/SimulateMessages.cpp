//===- SimulateMessages.cpp - simulator of pipelines with messages --------===//

#include "passes/plan/schedule/SimulateMessages.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace pcc::plan {
namespace {

/// Time of an event that has not happened yet.
constexpr double never = std::numeric_limits<double>::infinity();

/// Times of one message from one pipeline rank to another. A time is `never` if
/// the event has not happened yet.
///  - `sent`: time at which the sender begins the send.
///  - `expected`: time at which the receiver begins the receive.
///  - `arrived`: time at which the message arrives at the receiver.
struct Delivery {
  double sent = never, expected = never, arrived = never;
};

/// Messages from one pipeline rank to another, in the order of their sends.
/// They travel one at a time. `next` is the index in `posted` of the first
/// message without an arrival time. `free` is the arrival time of the message
/// before posted[next], or 0 if there is none.
struct Lane {
  std::vector<Message> posted;
  size_t next = 0;
  double free = 0;
};

/// Simulates a pipeline program, whose steps run actions, begin messages or
/// wait for messages. at[p] is the number of steps that rank p has executed,
/// and free[p] is the time at which they ended. lanes[{p, q}] has the messages
/// from rank p to rank q.
class MessageSimulation {
public:
  MessageSimulation(const PipelineProgram &program, const ActionCosts &costs)
      : program(program), costs(costs), at(program.positions.size(), 0),
        free(at.size(), 0) {
    timeline.positions.resize(at.size());
    timeline.messages.resize(at.size());
  }

  Timeline run();

private:
  bool advance(int position);
  /// Executes an action on the pipeline rank `position`. The rank is free from
  /// time free[position] on. The action starts at this time. Sets
  /// free[position] to the end of the action.
  void compute(int position, const Action &action);
  /// Executes a Post step of the pipeline rank number `position`. The step
  /// lists sends and receives. The rank begins all of them at once and does not
  /// wait for them. The function stores the simulated time at which they begin.
  /// This time is free[position], the time at which the rank has ended its
  /// earlier steps.
  void post(int position, const ProgramStep &step);
  /// Executes a Wait step of the pipeline rank number `position`. The rank
  /// waits until all messages of the step have arrived. The function adds this
  /// waiting time to the simulated clock of the rank, free[position], and
  /// returns true. If the arrival time of a message is not known yet, the
  /// function changes nothing and returns false.
  bool await(int position, const ProgramStep &step);
  bool travel(int from, int to, Lane &lane);
  void show(const Message &message, int position, bool isSend, double start);
  void explainStuck();

  Delivery &deliveryOf(const Message &message) {
    return deliveries[{message.transfer, message.microbatch}];
  }

  const PipelineProgram &program;
  const ActionCosts &costs;
  std::vector<size_t> at;
  std::vector<double> free;
  /// For each pair of a sending and a receiving pipeline rank: the messages
  /// from the first to the second.
  std::map<std::pair<int, int>, Lane> lanes;
  std::map<std::pair<int, int>, Delivery> deliveries;
  Timeline timeline;
  /// Number of messages in the timeline.
  int64_t numShown = 0;
};

void MessageSimulation::compute(int position, const Action &action) {
  const double start = free[position];
  free[position] =
      start + costs.secondsOf(action, static_cast<int>(at.size()),
                              static_cast<int>(program.positionOfStage.size()));
  timeline.positions[position].push_back({action, start, free[position]});
}

void MessageSimulation::post(int position, const ProgramStep &step) {
  for (const Message &message : step.sends) {
    lanes[{position, message.peer}].posted.push_back(message);
    deliveryOf(message).sent = free[position];
  }
  for (const Message &message : step.receives)
    deliveryOf(message).expected = free[position];
}

bool MessageSimulation::await(int position, const ProgramStep &step) {
  double last = free[position];
  for (const auto *side : {&step.sends, &step.receives})
    for (const Message &message : *side)
      last = std::max(last, deliveryOf(message).arrived);
  if (last == never)
    return false;
  free[position] = last;
  return true;
}

/// Executes steps of the pipeline rank `position`, one after another. Stops at
/// the end of the steps, or at a step that cannot end yet. A step cannot end
/// yet if it waits for a message whose arrival time is not known. Returns
/// whether the function has executed at least one step.
bool MessageSimulation::advance(int position) {
  const PositionProgram &steps = program.positions[position];
  const size_t before = at[position];
  for (; at[position] < steps.size(); ++at[position]) {
    const ProgramStep &step = steps[at[position]];
    if (step.kind == ProgramStep::Compute)
      compute(position, step.action);
    if (step.kind == ProgramStep::Post)
      post(position, step);
    if (step.kind == ProgramStep::Wait && !await(position, step))
      break;
  }
  return at[position] != before;
}

/// Adds one entry to the timeline of the pipeline rank number `position`. If
/// `isSend` is true, the entry is the send of `message`. Otherwise, the entry
/// is the receive of `message`. The entry begins at time `start`, when the
/// message departs. The entry ends when the message arrives.
void MessageSimulation::show(const Message &message, int position, bool isSend,
                             double start) {
  const Transfer &transfer = program.transfers[message.transfer];
  const bool forward = transfer.kind == TransferKind::Forward;
  const ActionKind sends =
      forward ? ActionKind::SendForward : ActionKind::SendBackward;
  const ActionKind receives =
      forward ? ActionKind::ReceiveForward : ActionKind::ReceiveBackward;
  timeline.messages[position].push_back(
      {{isSend ? sends : receives,
        isSend ? transfer.fromStage : transfer.toStage, message.microbatch},
       start,
       deliveryOf(message).arrived,
       /*name=*/"",
       /*coreSeconds=*/-1,
       numShown});
}

/// Computes arrival times of messages from rank `from` to rank `to`, and adds
/// these messages to the timelines of both ranks. Stops at a message that rank
/// `to` has not begun to receive. Returns whether it has computed at least one
/// arrival time.
bool MessageSimulation::travel(int from, int to, Lane &lane) {
  const size_t before = lane.next;
  for (; lane.next < lane.posted.size(); ++lane.next) {
    const Message &message = lane.posted[lane.next];
    Delivery &delivery = deliveryOf(message);
    if (delivery.expected == never)
      break;
    const Transfer &transfer = program.transfers[message.transfer];
    const double start =
        std::max({lane.free, delivery.sent, delivery.expected});
    delivery.arrived = start + (costs.transferSeconds
                                    ? costs.transferSeconds(transfer.fromStage,
                                                            transfer.toStage)
                                    : 0);
    lane.free = delivery.arrived;
    show(message, from, /*isSend=*/true, start);
    show(message, to, /*isSend=*/false, start);
    ++numShown;
  }
  return lane.next != before;
}

/// Appends text to `timeline.stuck`, if the simulation has ended in a deadlock.
/// The text names each pipeline rank that waits forever for a message, and the
/// message. For example, the text is "position 1 waits forever for 0F3" if rank
/// 1 waits for the activation of stage 0 in microbatch 3.
void MessageSimulation::explainStuck() {
  for (size_t position = 0; position < at.size(); ++position) {
    const PositionProgram &steps = program.positions[position];
    if (at[position] == steps.size())
      continue;
    for (const auto *side :
         {&steps[at[position]].sends, &steps[at[position]].receives})
      for (const Message &message : *side)
        if (deliveryOf(message).arrived == never)
          timeline.stuck += (timeline.stuck.empty() ? "" : "; ") +
                            ("position " + std::to_string(position)) +
                            " waits forever for " + nameOf(program, message);
  }
}

/// Simulates the program: lets all ranks run until they must wait, delivers
/// messages, and repeats both until neither has any effect. If ranks then wait
/// forever, `stuck` of the result names the messages.
Timeline MessageSimulation::run() {
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t position = 0; position < at.size(); ++position)
      moved |= advance(static_cast<int>(position));
    for (auto &[ends, lane] : lanes)
      moved |= travel(ends.first, ends.second, lane);
  }
  explainStuck();
  for (std::vector<TimedAction> &row : timeline.messages)
    std::sort(
        row.begin(), row.end(), [](const TimedAction &a, const TimedAction &b) {
          return std::tie(a.start, a.action) < std::tie(b.start, b.action);
        });
  measureIdle(timeline);
  return std::move(timeline);
}

} // namespace

Timeline simulateMessages(const PipelineProgram &program,
                          const ActionCosts &costs) {
  return MessageSimulation(program, costs).run();
}

} // namespace pcc::plan
