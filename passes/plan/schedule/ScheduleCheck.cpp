//===- ScheduleCheck.cpp - verifier of action tables ----------------------===//

#include "passes/plan/schedule/ScheduleCheck.h"

#include "passes/plan/schedule/Simulate.h"
#include "status/Counted.h"

#include <algorithm>

namespace pcc::plan {
namespace {

/// Largest number of violations that checkSchedule returns.
constexpr size_t mostClaims = 20;

/// Checks a pipeline schedule. The schedule is an action table: for each
/// pipeline rank, the table lists the actions of one step in order. An example
/// of a rule is that each stage has one forward action per microbatch. The
/// comment of `checkSchedule` lists all rules. Each violation of a rule adds
/// one message to `claims`, until `claims` has `mostClaims` messages.
class ScheduleChecker {
public:
  explicit ScheduleChecker(const ActionTable &table)
      : table(table), seen(size_t(table.numStages) * table.numMicrobatches) {}

  std::vector<ScheduleClaim> run(const std::vector<int> &inFlightBound);

private:
  /// Numbers of actions of one stage and microbatch, by kind: F (forward), B
  /// (backward), I (input gradient) and W (weight gradient).
  struct ActionCounts {
    int f = 0, b = 0, i = 0, w = 0;
  };

  void claim(int position, std::string text) {
    if (claims.size() < mostClaims)
      claims.push_back({std::move(text), position});
  }
  /// Adds a claim about `action`, whose stage must be in range.
  void claim(const Action &action, const std::string &text) {
    claim(table.positionOfStage[action.stage], print(action) + text);
  }
  bool checkPositions();
  void checkOrder();
  /// Adds 1 to the number in `seen` for the kind, the stage and the microbatch
  /// of `action`. `action` is F (forward), B (backward), I (input gradient) or
  /// W (weight gradient). Records a violation in two cases:
  ///  - `action` is B, I or W, and comes before F of its stage and microbatch.
  ///  - `action` is W, and comes before I of its stage and microbatch.
  void note(const Action &action);
  void checkCounts();
  void checkWholeStageActions();
  void checkPeak(const std::vector<int> &bound);

  const ActionTable &table;
  /// For each stage and microbatch, the number of actions of each kind. The
  /// function `note` adds one action to these numbers. The element of stage s
  /// and microbatch m has the index s * numMicrobatches + m. For example, with
  /// 4 microbatches, the element of stage 2 and microbatch 1 has the index 9.
  std::vector<ActionCounts> seen;
  /// Whether the table has a backward pass.
  bool trains = false;
  std::vector<ScheduleClaim> claims;
};

/// Checks that all stage and microbatch numbers are in range, and that each
/// action is on the pipeline rank of its stage. If the result is false, the
/// other checks must not run, because they use these numbers as indices.
bool ScheduleChecker::checkPositions() {
  if (table.positionOfStage.size() != size_t(table.numStages)) {
    claim(-1, "the table places " +
                  counted(table.positionOfStage.size(), "stage") +
                  ", but has " + std::to_string(table.numStages));
    return false;
  }
  for (int position = 0; position < table.numPositions(); ++position)
    for (const Action &action : table.positions[position]) {
      const bool inRange = action.stage >= 0 &&
                           action.stage < table.numStages &&
                           (action.microbatch < table.numMicrobatches ||
                            action.kind == ActionKind::Update) &&
                           (action.microbatch >= 0 || !isCompute(action.kind));
      if (!inRange)
        claim(position, print(action) + " is outside of " +
                            counted(table.numStages, "stage") + " and " +
                            counted(table.numMicrobatches, "microbatch"));
      else if (table.positionOfStage[action.stage] != position)
        claim(position,
              "position " + std::to_string(position) + " has " + print(action) +
                  ", but stage " + std::to_string(action.stage) +
                  " is on position " +
                  std::to_string(table.positionOfStage[action.stage]));
    }
  return claims.empty();
}

void ScheduleChecker::note(const Action &action) {
  ActionCounts &s =
      seen[action.stage * table.numMicrobatches + action.microbatch];
  switch (action.kind) {
  case ActionKind::Forward:
    ++s.f;
    return;
  case ActionKind::Backward:
    ++s.b;
    break;
  case ActionKind::InputGradient:
    ++s.i;
    break;
  case ActionKind::WeightGradient:
    if (s.i == 0)
      claim(action, " comes before its I");
    ++s.w;
    break;
  default:
    return;
  }
  trains = true;
  if (s.f == 0)
    claim(action, " comes before its F");
}

void ScheduleChecker::checkOrder() {
  for (const std::vector<Action> &row : table.positions)
    for (const Action &action : row)
      if (isCompute(action.kind))
        note(action);
}

/// Checks that each stage has exactly one F (forward) per microbatch. If the
/// table has a backward pass, there must also be exactly one B (backward), or
/// one I (input gradient) and one W (weight gradient).
void ScheduleChecker::checkCounts() {
  for (int stage = 0; stage < table.numStages; ++stage)
    for (int mb = 0; mb < table.numMicrobatches; ++mb) {
      const ActionCounts &s = seen[stage * table.numMicrobatches + mb];
      const bool whole = s.b == 1 && s.i == 0 && s.w == 0;
      const bool split = s.b == 0 && s.i == 1 && s.w == 1;
      const std::string where = "stage " + std::to_string(stage) +
                                ", microbatch " + std::to_string(mb);
      const int position = table.positionOfStage[stage];
      if (s.f != 1)
        claim(position, where + " must have one F, got " + std::to_string(s.f));
      if (trains && !whole && !split)
        claim(position, where + " must have one B, or one I and one W; got " +
                            std::to_string(s.b) + " B, " + std::to_string(s.i) +
                            " I, " + std::to_string(s.w) + " W");
    }
}

/// Checks the order of actions without a microbatch, such as UNSHARD
/// (all-gather of weights) and updates. For example, an update must come after
/// all other actions of its stage.
void ScheduleChecker::checkWholeStageActions() {
  struct Uses {
    bool any = false, resharded = false, reduced = false, updated = false;
  };
  std::vector<Uses> stages(table.numStages);
  for (const std::vector<Action> &row : table.positions)
    for (const Action &action : row) {
      Uses &uses = stages[action.stage];
      const bool gradient =
          isCompute(action.kind) && action.kind != ActionKind::Forward;
      if (uses.updated && action.kind != ActionKind::Update)
        claim(action, " comes after the update of its stage");
      if (isCompute(action.kind) && uses.resharded)
        claim(action, " comes after the last RESHARD of its stage");
      if (gradient && uses.reduced)
        claim(action, " comes after REDUCE_GRAD of its stage");
      if (action.kind == ActionKind::Unshard && uses.any && !uses.resharded)
        claim(action, " comes after the first use of its stage");
      uses.any |= isCompute(action.kind);
      uses.resharded = action.kind == ActionKind::Reshard ||
                       (uses.resharded && action.kind != ActionKind::Unshard);
      uses.reduced |= action.kind == ActionKind::ReduceGradient;
      uses.updated |= action.kind == ActionKind::Update;
    }
}

/// Records a violation for each pipeline rank p that has more than bound[p]
/// forwards in flight at once. A forward is the forward pass (F) of one stage
/// for one microbatch. The forward is in flight until its backward pass (B)
/// ends. If the schedule divides B into I (input gradient) and W (weight
/// gradient), the forward is in flight until W ends. The function checks only
/// the ranks that have an element in `bound`.
void ScheduleChecker::checkPeak(const std::vector<int> &bound) {
  const std::vector<int> peak = peakLive(table);
  for (size_t position = 0; position < bound.size() && position < peak.size();
       ++position)
    if (peak[position] > bound[position])
      claim(static_cast<int>(position),
            "position " + std::to_string(position) + " keeps " +
                std::to_string(peak[position]) +
                " forwards alive, but the schedule declares " +
                std::to_string(bound[position]));
}

std::vector<ScheduleClaim>
ScheduleChecker::run(const std::vector<int> &inFlightBound) {
  if (!checkPositions())
    return claims;
  checkOrder();
  checkCounts();
  checkWholeStageActions();
  // Actions can obey all rules above and still wait for each other in a cycle.
  // For example, stage 0 runs 0B0 before 0F1, but stage 1 runs 1F1 before 1B0
  // (stage 1, backward, microbatch 0). The simulation finds such cycles.
  if (Timeline timeline = simulate(table); !timeline.stuck.empty())
    claim(-1, "the schedule cannot proceed: " + timeline.stuck);
  checkPeak(inFlightBound);
  return claims;
}

} // namespace

std::vector<ScheduleClaim>
checkSchedule(const ActionTable &table, const std::vector<int> &inFlightBound) {
  return ScheduleChecker(table).run(inFlightBound);
}

} // namespace pcc::plan
