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
  /// Subtracts `bytes` from the number of bytes of each instant after the
  /// instant `last`. An instant is the time during which one op runs.
  ///
  /// changes[i] is the difference between the bytes of the instant i and the
  /// bytes of the instant i - 1. The bytes of all instants from `last` + 1 on
  /// decrease by the same number. The differences between them do not change.
  /// Therefore the function changes only changes[last + 1].
  ///
  /// Example: the instants 0 to 3 have 5, 5, 8 and 6 bytes, so `changes` begins
  /// with 5, 0, 3 and -2. The call removeAfter(1, 2) subtracts 2 from
  /// changes[2]. Then `changes` begins with 5, 0, 1 and -2, and the instants
  /// have 5, 5, 6 and 4 bytes.
  void removeAfter(size_t last, int64_t bytes) { changes[last + 1] -= bytes; }

  /// Returns the largest number of bytes of any instant. An instant is the time
  /// during which one op runs. For example, if the instants have 5, 5, 8 and 6
  /// bytes, the result is 8.
  ///
  /// The bytes of an instant can be negative, because the caller may subtract
  /// bytes that it has not added. If the bytes of all instants are negative,
  /// the result is 0.
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

  /// Returns how many bytes the backward pass needs at its peak, in addition to
  /// the bytes of all kept values. The result is at least 0. A kept value stays
  /// in memory until its last read in the backward pass. The function must be
  /// called only once, because each call appends to `instantOfBackward`.
  ///
  /// Example: a and b are kept values of 8 bytes each. Backward op 0 reads a.
  /// Backward op 1 reads b and a gradient of 10 bytes, when a is no longer in
  /// memory. The peak is 8 + 10 = 18 bytes, and the result is 18 - (8 + 8) = 2.
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
  /// Sets time[i] for each recomputed op i. Op i must run before the first
  /// backward op that needs one of its results. time[i] is the index of this
  /// backward op. Results that are kept do not count.
  ///
  /// A backward op can need op i without reading its results, because another
  /// recomputed op j reads them. time[i] then is at most time[j]. The loop
  /// visits the ops in reverse, so that time[j] is set before time[i]. Example:
  /// backward op 5 reads a result of op 3, and op 3 reads a result of op 2. If
  /// ops 2 and 3 are recomputed, time[3] is 5, and time[2] is also 5.
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

  /// Numbers the instants of the backward pass from 0 on. At each instant, one
  /// backward op or one recomputed op runs. Recomputed ops run right before the
  /// first backward op that needs them, in the order of the forward pass.
  /// Example: backward op 1 is the first one that needs the recomputed ops 2
  /// and 3. The instants 0 to 3 are backward op 0, op 2, op 3 and backward op
  /// 1. Sets `instantOfOp`, `instantOfBackward`, the number of instants
  /// `length`, and for each value the last instant `lastRead` at which an op
  /// reads the value.
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

  /// Adds to `profile` the changes of memory that one value of the forward pass
  /// causes in the backward pass. `value` is the index of the value. `op` is
  /// the index of the forward op that computes the value. `profile` stores the
  /// bytes in memory at each point of the backward pass, minus the bytes of all
  /// kept values.
  ///
  ///  - A kept value is in memory when the backward pass begins. Its bytes are
  ///    subtracted after its last read.
  ///  - A recomputed value is in memory from its recomputation to its last
  ///    read. Its bytes are added for this time.
  ///  - Any other value causes no change.
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
  /// For each recomputed op: the index of the backward op that comes next. For
  /// example, an op with the entry 5 is recomputed between backward op 4 and
  /// backward op 5.
  std::vector<int> time;
  std::vector<size_t> instantOfOp, instantOfBackward;
  /// For each value of the forward pass: the number of the last instant of the
  /// backward pass at which an op reads the value. An instant is the time
  /// during which one op runs. Instants are numbered from 0. The entry is -1 if
  /// no op of the backward pass and no recomputed op reads the value.
  std::vector<int64_t> lastRead;
  size_t length = 0;
};
} // namespace

/// Returns how many bytes the forward pass of `stage` needs at its peak, in
/// addition to the bytes of all kept values. The result is at least 0.
/// `recomputation` says which values are kept. A kept value stays in memory
/// from the op that computes it to the end of the forward pass. A value that is
/// not kept stays in memory from the op that computes it to its last reader in
/// the forward pass. Example:
///
///     op 0      computes t (10 bytes, not kept)    10 bytes in memory
///     op 1      computes k (8 bytes, kept) from t  18 bytes in memory
///     result    18 - 8 = 10
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
