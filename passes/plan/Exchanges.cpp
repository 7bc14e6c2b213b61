//===- Exchanges.cpp - messages between the positions of a pipeline -------===//

#include "passes/plan/Exchanges.h"

#include "passes/plan/Rendezvous.h"
#include "passes/plan/Simulate.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace pcc::plan {
namespace {

constexpr size_t nowhere = std::numeric_limits<size_t>::max();

/// A message, the positions it connects, and the actions it lies between: it
/// is sent after action `producer` of the sender's row and needed by action
/// `consumer` of the receiver's.
struct Route {
  int transfer, microbatch;
  int from, to;
  size_t producer, consumer;
};

/// One action of the linearisation.
struct Step {
  double start;
  /// 0, or the number of a part of the update, from 1: they take no time.
  int part;
  int position;
  size_t index;
  friend auto operator<=>(const Step &, const Step &) = default;
};

class ExchangeLowering {
public:
  ExchangeLowering(const ActionTable &table,
                   const std::vector<Transfer> &transfers)
      : table(table), transfers(transfers) {}

  PipelineProgramOrError run();
  PipelineProgramOrError runInOrder();

private:
  std::string prepare();
  std::string malformed() const;
  void indexActions();
  std::string linearise();
  std::string addRoutes(int position, size_t index);
  size_t consumerOf(const Transfer &transfer, int microbatch);
  PipelineProgram receiveLate() const;
  PipelineProgram inOrder() const;
  PipelineProgram empty() const {
    return {std::vector<PositionProgram>(table.positions.size()),
            table.positionOfStage, transfers};
  }
  size_t &indexOf(Wave wave, int stage, int microbatch) {
    return indices[(stage * 2 + static_cast<int>(wave)) *
                       table.numMicrobatches +
                   microbatch];
  }

  const ActionTable &table;
  const std::vector<Transfer> &transfers;
  /// Place of every F, and of every B or I, in its row.
  std::vector<size_t> indices;
  /// Place of every part of an update, by stage and part.
  std::map<std::pair<int, int>, size_t> updates;
  std::vector<Step> order;
  /// In the order of the linearisation.
  std::vector<Route> routes;
};

/// Adds messages to the exchange at the end of a program, beginning one if the
/// last step computes.
void append(PositionProgram &program, const std::vector<Message> &sends,
            const std::vector<Message> &receives) {
  if (sends.empty() && receives.empty())
    return;
  if (program.empty() || !program.back().isExchange)
    program.emplace_back().isExchange = true;
  ProgramStep &step = program.back();
  step.sends.insert(step.sends.end(), sends.begin(), sends.end());
  step.receives.insert(step.receives.end(), receives.begin(), receives.end());
}

std::string ExchangeLowering::malformed() const {
  for (size_t i = 0; i < transfers.size(); ++i) {
    const Transfer &transfer = transfers[i];
    if (transfer.wave == Wave::Update)
      continue;
    const bool forward = transfer.wave == Wave::Forward;
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

void ExchangeLowering::indexActions() {
  indices.assign(size_t(table.numStages) * 2 * table.numMicrobatches, nowhere);
  for (const std::vector<Action> &row : table.positions)
    for (size_t index = 0; index < row.size(); ++index) {
      const Action &action = row[index];
      if (action.kind == ActionKind::Forward)
        indexOf(Wave::Forward, action.stage, action.microbatch) = index;
      if (makesInputGradient(action.kind))
        indexOf(Wave::Backward, action.stage, action.microbatch) = index;
      if (action.kind == ActionKind::Update)
        updates[{action.stage, action.microbatch}] = index;
    }
}

std::string ExchangeLowering::linearise() {
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
  for (const Step &step : order)
    if (std::string error = addRoutes(step.position, step.index);
        !error.empty())
      return error;
  return {};
}

size_t ExchangeLowering::consumerOf(const Transfer &transfer, int microbatch) {
  if (transfer.wave != Wave::Update)
    return indexOf(transfer.wave, transfer.toStage, microbatch);
  auto it = updates.find({transfer.toStage, transfer.part + 1});
  return it == updates.end() ? nowhere : it->second;
}

/// Routes of everything that an action sends to other positions.
std::string ExchangeLowering::addRoutes(int position, size_t index) {
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

/// Receives right before their use, unless a later message of the same sender
/// is needed earlier: then before that one.
PipelineProgram ExchangeLowering::receiveLate() const {
  std::vector<size_t> slots(routes.size());
  std::map<std::pair<int, int>, size_t> latest;
  for (size_t i = routes.size(); i-- > 0;) {
    auto [slot, first] =
        latest.try_emplace({routes[i].from, routes[i].to}, routes[i].consumer);
    slots[i] = slot->second = std::min(slot->second, routes[i].consumer);
  }
  using Exchange = std::pair<std::vector<Message>, std::vector<Message>>;
  std::vector<std::vector<Exchange>> before;
  for (const std::vector<Action> &row : table.positions)
    before.emplace_back(row.size() + 1);
  for (size_t i = 0; i < routes.size(); ++i) {
    const Route &route = routes[i];
    before[route.from][route.producer + 1].first.push_back(
        {route.transfer, route.microbatch, route.to});
    before[route.to][slots[i]].second.push_back(
        {route.transfer, route.microbatch, route.from});
  }
  PipelineProgram program = empty();
  for (int position = 0; position < table.numPositions(); ++position) {
    PositionProgram &steps = program.positions[position];
    const std::vector<Action> &row = table.positions[position];
    for (size_t index = 0; index <= row.size(); ++index) {
      append(steps, before[position][index].first,
             before[position][index].second);
      if (index < row.size())
        steps.push_back({false, row[index], {}, {}});
    }
  }
  return program;
}

/// Both ends of every message at its moment of the linearisation.
PipelineProgram ExchangeLowering::inOrder() const {
  PipelineProgram program = empty();
  auto route = routes.begin();
  for (const Step &step : order) {
    program.positions[step.position].push_back(
        {false, table.positions[step.position][step.index], {}, {}});
    for (; route != routes.end() && route->from == step.position &&
           route->producer == step.index;
         ++route) {
      program.positions[route->from].push_back(
          {true, {}, {{route->transfer, route->microbatch, route->to}}, {}});
      program.positions[route->to].push_back(
          {true, {}, {}, {{route->transfer, route->microbatch, route->from}}});
    }
  }
  return program;
}

/// Exchanges that follow each other become one.
PipelineProgram group(const PipelineProgram &program) {
  PipelineProgram grouped{{}, program.positionOfStage, program.transfers};
  for (const PositionProgram &steps : program.positions) {
    PositionProgram &out = grouped.positions.emplace_back();
    for (const ProgramStep &step : steps)
      if (step.isExchange)
        append(out, step.sends, step.receives);
      else
        out.push_back(step);
  }
  return grouped;
}

/// Everything that does not depend on where receives stand; an error, if any.
std::string ExchangeLowering::prepare() {
  if (std::string error = malformed(); !error.empty())
    return error;
  indexActions();
  return linearise();
}

PipelineProgramOrError ExchangeLowering::run() {
  PipelineProgramOrError result;
  result.error = prepare();
  if (!result.error.empty())
    return result;
  result.program = receiveLate();
  if (replay(result.program).terminates())
    return result;
  result.program = group(inOrder());
  result.error = replay(result.program).error;
  return result;
}

PipelineProgramOrError ExchangeLowering::runInOrder() {
  PipelineProgramOrError result;
  result.error = prepare();
  if (result.error.empty())
    result.program = inOrder();
  return result;
}

} // namespace

WavePart waveOfAction(std::string_view action) {
  const std::optional<Action> parsed = parseKind(action);
  if (!parsed)
    return {};
  if (parsed->kind == ActionKind::Update)
    return {Wave::Update, std::max(parsed->microbatch, 0)};
  const bool isBack =
      isCompute(parsed->kind) && parsed->kind != ActionKind::Forward;
  return {isBack ? Wave::Backward : Wave::Forward, 0};
}

/// Update actions count their parts where others count microbatches.
static bool isPart(const Action &action, const Transfer &transfer, int part) {
  return isOf(action, transfer.wave) &&
         (transfer.wave != Wave::Update || action.microbatch == part);
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
  return transfer.wave == Wave::Update ? 0 : action.microbatch;
}

std::vector<Transfer> chainTransfers(int numStages, bool trains) {
  std::vector<Transfer> transfers;
  for (int stage = 0; stage + 1 < numStages; ++stage) {
    transfers.push_back({stage, stage + 1, Wave::Forward});
    if (trains)
      transfers.push_back({stage + 1, stage, Wave::Backward});
  }
  return transfers;
}

PipelineProgramOrError lowerExchanges(const ActionTable &table,
                                      const std::vector<Transfer> &transfers) {
  return ExchangeLowering(table, transfers).run();
}

PipelineProgramOrError lowerInOrder(const ActionTable &table,
                                    const std::vector<Transfer> &transfers) {
  return ExchangeLowering(table, transfers).runInOrder();
}

PipelineProgram ungroup(const PipelineProgram &program) {
  PipelineProgram single{{}, program.positionOfStage, program.transfers};
  for (const PositionProgram &steps : program.positions) {
    PositionProgram &out = single.positions.emplace_back();
    for (const ProgramStep &step : steps) {
      if (!step.isExchange)
        out.push_back(step);
      for (const Message &message : step.sends)
        out.push_back({true, {}, {message}, {}});
      for (const Message &message : step.receives)
        out.push_back({true, {}, {}, {message}});
    }
  }
  return single;
}

std::string nameOf(const PipelineProgram &program, const Message &message) {
  const Transfer &transfer = program.transfers[message.transfer];
  if (transfer.wave == Wave::Update)
    return print({ActionKind::Update, transfer.fromStage, transfer.part});
  const bool forward = transfer.wave == Wave::Forward;
  return print({forward ? ActionKind::Forward : ActionKind::Backward,
                transfer.fromStage, message.microbatch});
}

std::string print(const PipelineProgram &program, int position) {
  std::string line;
  for (const ProgramStep &step : program.positions[position]) {
    line += line.empty() ? "" : " ";
    if (!step.isExchange) {
      line += print(step.action);
      continue;
    }
    std::string exchange;
    for (const Message &message : step.sends)
      exchange +=
          " s" + nameOf(program, message) + ">" + std::to_string(message.peer);
    for (const Message &message : step.receives)
      exchange +=
          " r" + nameOf(program, message) + "<" + std::to_string(message.peer);
    line += "{" + exchange.substr(1) + "}";
  }
  return line;
}

} // namespace pcc::plan
