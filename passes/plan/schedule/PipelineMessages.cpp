//===- PipelineMessages.cpp - sends and receives of a pipeline ------------===//

#include "passes/plan/schedule/PipelineMessages.h"

#include "passes/plan/schedule/DeadlockCheck.h"
#include "passes/plan/schedule/Simulate.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <map>
#include <tuple>

namespace pcc::plan {
namespace {

constexpr size_t nowhere = std::numeric_limits<size_t>::max();

/// A message from pipeline position `from` to position `to`. `producer` is the
/// index of the action that makes the value, in the sender's actions.
/// `consumer` is the index of the action that uses it, in the receiver's
/// actions.
struct Route {
  int transfer, microbatch;
  int from, to;
  size_t producer, consumer;
  /// Index, in the receiver's actions, of the action before which the receive
  /// is posted.
  size_t posted = 0;
  /// Index, in the sender's actions, of the action right before which the
  /// sender waits until its send is delivered. If it waits at the end, this is
  /// the number of actions.
  size_t released = 0;

  Message sent() const { return {transfer, microbatch, to}; }
  Message received() const { return {transfer, microbatch, from}; }
};

/// One action in the order of all actions of all pipeline positions. This order
/// compares the members one after another, beginning with the start time in a
/// simulation.
struct LinearAction {
  double start;
  /// For an optimizer update, which can have parts numbered from 0: number of
  /// the part plus 1. For all other actions: 0. The start time does not order
  /// the parts, because updates take no simulated time.
  int part;
  int position;
  size_t index;
  friend auto operator<=>(const LinearAction &, const LinearAction &) = default;
};

/// Implements insertMessages: orders the actions, makes a Route per message,
/// places its posts and waits, and assembles the program.
class MessageInserter {
public:
  MessageInserter(const ActionTable &table,
                  const std::vector<Transfer> &transfers, int early)
      : table(table), transfers(transfers), early(early) {}

  StatusOr<PipelineProgram> run();

private:
  /// Checks `transfers`, the values that stages pass to each other. Returns an
  /// error text; empty if there is no error.
  std::string malformed() const;
  void indexActions();
  std::string linearise();
  std::string addRoutes(int position, size_t index);
  /// Returns the index, in the receiver's actions, of the action that uses the
  /// value of `transfer` in `microbatch`; `nowhere` if there is none.
  size_t consumerOf(const Transfer &transfer, int microbatch);
  void postReceives();
  void releaseSends();
  PipelineProgram assemble() const;
  /// Returns the element of `indices` for a stage and a microbatch. Kind
  /// Forward selects action F (forward). Kind Backward selects action B
  /// (backward) or I (input gradient).
  size_t &indexOf(TransferKind kind, int stage, int microbatch) {
    return indices[(stage * 2 + static_cast<int>(kind)) *
                       table.numMicrobatches +
                   microbatch];
  }

  const ActionTable &table;
  const std::vector<Transfer> &transfers;
  const int early;
  /// Index of each forward (F) and backward (B or I) action in the actions of
  /// its pipeline position. The function indexOf selects an element.
  std::vector<size_t> indices;
  /// Maps a stage and the number of a part of its optimizer update to the
  /// update action: its index in the actions of its pipeline position.
  std::map<std::pair<int, int>, size_t> updates;
  /// All actions of all pipeline positions, in the order in which a simulation
  /// starts them.
  std::vector<LinearAction> order;
  /// moments[p][i]: index in `order` of action i of pipeline position p.
  std::vector<std::vector<size_t>> moments;
  /// All messages, in the order in which a simulation starts their producers.
  std::vector<Route> routes;
};

/// Appends `step`, a Post or a Wait, to `program` unless it has no messages.
void append(PositionProgram &program, ProgramStep step) {
  if (!step.sends.empty() || !step.receives.empty())
    program.push_back(std::move(step));
}

/// Returns an error unless activations go to later stages and gradients to
/// earlier stages; otherwise an empty string.
std::string MessageInserter::malformed() const {
  for (size_t i = 0; i < transfers.size(); ++i) {
    const Transfer &transfer = transfers[i];
    if (transfer.kind == TransferKind::Update)
      continue;
    const bool forward = transfer.kind == TransferKind::Forward;
    const int low = forward ? transfer.fromStage : transfer.toStage;
    const int high = forward ? transfer.toStage : transfer.fromStage;
    if (low < 0 || low >= high || high >= table.numStages)
      return "transfer " + std::to_string(i) + " cannot take " +
             (forward ? "activations" : "gradients") + " from stage " +
             std::to_string(transfer.fromStage) + " to stage " +
             std::to_string(transfer.toStage);
  }
  return {};
}

void MessageInserter::indexActions() {
  indices.assign(size_t(table.numStages) * 2 * table.numMicrobatches, nowhere);
  for (const std::vector<Action> &row : table.positions)
    for (size_t index = 0; index < row.size(); ++index) {
      const Action &action = row[index];
      if (action.kind == ActionKind::Forward)
        indexOf(TransferKind::Forward, action.stage, action.microbatch) = index;
      if (makesInputGradient(action.kind))
        indexOf(TransferKind::Backward, action.stage, action.microbatch) =
            index;
      if (action.kind == ActionKind::Update)
        updates[{action.stage, action.microbatch}] = index;
    }
}

/// Fills `order` with all actions by simulated start time, and `routes` with
/// their messages in this order. Returns an error text; empty if there is no
/// error.
std::string MessageInserter::linearise() {
  const Timeline timeline = simulate(table);
  if (!timeline.stuck.empty())
    return "the schedule cannot proceed: " + timeline.stuck;
  for (int position = 0; position < table.numPositions(); ++position)
    for (size_t index = 0; index < timeline.positions[position].size();
         ++index) {
      const TimedAction &timed = timeline.positions[position][index];
      const bool updates = timed.action.kind == ActionKind::Update;
      order.push_back({timed.start, updates ? timed.action.microbatch + 1 : 0,
                       position, index});
    }
  std::sort(order.begin(), order.end());
  for (const std::vector<Action> &row : table.positions)
    moments.emplace_back(row.size());
  for (size_t i = 0; i < order.size(); ++i)
    moments[order[i].position][order[i].index] = i;
  for (const LinearAction &step : order)
    if (std::string error = addRoutes(step.position, step.index);
        !error.empty())
      return error;
  return {};
}

size_t MessageInserter::consumerOf(const Transfer &transfer, int microbatch) {
  if (transfer.kind != TransferKind::Update)
    return indexOf(transfer.kind, transfer.toStage, microbatch);
  auto it = updates.find({transfer.toStage, transfer.part + 1});
  return it == updates.end() ? nowhere : it->second;
}

/// Appends a message to `routes` for each value that action number `index` of
/// `position` sends to another pipeline position. Returns an error text if the
/// receiver never uses the value; otherwise an empty string.
std::string MessageInserter::addRoutes(int position, size_t index) {
  const Action &action = table.positions[position][index];
  for (size_t t = 0; t < transfers.size(); ++t) {
    const Transfer &transfer = transfers[t];
    const int to = table.positionOfStage[transfer.toStage];
    if (!makes(action, transfer) || to == position)
      continue;
    const size_t consumer = consumerOf(transfer, action.microbatch);
    if (consumer == nowhere)
      return "stage " + std::to_string(transfer.toStage) +
             " has no action that uses transfer " + std::to_string(t) +
             " of microbatch " + std::to_string(action.microbatch);
    routes.push_back({static_cast<int>(t), microbatchOf(action, transfer),
                      position, to, index, consumer});
  }
  return {};
}

/// Sets Route::posted of each message. A receive is posted `early` actions
/// before the action that uses its value. If the next receive from this sender
/// is posted even earlier, the receive moves there, too: receives must have the
/// order of the sends. The loop visits the messages from last to first.
void MessageInserter::postReceives() {
  std::map<std::pair<int, int>, size_t> latest;
  for (size_t i = routes.size(); i-- > 0;) {
    Route &route = routes[i];
    const size_t wanted =
        route.consumer - std::min(size_t(early), route.consumer);
    auto [slot, first] = latest.try_emplace({route.from, route.to}, wanted);
    route.posted = slot->second = std::min(slot->second, wanted);
  }
}

/// Sets Route::released of each message. The sender waits for the send of value
/// k of a transfer right before it produces value k + 2. If the receiver posts
/// its receive only after that, the sender waits before value k + 3, k + 4, …,
/// or at the end.
void MessageInserter::releaseSends() {
  std::vector<std::vector<Route *>> ofTransfer(transfers.size());
  for (Route &route : routes)
    ofTransfer[route.transfer].push_back(&route);
  for (const std::vector<Route *> &made : ofTransfer)
    for (size_t i = 0; i < made.size(); ++i) {
      Route &route = *made[i];
      size_t later = i + 2;
      while (later < made.size() && moments[route.from][made[later]->producer] <
                                        moments[route.to][route.posted])
        ++later;
      route.released = later < made.size() ? made[later]->producer
                                           : table.positions[route.from].size();
    }
}

/// Steps before one action of a pipeline position: first `posts` begins sends
/// and receives, then `waits` waits for earlier ones.
struct StepsBefore {
  ProgramStep posts{ProgramStep::Post}, waits{ProgramStep::Wait};
};

/// Builds the program of each pipeline position: its actions, with Post and
/// Wait steps before them.
PipelineProgram MessageInserter::assemble() const {
  std::vector<std::vector<StepsBefore>> before;
  for (const std::vector<Action> &row : table.positions)
    before.emplace_back(row.size() + 1);
  for (const Route &route : routes) {
    std::vector<StepsBefore> &sender = before[route.from];
    std::vector<StepsBefore> &receiver = before[route.to];
    sender[route.producer + 1].posts.sends.push_back(route.sent());
    sender[route.released].waits.sends.push_back(route.sent());
    receiver[route.posted].posts.receives.push_back(route.received());
    receiver[route.consumer].waits.receives.push_back(route.received());
  }
  PipelineProgram program{std::vector<PositionProgram>(before.size()),
                          table.positionOfStage, transfers};
  for (size_t position = 0; position < before.size(); ++position) {
    PositionProgram &steps = program.positions[position];
    const std::vector<Action> &row = table.positions[position];
    for (size_t index = 0; index <= row.size(); ++index) {
      append(steps, std::move(before[position][index].posts));
      append(steps, std::move(before[position][index].waits));
      if (index < row.size())
        steps.push_back({ProgramStep::Compute, row[index]});
    }
  }
  return program;
}

StatusOr<PipelineProgram> MessageInserter::run() {
  if (std::string error = malformed(); !error.empty())
    return Status::error(CannotMeet, error);
  indexActions();
  if (std::string error = linearise(); !error.empty())
    return Status::error(CannotMeet, error);
  postReceives();
  releaseSends();
  PipelineProgram program = assemble();
  if (std::string error = replay(program).error; !error.empty())
    return Status::error(CannotMeet, error);
  return program;
}

} // namespace

SendPart sendPartOf(std::string_view action) {
  const std::optional<Action> parsed = parseKind(action);
  if (!parsed)
    return {};
  if (parsed->kind == ActionKind::Update)
    return {TransferKind::Update, std::max(parsed->microbatch, 0)};
  const bool isBack =
      isCompute(parsed->kind) && parsed->kind != ActionKind::Forward;
  return {isBack ? TransferKind::Backward : TransferKind::Forward, 0};
}

/// Returns whether `action` is of the kind (forward, backward or update) of
/// `transfer`. An action of an optimizer update must also be part number `part`
/// of it. Action stores this number as its `microbatch`.
static bool isPart(const Action &action, const Transfer &transfer, int part) {
  return belongsTo(action, transfer.kind) &&
         (transfer.kind != TransferKind::Update || action.microbatch == part);
}

bool makes(const Action &action, const Transfer &transfer) {
  return action.stage == transfer.fromStage &&
         isPart(action, transfer, transfer.part);
}

bool uses(const Action &action, const Transfer &transfer) {
  return action.stage == transfer.toStage &&
         isPart(action, transfer, transfer.part + 1);
}

int microbatchOf(const Action &action, const Transfer &transfer) {
  return transfer.kind == TransferKind::Update ? 0 : action.microbatch;
}

StatusOr<PipelineProgram> insertMessages(const ActionTable &table,
                                         const std::vector<Transfer> &transfers,
                                         int early) {
  return MessageInserter(table, transfers, early).run();
}

std::string nameOf(const PipelineProgram &program, const Message &message) {
  assert(size_t(message.transfer) < program.transfers.size() &&
         "no such transfer");
  const Transfer &transfer = program.transfers[message.transfer];
  if (transfer.kind == TransferKind::Update)
    return print({ActionKind::Update, transfer.fromStage, transfer.part});
  const bool forward = transfer.kind == TransferKind::Forward;
  return print({forward ? ActionKind::Forward : ActionKind::Backward,
                transfer.fromStage, message.microbatch});
}

} // namespace pcc::plan
