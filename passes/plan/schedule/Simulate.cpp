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

/// Returns the time at which all inputs of `action` are available on the
/// pipeline rank that runs `action`. For example, the forward action F of stage
/// 2 has one input: the result of F of stage 1 in the same microbatch. The
/// comment of the function `simulate` lists the inputs of all kinds of actions.
///
/// If an input of `action` has not been computed yet, the function returns
/// `never` (infinity). If `action` has no inputs, the function returns 0.
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

/// Returns the time at which actions of the optimizer update with the part
/// number `part` can start. The optimizer update of a stage can be divided into
/// parts, which are numbered from 0. Each part is one action. An action of part
/// 2 starts after all actions of part 0 and of part 1 have ended, on all
/// pipeline ranks. The function returns the largest end time of all actions
/// with smaller part numbers. If one of these actions has not run, the function
/// returns `never`.
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

/// Simulates the schedule from beginning to end. Returns the start time and the
/// end time of each action. The function visits the pipeline ranks in turn. The
/// visited rank runs actions until the rank has no more actions, or until an
/// input of its next action is missing. The visits end when no rank can run
/// another action.
///
/// If a rank then still has actions to run, the rank waits forever. For each
/// rank that waits forever, the function appends a text to the member `stuck`
/// of the result. An example of this text is "position 1 at 1F3 waits for 0F3".
/// This text means that rank 1 cannot run F (forward) of stage 1 in microbatch
/// 3, because F of stage 0 in microbatch 3 has not run.
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

/// Returns a number that depends on the kind of an action: the change that the
/// action makes to the number of stored forward passes. A forward pass is the
/// action F of one stage for one microbatch. A forward pass is stored while the
/// pipeline rank needs its activations for the backward pass. The change is:
///  - 1 for F. The rank stores the activations of this forward pass.
///  - -1 for B (backward). The rank no longer needs the activations after B.
///  - 0 for I (input gradient) and -1 for W (weight gradient). Some schedules
///    divide B into I and W. The rank no longer needs the activations after W.
///  - 0 for all other kinds.
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
