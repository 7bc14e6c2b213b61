//===- RecomputeMemory.cpp - peak memory of kept and recomputed values ----===//

#include "passes/plan/memory/Recompute.h"

#include <algorithm>
#include <cassert>
#include <climits>

namespace pcc::plan {

namespace {
/// Number of bytes at each instant of a forward pass or a backward pass. An
/// instant is the time during which one op runs. The instants have the numbers
/// 0 to `length` - 1. The class does not store the numbers of bytes. It stores
/// how each number of bytes differs from the number before. For example, if the
/// instants 0 to 3 have 5, 5, 8 and 6 bytes, the first four entries of
/// `changes` are 5, 0, 3 and -2.
class MemoryProfile {
public:
  explicit MemoryProfile(size_t length) : changes(length + 1) {}

  /// Adds `bytes` to the number of bytes of each instant from `first` to
  /// `last`, both included. An instant is the time during which one op runs.
  /// For example, add(1, 2, 8) adds 8 bytes to the instants 1 and 2. `bytes`
  /// may be negative.
  void add(size_t first, size_t last, int64_t bytes) {
    changes[first] += bytes;
    changes[last + 1] -= bytes;
  }
  /// Subtracts `bytes` from the bytes of each instant (run time of one op)
  /// after `last`. Only one element of `changes` is written, because `changes`
  /// stores the differences between neighboring instants.
  void removeAfter(size_t last, int64_t bytes) { changes[last + 1] -= bytes; }

  /// Returns the largest number of bytes of any instant (run time of one op),
  /// but at least 0.
  int64_t most() const {
    int64_t now = 0, most = 0;
    for (size_t i = 0; i + 1 < changes.size(); ++i)
      most = std::max(most, now += changes[i]);
    return most;
  }

private:
  std::vector<int64_t> changes;
};

/// Computes how much memory the backward pass of a stage needs. The backward
/// pass runs backward ops. It also runs some ops of the forward pass again;
/// these ops are called recomputed ops. A recomputed op runs right before the
/// first backward op that needs its results. An instant is the time during
/// which one of these ops runs. The class adds up the bytes that are in memory
/// at each instant, and finds the instant with the most bytes.
class BackwardMemory {
public:
  BackwardMemory(const StageGraph &stage, const Recomputation &recomputation)
      : stage(stage), recomputation(recomputation),
        firstRead(stage.values.size(), INT_MAX), time(stage.ops.size()) {}

  /// Returns the peak bytes of the backward pass beyond the bytes of all kept
  /// values, but at least 0. A kept value is freed after its last read. Must be
  /// called only once, because it appends to `instantOfBackward`.
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
  /// that needs op i. The backward op reads a result of op i, or needs another
  /// recomputed op that reads the result.
  void findTimes() {
    for (size_t i = 0; i < stage.values.size(); ++i)
      if (stage.values[i].firstRead >= 0)
        firstRead[i] = stage.values[i].firstRead;
    // Visit each op after all ops that read its results.
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

  /// Numbers the instants of the backward pass from 0. One op runs at each
  /// instant. Recomputed op i runs right before backward op time[i]. Sets
  /// `instantOfOp` (instant of each recomputed op), `instantOfBackward`
  /// (instant of each backward op), `length` (number of instants), and
  /// `lastRead` (last instant at which an op reads each value).
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

  /// Adds the memory of `value`, a result of the forward op `op`, to `profile`.
  /// `profile` has the memory at each instant of the backward pass, minus the
  /// bytes of all kept values. A kept value is freed after its last read, and
  /// is negative in `profile` from then on. A recomputed value lives from its
  /// recomputation to its last read.
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
  /// For each value of the forward pass: the index of the first backward op
  /// that needs the value; INT_MAX if no backward op needs it. A backward op
  /// needs a value in two cases: the backward op reads the value, or an op that
  /// is recomputed for the backward op reads the value.
  std::vector<int> firstRead;
  /// time[i]: for recomputed op i, the index of the backward op right before
  /// which op i is recomputed. For example, if time[i] is 5, op i runs between
  /// the backward ops 4 and 5.
  std::vector<int> time;
  std::vector<size_t> instantOfOp, instantOfBackward;
  /// For each value of the forward pass: the number of the last instant of the
  /// backward pass at which an op reads the value. An instant is the time
  /// during which one op runs. Instants are numbered from 0. The number is -1
  /// if no op of the backward pass and no recomputed op reads the value.
  std::vector<int64_t> lastRead;
  size_t length = 0;
};
} // namespace

/// Returns the peak bytes of the forward pass beyond the bytes of all kept
/// values, but at least 0. A kept value lives from its op to the end of the
/// forward pass. Any other value lives from its op to its last reader in the
/// forward pass.
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
  // `resident` is the number of bytes of all kept values. It is a sum over all
  // stages, because the kept values of all stages are in memory at the same
  // time. `extra` is the largest number of bytes that a forward pass or a
  // backward pass of one stage needs in addition to the kept values. It is a
  // maximum over all stages, because the rank runs only one pass of one stage
  // at a time.
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
