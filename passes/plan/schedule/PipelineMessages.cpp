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

/// A message from the pipeline rank `from` to the pipeline rank `to`. It
/// carries a value that one stage passes to another stage in `microbatch`.
/// `transfer` is the index of this value in the list of all values that stages
/// pass to each other. Each rank has a list of actions. `producer` is the index
/// of the action of rank `from` that computes the value. `consumer` is the
/// index of the action of rank `to` that uses the value.
struct Route {
  int transfer, microbatch;
  int from, to;
  size_t producer, consumer;
  /// Place of the receive in the program of the receiver. The receiver posts
  /// (begins) the receive right before the action with this index. For example,
  /// if `posted` is 4, the receiver executes the actions 0 to 3, then posts the
  /// receive, and then executes action 4.
  size_t posted = 0;
  /// Place in the program of the sender. The sender waits right before the
  /// action with this index until its send is delivered. For example, if
  /// `released` is 4, the sender executes the actions 0 to 3, then waits, and
  /// then executes action 4. If `released` is the number of actions of the
  /// sender, the sender waits after its last action.
  size_t released = 0;

  Message sent() const { return {transfer, microbatch, to}; }
  Message received() const { return {transfer, microbatch, from}; }
};

/// Element of the list of all actions of all pipeline ranks. The list is sorted
/// by `start`, the time at which the action starts in a simulation, and then by
/// the other members. `index` is the index of the action among the actions of
/// its pipeline rank, `position`.
struct LinearAction {
  double start;
  /// Orders actions that have the same `start`. The optimizer update of a stage
  /// can consist of several actions, U0, U1, and so on. In the simulation, an
  /// update takes no time, so that U0 and U1 can start at the same time. U0 has
  /// the value 1 here, U1 has the value 2, and so on. Any other action has the
  /// value 0, and so comes before the updates.
  int part;
  int position;
  size_t index;
  friend auto operator<=>(const LinearAction &, const LinearAction &) = default;
};

/// Implements insertMessages(): makes a program for each pipeline rank from its
/// actions and from the messages between ranks. A program runs actions, posts
/// (begins) sends and receives, and waits for them. The messages have the order
/// in which a simulation starts the actions that compute them.
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
  /// Returns the index of the receiver's action that uses the value of
  /// `transfer` in `microbatch`. Returns `nowhere` if there is none. Ignores
  /// `microbatch` for a value of the optimizer update, which runs once per
  /// training step.
  size_t consumerOf(const Transfer &transfer, int microbatch);
  void postReceives();
  void releaseSends();
  PipelineProgram assemble() const;
  /// Returns a reference to the index of an action in the list of actions of
  /// its pipeline rank. If `kind` is Forward, the action is F (forward). If
  /// `kind` is Backward, the action is B (backward) or I (input gradient).
  /// `kind` must not be Update.
  size_t &indexOf(TransferKind kind, int stage, int microbatch) {
    return indices[(stage * 2 + static_cast<int>(kind)) *
                       table.numMicrobatches +
                   microbatch];
  }

  const ActionTable &table;
  const std::vector<Transfer> &transfers;
  const int early;
  /// For each action F (forward), B (backward) and I (input gradient): the
  /// index of the action in the list of actions of its pipeline rank. The
  /// function indexOf finds the element of an action. For example, if a rank
  /// executes 1F0, 1F1 and 1B0, the element of 1B0 is 2. The name 1B0 means
  /// stage 1, backward, microbatch 0. An element is `nowhere` if no rank has
  /// its action.
  std::vector<size_t> indices;
  /// Index of each optimizer update in the list of actions of its pipeline
  /// rank. The update of a stage can consist of several actions, U0, U1, and so
  /// on. The key is the stage and the number after U. For example,
  /// updates[{3, 1}] is the index of action U1 of stage 3.
  std::map<std::pair<int, int>, size_t> updates;
  /// All actions of all pipeline ranks, in the order in which a simulation
  /// starts them.
  std::vector<LinearAction> order;
  /// The inverse of the list `order`, which has the actions of all pipeline
  /// ranks, sorted by start time. moments[p][i] is the index in `order` of
  /// action number i of pipeline rank p. For example, if moments[0][2] is 5,
  /// order[5] is action number 2 of rank 0.
  std::vector<std::vector<size_t>> moments;
  /// All messages between pipeline ranks. Each message carries a value that an
  /// action computes. The messages are in the order in which these actions
  /// start in a simulation.
  std::vector<Route> routes;
};

/// Appends `step` to `program`, the list of steps of one pipeline rank. `step`
/// begins sends and receives, or waits for them. If `step` has no sends and no
/// receives, the function does not append `step`.
void append(PositionProgram &program, ProgramStep step) {
  if (!step.sends.empty() || !step.receives.empty())
    program.push_back(std::move(step));
}

/// Checks `transfers`, the values that stages pass to each other. An activation
/// must go to a later stage, and a gradient to an earlier stage. Returns an
/// error text, or an empty string. Does not check values of the optimizer
/// update.
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

/// Fills `order` with all actions, sorted by their start times in a simulation.
/// Fills `moments` with the index of each action in `order`, and `routes` with
/// the messages. Returns an error text if the simulation gets stuck or a
/// message is never used; otherwise an empty string.
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
/// pipeline rank `position` sends to another rank. Returns an error text if the
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

/// Sets Route::posted of each message: the index of the receiver's action
/// before which the receiver posts (begins) the receive. This action comes
/// `early` actions before the action that uses the value, or is action 0. A
/// receive is posted even earlier if a later message from the same sender
/// requires it, because the receives must have the order of the sends.
/// Therefore, the loop visits the last message first.
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

/// Sets Route::released of each message: the index of the sender's action
/// before which the sender waits until the message is delivered. For message k
/// of a transfer, this is the sender's action that computes message k + 2 of
/// the same transfer. If `order` lists this action before the action at which
/// the receiver posts (begins) the receive of message k, a wait could deadlock.
/// The function then takes the action that computes message k + 3, and so on.
/// If there is no such action, the sender waits after its last action.
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

/// Two steps that a pipeline rank executes before one of its actions, or after
/// its last action. The rank executes `posts` first, then `waits`:
///  - `posts` begins sends and receives. The step does not wait for them.
///  - `waits` has a list of sends and receives. The step blocks until all sends
///    and receives in this list are delivered. The rank has begun them in
///    `posts` or in an earlier step.
struct StepsBefore {
  ProgramStep posts{ProgramStep::Post}, waits{ProgramStep::Wait};
};

/// Builds the program of each pipeline rank. A program is a list of steps. It
/// has one step for each action of the rank. Before each action and after the
/// last action, the program can have two more steps:
///  - The first step begins sends and receives. It does not wait for them.
///  - The second step waits until some sends and receives are delivered. The
///    rank has begun them in this first step or in an earlier step.
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

/// Returns whether `action` is of a kind that can compute or use the value of
/// `transfer`. Does not compare stages. The kinds are:
///
/// - for an activation: F (forward)
/// - for a gradient: B (backward) or I (input gradient)
/// - for a value of the optimizer update: the update action number `part`, such
///   as U1 for 1. `action.microbatch` has the number of an update action.
///
/// Ignores `part` for activations and gradients.
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
