//===- RecomputeMemory.cpp - what kept and recomputed values take ---------===//

#include "passes/plan/memory/Recompute.h"

#include <algorithm>
#include <climits>

namespace pcc::plan {

namespace {
/// Bytes that come and go along a profile of instants.
class MemoryProfile {
public:
  explicit MemoryProfile(size_t length) : changes(length + 1) {}

  /// Lives at [first, last].
  void add(size_t first, size_t last, int64_t bytes) {
    changes[first] += bytes;
    changes[last + 1] -= bytes;
  }
  /// Gone behind `last`.
  void removeAfter(size_t last, int64_t bytes) { changes[last + 1] -= bytes; }

  int64_t most() const {
    int64_t now = 0, most = 0;
    for (size_t i = 0; i + 1 < changes.size(); ++i)
      most = std::max(most, now += changes[i]);
    return most;
  }

private:
  std::vector<int64_t> changes;
};

/// The backward pass of a stage with the ops that run again, each right before
/// the first op that reads what it makes.
class BackwardMemory {
public:
  BackwardMemory(const StageGraph &stage, const Recomputation &recomputation)
      : stage(stage), recomputation(recomputation),
        firstRead(stage.values.size(), INT_MAX), time(stage.ops.size()) {}

  /// The most that it holds beyond all that is kept.
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

  /// Ops that run again at one time keep their order.
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
  std::vector<int> firstRead; ///< by value, when the first of its readers runs
  std::vector<int> time; ///< by op, the op of the backward pass it precedes
  std::vector<size_t> instantOfOp, instantOfBackward;
  std::vector<int64_t> lastRead; ///< by value, an instant
  size_t length = 0;
};
} // namespace

/// What the forward pass holds beyond all that is kept, less what is not there
/// yet.
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
