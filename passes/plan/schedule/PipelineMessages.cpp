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
/// index, in the row (action list) of the sender, of the action that produces
/// the value. `consumer` is the index, in the row of the receiver, of the
/// action that uses it.
struct Route {
  int transfer, microbatch;
  int from, to;
  size_t producer, consumer;
  /// Index, in the row of the receiver, of the action before which the receive
  /// is posted.
  size_t posted = 0;
  /// Index, in the row of the sender, of the action before which the send is
  /// waited for; the length of the row if it is waited for after all actions.
  size_t released = 0;

  Message sent() const { return {transfer, microbatch, to}; }
  Message received() const { return {transfer, microbatch, from}; }
};

/// One action in the global order of all actions of all positions. The actions
/// are sorted by the members in this order: start time in a simulation, part of
/// the update, pipeline position, index in the row (action list) of the
/// position.
struct LinearAction {
  double start;
  /// Part number of an update action, plus 1; 0 for all other actions. Updates
  /// take no time in the simulation, so their start times do not put the parts
  /// in order.
  int part;
  int position;
  size_t index;
  friend auto operator<=>(const LinearAction &, const LinearAction &) = default;
};

/// Implements insertMessages. Puts the actions into a global order, makes a
/// Route for each message, chooses the places of its posts and waits, and
/// assembles the program.
class MessageInserter {
public:
  MessageInserter(const ActionTable &table,
                  const std::vector<Transfer> &transfers, int early)
      : table(table), transfers(transfers), early(early) {}

  StatusOr<PipelineProgram> run();

private:
  /// Checks the transfers. Returns an error text, or an empty string if there
  /// is no error.
  std::string malformed() const;
  void indexActions();
  std::string linearise();
  std::string addRoutes(int position, size_t index);
  /// Returns the index, in the row (action list) of the receiver, of the action
  /// that uses the value of `transfer` in `microbatch`; `nowhere` if there is
  /// none.
  size_t consumerOf(const Transfer &transfer, int microbatch);
  void postReceives();
  void releaseSends();
  PipelineProgram assemble() const;
  /// Returns the entry of `indices` for a stage and a microbatch. If `kind` is
  /// Forward, it is the entry of the F action (forward). If `kind` is Backward,
  /// it is the entry of the B (backward) or I (input gradient) action.
  size_t &indexOf(TransferKind kind, int stage, int microbatch) {
    return indices[(stage * 2 + static_cast<int>(kind)) *
                       table.numMicrobatches +
                   microbatch];
  }

  const ActionTable &table;
  const std::vector<Transfer> &transfers;
  const int early;
  /// For every F (forward), B (backward) and I (input gradient) action: its
  /// index in the row (action list) of its pipeline position. indexOf defines
  /// the order of the entries.
  std::vector<size_t> indices;
  /// Index of each update action in the row (action list) of its pipeline
  /// position. The key is the pair of stage and part of the update.
  std::map<std::pair<int, int>, size_t> updates;
  /// All actions of all pipeline positions, in the order in which a simulation
  /// starts them (the global order).
  std::vector<LinearAction> order;
  /// moments[p][i] is the index in `order` of action i of pipeline position p.
  std::vector<std::vector<size_t>> moments;
  /// All messages. A message comes before another one if the action that
  /// produces its value starts earlier in the simulation.
  std::vector<Route> routes;
};

/// Appends `step`, which is of kind Post or Wait, to `program`. Appends nothing
/// if the step has no messages.
void append(PositionProgram &program, ProgramStep step) {
  if (!step.sends.empty() || !step.receives.empty())
    program.push_back(std::move(step));
}

/// Returns an error if an activation is not passed to a later stage, or a
/// gradient not to an earlier stage. Otherwise returns an empty string.
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

/// Fills `order` with all actions, sorted by the time at which they start in a
/// simulation. Then adds the messages to `routes`, in the order of the actions
/// that produce their values. Returns an error text; an empty string if there
/// is no error.
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

/// Appends to `routes` one message for each value that action number `index` of
/// `position` produces and another pipeline position uses. Returns an error
/// text if the receiving stage has no action that uses the value; otherwise an
/// empty string.
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
/// before the action that uses the value. If the receive of a later message
/// from the same sender is posted earlier than that, both are posted at the
/// earlier place. Thus both pipeline positions (ranks of the pipeline) post
/// their messages in the same order. The loop visits the messages from last to
/// first.
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

/// Sets Route::released of each message: the sender waits before this action
/// until its send is delivered. insertMessages (PipelineMessages.h) describes
/// the rule.
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

/// Steps that are inserted before one action of a pipeline position. `posts`
/// comes first and begins sends and receives. `waits` comes second and waits
/// for sends and receives that have begun.
struct StepsBefore {
  ProgramStep posts{ProgramStep::Post}, waits{ProgramStep::Wait};
};

/// Builds the program of each pipeline position from its actions. Inserts the
/// Post and Wait steps before the actions.
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
/// `transfer`. If the kind is Update, the action must also execute part number
/// `part` of the update. Action stores its part in the field `microbatch`.
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
