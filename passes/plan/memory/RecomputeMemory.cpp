//===- RecomputeMemory.cpp - peak memory of kept and recomputed values ----===//

#include "passes/plan/memory/Recompute.h"

#include <algorithm>
#include <cassert>
#include <climits>

namespace pcc::plan {

namespace {
/// Live bytes at each of `length` instants (points in the order of execution).
/// Stores the changes between instants.
class MemoryProfile {
public:
  explicit MemoryProfile(size_t length) : changes(length + 1) {}

  /// Adds bytes that are alive during the instants [first, last], both
  /// included.
  void add(size_t first, size_t last, int64_t bytes) {
    changes[first] += bytes;
    changes[last + 1] -= bytes;
  }
  /// Subtracts bytes at all instants after `last`, the last read of a kept
  /// value.
  void removeAfter(size_t last, int64_t bytes) { changes[last + 1] -= bytes; }

  /// Returns the largest number of live bytes at one instant; at least 0.
  int64_t most() const {
    int64_t now = 0, most = 0;
    for (size_t i = 0; i + 1 < changes.size(); ++i)
      most = std::max(most, now += changes[i]);
    return most;
  }

private:
  std::vector<int64_t> changes;
};

/// Computes the memory of the backward pass of a stage. A recomputed op runs
/// right before the first backward op that needs its results. Each backward op
/// and each recomputed op is one instant of the memory profile.
class BackwardMemory {
public:
  BackwardMemory(const StageGraph &stage, const Recomputation &recomputation)
      : stage(stage), recomputation(recomputation),
        firstRead(stage.values.size(), INT_MAX), time(stage.ops.size()) {}

  /// Returns the peak bytes of the backward pass minus the bytes of all kept
  /// values, which are in memory when it begins. A kept value is freed after
  /// its last read. The result is at least 0. Must be called only once.
  int64_t extraBytes() {
    findTimes();
    findInstants();
    MemoryProfile profile(length);
    for (size_t i = 0; i < stage.backwardBytes.size(); ++i)
      profile.add(instantOfBackward[i], instantOfBackward[i],
                  stage.backwardBytes[i]);
    for (size_t i = 0; i < stage.ops.size(); ++i)
      for (int value : stage.ops[i].results)
        addValue(profile, static_cast<int>(i), value);
    return profile.most();
  }

private:
  /// Sets time[i] of each recomputed op i: the index of the first backward op
  /// that needs a result of op i. Visits the ops in reverse: once time[i] is
  /// known, the operands of op i are needed at the same backward op.
  void findTimes() {
    for (size_t i = 0; i < stage.values.size(); ++i)
      if (stage.values[i].firstRead >= 0)
        firstRead[i] = stage.values[i].firstRead;
    for (size_t i = stage.ops.size(); i-- > 0;) {
      if (!recomputation.isRecomputed[i])
        continue;
      time[i] = INT_MAX;
      for (int value : stage.ops[i].results)
        if (!recomputation.isKept[value])
          time[i] = std::min(time[i], firstRead[value]);
      for (int operand : stage.ops[i].operands)
        firstRead[operand] = std::min(firstRead[operand], time[i]);
    }
  }

  /// Numbers the instants (points of the backward pass at which one op runs).
  /// The ops recomputed for a backward op come right before it, in forward
  /// order.
  void findInstants() {
    std::vector<std::vector<size_t>> before(stage.backwardBytes.size());
    for (size_t i = 0; i < stage.ops.size(); ++i)
      if (recomputation.isRecomputed[i])
        before[time[i]].push_back(i);
    instantOfOp.assign(stage.ops.size(), 0);
    for (const std::vector<size_t> &ops : before) {
      for (size_t op : ops)
        instantOfOp[op] = length++;
      instantOfBackward.push_back(length++);
    }
    lastRead.assign(stage.values.size(), -1);
    auto note = [&](int value, size_t instant) {
      lastRead[value] =
          std::max(lastRead[value], static_cast<int64_t>(instant));
    };
    for (size_t i = 0; i < stage.values.size(); ++i)
      if (int last = stage.values[i].lastRead; last >= 0)
        note(static_cast<int>(i), instantOfBackward[last]);
    for (size_t i = 0; i < stage.ops.size(); ++i)
      if (recomputation.isRecomputed[i])
        for (int operand : stage.ops[i].operands)
          note(operand, instantOfOp[i]);
  }

  /// Adds the live range of `value`, a result of the forward op `op`.
  void addValue(MemoryProfile &profile, int op, int value) const {
    const int64_t bytes = stage.values[value].bytes;
    if (recomputation.isKept[value])
      profile.removeAfter(lastRead[value], bytes);
    else if (recomputation.isRecomputed[op])
      profile.add(instantOfOp[op],
                  std::max<int64_t>(lastRead[value],
                                    static_cast<int64_t>(instantOfOp[op])),
                  bytes);
  }

  const StageGraph &stage;
  const Recomputation &recomputation;
  /// For each value: index of the first backward op that needs it, directly or
  /// for a recomputed op.
  std::vector<int> firstRead;
  /// For each recomputed op: index of the backward op that it runs before.
  std::vector<int> time;
  std::vector<size_t> instantOfOp, instantOfBackward;
  /// For each value: the instant (point of the backward pass) of its last read;
  /// -1 if there is none.
  std::vector<int64_t> lastRead;
  size_t length = 0;
};
} // namespace

/// Returns the peak bytes of the forward pass minus the bytes of all kept
/// values. The caller adds these bytes for the whole pass. Therefore a kept
/// value that does not exist yet is subtracted. The result is at least 0.
static int64_t extraOfForward(const StageGraph &stage,
                              const Recomputation &recomputation) {
  std::vector<size_t> last(stage.values.size());
  for (size_t i = 0; i < stage.ops.size(); ++i)
    for (int operand : stage.ops[i].operands)
      last[operand] = i;
  MemoryProfile profile(stage.ops.size());
  for (size_t i = 0; i < stage.ops.size(); ++i)
    for (int value : stage.ops[i].results)
      if (const int64_t bytes = stage.values[value].bytes;
          recomputation.isKept[value]) {
        if (i > 0)
          profile.add(0, i - 1, -bytes);
      } else {
        profile.add(i, std::max(i, last[value]), bytes);
      }
  return profile.most();
}

int64_t activationBytes(const std::vector<StageGraph> &stages,
                        const std::vector<Recomputation> &recomputations) {
  assert(recomputations.size() == stages.size() && "one choice per stage");
  // All stages of a rank keep their values at the same time, so `resident` is a
  // sum. Only one stage runs at a time, so the additional memory of its passes,
  // `extra`, is a maximum.
  int64_t resident = 0, extra = 0;
  for (size_t i = 0; i < stages.size(); ++i) {
    const Recomputation &own = recomputations[i];
    resident += stages[i].inFlight * own.keptBytes;
    extra = std::max({extra, extraOfForward(stages[i], own),
                      BackwardMemory(stages[i], own).extraBytes()});
  }
  return resident + extra;
}

} // namespace pcc::plan
