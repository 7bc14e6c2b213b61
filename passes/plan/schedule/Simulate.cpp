//===- Simulate.cpp - simulator of action tables --------------------------===//

#include "passes/plan/schedule/Simulate.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace pcc::plan {
namespace {

/// Time of an event that has not happened yet.
constexpr double never = std::numeric_limits<double>::infinity();

/// End times of two actions for each stage and microbatch: the forward action
/// F, and the action that computes the gradient of the stage's input. The
/// second action is B (backward), or I (input gradient) if the schedule divides
/// B into I and W (weight gradient). An action that has not run has the end
/// time `never`.
class ActionEnds {
public:
  explicit ActionEnds(const ActionTable &table)
      : numMicrobatches(table.numMicrobatches),
        forward(size_t(table.numStages) * table.numMicrobatches, never),
        gradient(forward) {}

  double &ofForward(int stage, int microbatch) {
    return forward[stage * numMicrobatches + microbatch];
  }
  double &ofGradient(int stage, int microbatch) {
    return gradient[stage * numMicrobatches + microbatch];
  }

private:
  int numMicrobatches;
  std::vector<double> forward, gradient;
};

/// Simulates a pipeline schedule. The schedule lists the actions of each
/// pipeline rank in order. During the simulation, the members have these
/// values:
///  - next[p] is the number of actions that rank p has run.
///  - free[p] is the time at which the last of these actions ended, or 0 if
///    rank p has run no action.
class Simulation {
public:
  Simulation(const ActionTable &table, const ActionCosts &costs)
      : table(table), costs(costs), ends(table),
        next(table.positions.size(), 0), free(table.positions.size(), 0) {
    timeline.positions.resize(table.positions.size());
  }

  Timeline run();

private:
  /// Returns the time at which a result of stage `from`, computed at `end`, is
  /// available at stage `to`.
  double arrival(double end, int from, int to) const;
  double ready(const Action &action);
  double readyToUpdate(int part);
  bool advance(int position);
  /// Returns a text for an error message. The text describes one input of
  /// `action` that has not been computed. For example, if `action` is the
  /// forward action F of stage 2 in microbatch 3, the text is "1F3". This text
  /// stands for F of stage 1 in microbatch 3.
  std::string missing(const Action &action);

  const ActionTable &table;
  const ActionCosts &costs;
  ActionEnds ends;
  std::vector<size_t> next;
  std::vector<double> free;
  Timeline timeline;
};

double Simulation::arrival(double end, int from, int to) const {
  const bool remote = table.positionOfStage[from] != table.positionOfStage[to];
  return remote && costs.transferSeconds ? end + costs.transferSeconds(from, to)
                                         : end;
}

/// Returns the time at which all inputs of `action` are available on its
/// pipeline rank. Returns `never` if an input has not been computed yet, and 0
/// if there are no inputs.
double Simulation::ready(const Action &action) {
  const int stage = action.stage, mb = action.microbatch;
  switch (action.kind) {
  case ActionKind::Forward:
    return stage == 0
               ? 0
               : arrival(ends.ofForward(stage - 1, mb), stage - 1, stage);
  case ActionKind::Backward:
  case ActionKind::InputGradient:
    if (stage + 1 == table.numStages)
      return ends.ofForward(stage, mb);
    return std::max(ends.ofForward(stage, mb),
                    arrival(ends.ofGradient(stage + 1, mb), stage + 1, stage));
  case ActionKind::WeightGradient:
    return ends.ofGradient(stage, mb);
  case ActionKind::Update:
    return readyToUpdate(mb);
  default:
    return 0;
  }
}

/// Returns the time at which actions U<part> of the weight update can start.
/// The update consists of one or more parts: U0, U1 and so on. An action U2
/// starts after all actions U0 and U1 on all pipeline ranks have ended. Returns
/// `never` if one of these actions has not run.
double Simulation::readyToUpdate(int part) {
  double latest = 0;
  for (int position = 0; position < table.numPositions(); ++position) {
    const std::vector<Action> &row = table.positions[position];
    for (size_t i = next[position]; i < row.size(); ++i)
      if (row[i].kind == ActionKind::Update && row[i].microbatch < part)
        return never;
    for (size_t i = 0; i < next[position]; ++i)
      if (row[i].kind == ActionKind::Update && row[i].microbatch < part)
        latest = std::max(latest, timeline.positions[position][i].end);
  }
  return latest;
}

/// Simulates actions of the pipeline rank number `position`, one after another.
/// Begins at the first action of the rank that has not been simulated yet.
/// Stops at the end of the rank's actions, or at an action with an input that
/// has not been computed yet. Returns whether the function has simulated at
/// least one action.
bool Simulation::advance(int position) {
  const std::vector<Action> &row = table.positions[position];
  bool moved = false;
  for (; next[position] < row.size(); ++next[position], moved = true) {
    const Action &action = row[next[position]];
    const double inputs = ready(action);
    if (inputs == never)
      break;
    const double start = std::max(free[position], inputs);
    const double end =
        start + costs.secondsOf(action, table.numPositions(), table.numStages);
    free[position] = end;
    timeline.positions[position].push_back({action, start, end});
    if (action.kind == ActionKind::Forward)
      ends.ofForward(action.stage, action.microbatch) = end;
    if (makesInputGradient(action.kind))
      ends.ofGradient(action.stage, action.microbatch) = end;
  }
  return moved;
}

std::string Simulation::missing(const Action &action) {
  const int stage = action.stage, mb = action.microbatch;
  if (action.kind == ActionKind::Forward)
    return print({ActionKind::Forward, stage - 1, mb});
  if (action.kind == ActionKind::Update)
    return "the parts of updates before it";
  if (ends.ofForward(stage, mb) == never)
    return print({ActionKind::Forward, stage, mb});
  const bool own = action.kind == ActionKind::WeightGradient;
  return "the gradient of " +
         print({ActionKind::Forward, own ? stage : stage + 1, mb});
}

/// Simulates the schedule until no pipeline rank can run another action. For
/// each rank that waits forever, appends a text to `stuck`, such as "position 1
/// at 1F3 waits for 0F3". Here pipeline rank 1 cannot run F (forward) of stage
/// 1 for microbatch 3, because F of stage 0 for this microbatch has not run.
Timeline Simulation::run() {
  for (bool moved = true; moved;) {
    moved = false;
    for (int position = 0; position < table.numPositions(); ++position)
      moved |= advance(position);
  }
  for (int position = 0; position < table.numPositions(); ++position) {
    const std::vector<Action> &row = table.positions[position];
    if (next[position] == row.size())
      continue;
    const Action &action = row[next[position]];
    timeline.stuck += (timeline.stuck.empty() ? "" : "; ") +
                      ("position " + std::to_string(position)) + " at " +
                      print(action) + " waits for " + missing(action);
  }
  measureIdle(timeline);
  return std::move(timeline);
}

/// Returns by how much an action changes the number of forward passes whose
/// activations are stored: 1 for F (forward), -1 for B (backward) and W (weight
/// gradient), and 0 for other kinds.
int change(ActionKind kind) {
  if (kind == ActionKind::Forward)
    return 1;
  return kind == ActionKind::Backward || kind == ActionKind::WeightGradient ? -1
                                                                            : 0;
}

bool hasBackward(const ActionTable &table) {
  for (const std::vector<Action> &row : table.positions)
    for (const Action &action : row)
      if (change(action.kind) < 0)
        return true;
  return false;
}

} // namespace

double ActionCosts::secondsOf(const Action &action, int numPositions,
                              int numStages) const {
  assert(numPositions > 0 && numStages > 0 && "an empty pipeline");
  if (seconds)
    return seconds(action);
  if (!isCompute(action.kind))
    return 0;
  const double unit = action.kind == ActionKind::Backward ? 2 : 1;
  return unit * numPositions / numStages;
}

Timeline simulate(const ActionTable &table, const ActionCosts &costs) {
  return Simulation(table, costs).run();
}

std::vector<int> peakLive(const ActionTable &table) {
  std::vector<int> peak(table.positions.size(), 0);
  if (!hasBackward(table))
    return peak;
  for (int position = 0; position < table.numPositions(); ++position) {
    int live = 0;
    for (const Action &action : table.positions[position]) {
      live += change(action.kind);
      peak[position] = std::max(peak[position], live);
    }
  }
  return peak;
}

} // namespace pcc::plan
