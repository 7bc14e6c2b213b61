//===- SimulateMessages.cpp - when every message travels ------------------===//

#include "passes/plan/SimulateMessages.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace pcc::plan {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// When both ends of a message can begin, and when it is through.
struct Delivery {
  double sent = never, expected = never, arrived = never;
};

/// One end of a message.
struct MessageEnd {
  int position = 0;
  Message message;
  bool isSend = false;
};

struct Queue {
  std::vector<MessageEnd> ends;
  size_t next = 0;
  double free = 0;

  const MessageEnd *head() const {
    return next < ends.size() ? &ends[next] : nullptr;
  }
};

/// Invariant: every position has done its steps before `at`; every queue has
/// passed on its messages before `next`.
class MessageSimulation {
public:
  MessageSimulation(const PipelineProgram &program, MessageFlow flow,
                    const ActionCosts &costs)
      : program(program), flow(flow), costs(costs),
        at(program.positions.size(), 0), free(at.size(), 0) {
    timeline.positions.resize(at.size());
    timeline.messages.resize(at.size());
  }

  Timeline run();

private:
  using QueueName = std::pair<int, int>;

  QueueName queueOf(const MessageEnd &end) const;
  void fillQueues();
  bool advance(int position);
  bool compute(int position, const Action &action);
  bool exchange(int position, const ProgramStep &step);
  bool travel(Queue &queue);
  void deliver(const MessageEnd &end, double start);
  double inputsOf(int position, const Action &action);
  void explainStuck();

  const Transfer &transferOf(const MessageEnd &end) const {
    return program.transfers[end.message.transfer];
  }
  Delivery &deliveryOf(const Message &message) {
    return deliveries[{message.transfer, message.microbatch}];
  }

  const PipelineProgram &program;
  const MessageFlow flow;
  const ActionCosts &costs;
  std::vector<size_t> at;
  std::vector<double> free;
  std::map<QueueName, Queue> queues;
  std::map<std::pair<int, int>, Delivery> deliveries;
  Timeline timeline;
};

template <typename Visit>
void forEachEnd(int position, const ProgramStep &step, Visit &&visit) {
  for (const Message &message : step.sends)
    visit(MessageEnd{position, message, true});
  for (const Message &message : step.receives)
    visit(MessageEnd{position, message, false});
}

MessageSimulation::QueueName
MessageSimulation::queueOf(const MessageEnd &end) const {
  switch (flow) {
  case MessageFlow::QueuePerDirection:
    return {end.position, end.isSend};
  case MessageFlow::QueuePerWave:
    return {end.position, static_cast<int>(transferOf(end).wave)};
  case MessageFlow::QueuePerPeer:
    return {end.position, end.message.peer};
  default:
    return {end.position, 0};
  }
}

void MessageSimulation::fillQueues() {
  for (size_t position = 0; position < at.size(); ++position)
    for (const ProgramStep &step : program.positions[position])
      forEachEnd(static_cast<int>(position), step, [&](const MessageEnd &end) {
        queues[queueOf(end)].ends.push_back(end);
      });
}

/// When everything has arrived that an action needs from other positions.
double MessageSimulation::inputsOf(int position, const Action &action) {
  double ready = 0;
  for (size_t t = 0; t < program.transfers.size(); ++t) {
    const Transfer &transfer = program.transfers[t];
    if (uses(action, transfer) &&
        program.positionOfStage[transfer.fromStage] != position)
      ready = std::max(ready, deliveryOf({static_cast<int>(t),
                                          microbatchOf(action, transfer), 0})
                                  .arrived);
  }
  return ready;
}

bool MessageSimulation::compute(int position, const Action &action) {
  const double inputs = inputsOf(position, action);
  if (inputs == never)
    return false;
  const double start = std::max(free[position], inputs);
  free[position] =
      start + costs.secondsOf(action, static_cast<int>(at.size()),
                              static_cast<int>(program.positionOfStage.size()));
  timeline.positions[position].push_back({action, start, free[position]});
  if (flow == MessageFlow::Blocking)
    return true;
  for (size_t t = 0; t < program.transfers.size(); ++t)
    if (const Transfer &transfer = program.transfers[t];
        makes(action, transfer))
      deliveryOf({static_cast<int>(t), microbatchOf(action, transfer), 0})
          .sent = free[position];
  return true;
}

/// Notes that one end of a message travels from `start` on.
void MessageSimulation::deliver(const MessageEnd &end, double start) {
  const Transfer &transfer = transferOf(end);
  const bool forward = transfer.wave == Wave::Forward;
  const ActionKind sends =
      forward ? ActionKind::SendForward : ActionKind::SendBackward;
  const ActionKind receives =
      forward ? ActionKind::ReceiveForward : ActionKind::ReceiveBackward;
  Delivery &delivery = deliveryOf(end.message);
  delivery.arrived =
      start + (costs.transferSeconds
                   ? costs.transferSeconds(transfer.fromStage, transfer.toStage)
                   : 0);
  timeline.messages[end.position].push_back(
      {{end.isSend ? sends : receives,
        end.isSend ? transfer.fromStage : transfer.toStage,
        end.message.microbatch},
       start,
       delivery.arrived});
}

/// Completes an exchange once the peers have reached the other ends of all of
/// its messages.
bool MessageSimulation::exchange(int position, const ProgramStep &step) {
  bool complete = true;
  forEachEnd(position, step, [&](const MessageEnd &end) {
    Delivery &delivery = deliveryOf(end.message);
    (end.isSend ? delivery.sent : delivery.expected) = free[position];
    complete &= delivery.sent != never && delivery.expected != never;
  });
  if (!complete)
    return false;
  double last = free[position];
  forEachEnd(position, step, [&](const MessageEnd &end) {
    Delivery &delivery = deliveryOf(end.message);
    deliver(end, std::max(delivery.sent, delivery.expected));
    last = std::max(last, delivery.arrived);
  });
  free[position] = last;
  return true;
}

/// Takes steps of a position until one has to wait.
bool MessageSimulation::advance(int position) {
  const PositionProgram &steps = program.positions[position];
  const size_t before = at[position];
  for (; at[position] < steps.size(); ++at[position]) {
    const ProgramStep &step = steps[at[position]];
    if (!step.isExchange && !compute(position, step.action))
      break;
    if (step.isExchange && flow == MessageFlow::Blocking &&
        !exchange(position, step))
      break;
  }
  return at[position] != before;
}

/// Passes on messages of a queue while they can be sent and the peer's queue
/// has come to them.
bool MessageSimulation::travel(Queue &queue) {
  bool moved = false;
  while (const MessageEnd *send = queue.head()) {
    const Delivery &delivery = deliveryOf(send->message);
    if (!send->isSend || delivery.sent == never)
      break;
    Message expected = send->message;
    expected.peer = send->position;
    Queue &other = queues[queueOf({send->message.peer, expected, false})];
    const MessageEnd *receive = other.head();
    if (!receive || receive->isSend || receive->message != expected)
      break;
    const double start = std::max({queue.free, other.free, delivery.sent});
    deliver(*send, start);
    deliver(*receive, start);
    queue.free = other.free = delivery.arrived;
    ++queue.next;
    ++other.next;
    moved = true;
  }
  return moved;
}

void MessageSimulation::explainStuck() {
  for (size_t position = 0; position < at.size(); ++position) {
    const PositionProgram &steps = program.positions[position];
    if (at[position] == steps.size())
      continue;
    const ProgramStep &step = steps[at[position]];
    timeline.stuck +=
        (timeline.stuck.empty() ? "" : "; ") +
        ("position " + std::to_string(position)) + " waits forever " +
        (step.isExchange ? "in an exchange"
                         : "for what " + print(step.action) + " needs");
  }
}

Timeline MessageSimulation::run() {
  if (flow != MessageFlow::Blocking)
    fillQueues();
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t position = 0; position < at.size(); ++position)
      moved |= advance(static_cast<int>(position));
    for (auto &[name, queue] : queues)
      moved |= travel(queue);
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

Timeline simulateMessages(const PipelineProgram &program, MessageFlow flow,
                          const ActionCosts &costs) {
  return MessageSimulation(program, flow, costs).run();
}

} // namespace pcc::plan
