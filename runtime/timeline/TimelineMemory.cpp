//===- TimelineMemory.cpp - memory curves of a step -----------------------===//

#include "runtime/timeline/TimelineMemory.h"

#include <algorithm>
#include <set>

namespace pcc::runtime {
namespace {

/// Returns whether the action computes weight gradients: B (backward) or W
/// (weight gradient).
bool makesWeightGradient(ActionKind kind) {
  return kind == ActionKind::Backward || kind == ActionKind::WeightGradient;
}

/// Returns whether the timeline has any backward pass.
bool hasBackward(const Timeline &timeline) {
  for (const std::vector<TimedAction> &row : timeline.positions)
    for (const TimedAction &timed : row)
      if (makesWeightGradient(timed.action.kind))
        return true;
  return false;
}

/// Computes the memory in use over time on one row of a timeline. A row is the
/// list of actions that one rank, or several ranks with the same stages, run.
class MemoryCurve {
public:
  MemoryCurve(const std::vector<StageBytes> &stages, bool trains)
      : stages(stages), trains(trains) {}

  /// Returns the memory in use over time on one rank. `row` contains the
  /// actions of the rank in order of time. An action is an entry of the
  /// pipeline schedule, such as the forward pass of a stage for one microbatch.
  /// Each point of the result has a time and the number of bytes in use from
  /// this time on. The function may be called only once per object, because it
  /// moves the result out of a member of the object.
  std::vector<MemoryPoint> of(const std::vector<TimedAction> &row);

private:
  /// Returns the number of bytes that `action` takes into use when it starts. A
  /// forward pass takes the activations of one microbatch. The first action of
  /// the step that computes gradients of the stage's weights takes these
  /// gradients; later actions add to them. Any other action takes 0 bytes. If
  /// the result is the size of gradients, inserts the stage into
  /// `accumulating`.
  int64_t taken(const Action &action);
  /// Returns the number of bytes that `action` releases when it ends. A
  /// backward pass releases the activations of one microbatch. If a backward
  /// pass is divided, the first half (gradients of inputs) releases the
  /// activations that the second half (gradients of weights) does not need, and
  /// the second half releases the remaining activations. A forward pass
  /// releases the activations if the step has no backward pass. An optimizer
  /// update releases the gradients of the stage's weights, and removes the
  /// stage from `accumulating`. All other actions release 0 bytes.
  int64_t givenBack(const Action &action);
  /// Changes the number of bytes of memory in use at the time `seconds`. The
  /// number grows by `bytes`, which is negative if memory is released. Appends
  /// a point {seconds, bytes in use} to the list `curve`. For example, if 100
  /// bytes are in use, change(2, -30) appends the point {2, 70}. If `bytes` is
  /// 0, the function appends no point.
  void change(double seconds, int64_t bytes) {
    if (bytes)
      curve.push_back({seconds, curve.back().bytes + bytes});
  }

  const std::vector<StageBytes> &stages;
  const bool trains;
  /// Stages that have gradients of their weights in memory, as stage numbers.
  /// The member function of() goes through the actions of a rank in order of
  /// time, and updates this set. A stage enters the set at the first action
  /// that computes gradients of the stage's weights. A stage leaves the set at
  /// the optimizer update of the stage, because the update releases the
  /// gradients.
  std::set<int> accumulating;
  std::vector<MemoryPoint> curve;
};

int64_t MemoryCurve::taken(const Action &action) {
  const StageBytes &stage = stages[action.stage];
  if (action.kind == ActionKind::Forward)
    return stage.activations;
  const bool first = makesWeightGradient(action.kind) &&
                     accumulating.insert(action.stage).second;
  return first ? stage.gradients : 0;
}

int64_t MemoryCurve::givenBack(const Action &action) {
  const StageBytes &stage = stages[action.stage];
  switch (action.kind) {
  case ActionKind::Forward:
    return trains ? 0 : stage.activations;
  case ActionKind::Backward:
    return stage.activations;
  case ActionKind::InputGradient:
    return stage.activationsOfInput;
  case ActionKind::WeightGradient:
    return stage.activations - stage.activationsOfInput;
  case ActionKind::Update:
    return accumulating.erase(action.stage) ? stage.gradients : 0;
  default:
    return 0;
  }
}

std::vector<MemoryPoint> MemoryCurve::of(const std::vector<TimedAction> &row) {
  std::set<int> present;
  for (const TimedAction &timed : row)
    present.insert(timed.action.stage);
  curve.push_back({0, 0});
  for (int stage : present)
    curve.back().bytes += stages[stage].weights;
  for (const TimedAction &timed : row) {
    change(timed.start, taken(timed.action));
    change(timed.end, -givenBack(timed.action));
  }
  return std::move(curve);
}

} // namespace

void addMemory(Timeline &timeline, const std::vector<StageBytes> &stages) {
  const bool trains = hasBackward(timeline);
  timeline.memory.clear();
  for (const std::vector<TimedAction> &row : timeline.positions)
    timeline.memory.push_back(MemoryCurve(stages, trains).of(row));
}

std::vector<int64_t> peakBytes(const Timeline &timeline) {
  std::vector<int64_t> peaks;
  for (const std::vector<MemoryPoint> &curve : timeline.memory) {
    peaks.push_back(0);
    for (const MemoryPoint &point : curve)
      peaks.back() = std::max(peaks.back(), point.bytes);
  }
  return peaks;
}

} // namespace pcc::runtime
