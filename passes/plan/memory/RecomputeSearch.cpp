//===- RecomputeSearch.cpp - segments, and recomputation under a budget ---===//

#include "passes/plan/memory/Recompute.h"

#include <algorithm>
#include <cassert>
#include <tuple>
#include <utility>

namespace pcc::plan {

namespace {
/// Divides ops of one pipeline stage into segments. A segment is a list of ops
/// in the order of execution. The class considers only the ops that the
/// backward pass would have to run again if no value of the forward pass were
/// kept in memory. It divides them in two steps:
///
///  1. The early ops form the first segment. An op is early if it takes little
///     or no time, and if each operand of the op is a weight, an input of the
///     stage or a result of another early op. An example is an op that computes
///     a constant mask.
///  2. All other ops form the list `chain`. The function `cut` divides `chain`
///     into segments. Each of these segments is a range of consecutive ops of
///     `chain`.
class Segments {
public:
  explicit Segments(const StageGraph &stage);

  /// Divides the list of ops `chain` into segments (ranges of consecutive ops).
  /// The ops of `chain` are in the order of execution. `total` is the number of
  /// bytes of all results of these ops. A segment is a single op, or the
  /// results of its ops have at most total / numParts bytes.
  ///
  /// A value crosses between segments if an op of one segment computes the
  /// value and an op of a later segment reads it. Among all possible divisions,
  /// the function chooses the one in which the fewest bytes cross between
  /// segments. A value that segment 1 computes and segment 3 reads counts
  /// twice, because it crosses from 1 to 2 and from 2 to 3.
  void cut(size_t numParts);

  /// Returns for each value whether it crosses from one segment (range of
  /// consecutive ops) to another. Crossing values are always kept.
  const std::vector<bool> &crossing() const { return isCrossing; }
  /// Returns one list of choices for each segment (range of consecutive ops). A
  /// choice says which values of the segment stay in memory ("kept") and which
  /// ops of the segment are recomputed. The first choice of a list has the
  /// fewest recomputed flops. Each following choice keeps fewer bytes and
  /// recomputes more flops. cut() must be called first, because it creates the
  /// segments.
  std::vector<std::vector<TradeOff>> tradeOffsOfAll() const;
  size_t length() const { return chain.size(); }

private:
  void findEarly(const std::vector<bool> &runs);
  /// Fills four lists with information about `chain`, a list of ops in the
  /// order of execution:
  ///
  ///  - `maker` has, for each value, the index of the op that computes the
  ///    value.
  ///  - `lastReader` has, for each value, the index of the last op that reads
  ///    the value.
  ///  - `made` has sums of bytes. Entry i is the number of bytes of all results
  ///    of the ops 0 to i - 1.
  ///  - `crossingBytes` has, for each op i, the number of bytes of all values
  ///    that an op up to op i computes and an op after op i reads.
  void findCrossings();
  std::vector<size_t> cheapestEnds(double mostBytes) const;
  /// Sets `isCrossing` of each value that crosses one cut of `chain`. `chain`
  /// is a list of ops in the order of execution. The cut lies right before
  /// chain[end]. A value crosses the cut if an op before the cut computes the
  /// value and an op after the cut reads it.
  void markCrossing(size_t end);

  const StageGraph &stage;
  /// Two lists of ops of the forward pass. Each entry is the index of an op in
  /// `stage.ops`. Both lists have the order of execution. Assume that no value
  /// of the forward pass is kept in memory. The backward pass then has to run
  /// some ops of the forward pass again. Each of these ops is in one list:
  ///
  ///  - `early`: an op is in this list if the op may run twice, if the op takes
  ///    little or no time, and if each operand of the op is a weight, an input
  ///    of the stage or a result of another op in this list.
  ///  - `chain`: all other ops that the backward pass has to run again.
  std::vector<int> early, chain;
  /// Two indices in `chain` for each value. `chain` is a list of ops in the
  /// order of execution. `maker` has the index of the op that computes the
  /// value; -1 if no op of `chain` computes it. `lastReader` has the index of
  /// the last op that reads the value; -1 if no op of `chain` reads it.
  std::vector<int> maker, lastReader;
  /// Sums of bytes for `chain`, a list of ops in the order of execution:
  ///  - made[i]: bytes of all results of the first i ops.
  ///  - crossingBytes[i]: bytes of all values that are still needed after op i.
  ///    One of the ops 0 to i computes such a value, and an op after op i reads
  ///    it.
  ///
  /// Example: op 0 computes a (8 bytes), op 1 computes b (4 bytes), and op 2
  /// reads a and b. Then made[1] is 8, and made[2] is 8 + 4 = 12.
  /// crossingBytes[0] is 8, and crossingBytes[1] is 8 + 4 = 12.
  std::vector<double> made, crossingBytes;
  std::vector<bool> isCrossing;
  std::vector<std::vector<int>> segments;
};
} // namespace

Segments::Segments(const StageGraph &stage)
    : stage(stage), maker(stage.values.size(), -1),
      lastReader(stage.values.size(), -1), isCrossing(stage.values.size()) {
  findEarly(complete(stage, isCrossing).isRecomputed);
  findCrossings();
}

/// Adds each op i with runs[i] to the list `early` or to the list `chain`.
/// runs[i] is true if the backward pass would run op i again if no value were
/// kept. An op is early if it may run twice, takes little or no time, and reads
/// only weights, inputs of the stage and results of other early ops. Example:
/// op 0 adds 1 to an input, op 1 is a matmul, and op 2 adds the results of op 0
/// and op 1. `early` becomes {0}, and `chain` becomes {1, 2}.
void Segments::findEarly(const std::vector<bool> &runs) {
  std::vector<bool> isLate(stage.values.size());
  for (size_t i = 0; i < stage.ops.size(); ++i) {
    const ForwardOp &op = stage.ops[i];
    const bool dependsOnLate =
        std::any_of(op.operands.begin(), op.operands.end(),
                    [&](int operand) { return isLate[operand]; });
    const bool isEarly =
        !dependsOnLate && op.isRepeatable && (op.isCheap || op.flops == 0);
    for (int value : op.results)
      isLate[value] = !isEarly;
    if (runs[i])
      (isEarly ? early : chain).push_back(static_cast<int>(i));
  }
}

void Segments::findCrossings() {
  made.push_back(0);
  for (size_t place = 0; place < chain.size(); ++place) {
    const ForwardOp &op = stage.ops[chain[place]];
    made.push_back(made.back());
    for (int value : op.results) {
      maker[value] = static_cast<int>(place);
      made.back() += static_cast<double>(stage.values[value].bytes);
    }
    for (int operand : op.operands)
      lastReader[operand] = static_cast<int>(place);
  }
  std::vector<double> changes(chain.size() + 1);
  for (size_t value = 0; value < maker.size(); ++value)
    if (maker[value] >= 0 && lastReader[value] > maker[value]) {
      changes[maker[value]] += static_cast<double>(stage.values[value].bytes);
      changes[lastReader[value]] -=
          static_cast<double>(stage.values[value].bytes);
    }
  double now = 0;
  for (size_t place = 0; place < chain.size(); ++place)
    crossingBytes.push_back(now += changes[place]);
}

/// Divides the list of ops `chain` into segments (ranges of consecutive ops).
/// Returns the end of each segment: the index after the last op of the segment.
/// For example, the ends 2 and 5 stand for the segment with ops 0 and 1, and
/// the segment with ops 2, 3 and 4.
///
/// A segment is a single op, or the results of its ops have at most `mostBytes`
/// bytes. There is a cut between each two neighboring segments. A cut costs the
/// bytes of all values that are computed before the cut and read after the cut.
/// The function chooses the division for which the sum of these costs is least.
///
/// The algorithm is a dynamic program. least[i] is the least sum of costs for a
/// list that has only the first i ops.
std::vector<size_t> Segments::cheapestEnds(double mostBytes) const {
  std::vector<double> least(chain.size() + 1, 0);
  std::vector<size_t> begin(chain.size() + 1, 0);
  for (size_t end = 1; end <= chain.size(); ++end) {
    least[end] = -1;
    for (size_t from = end; from-- > 0;) {
      if (from + 1 < end && made[end] - made[from] > mostBytes)
        break;
      const double bytes = least[from] + (from ? crossingBytes[from - 1] : 0);
      if (least[end] < 0 || bytes < least[end]) {
        least[end] = bytes;
        begin[end] = from;
      }
    }
  }
  std::vector<size_t> ends;
  for (size_t end = chain.size(); end > 0; end = begin[end])
    ends.push_back(end);
  std::reverse(ends.begin(), ends.end());
  return ends;
}

void Segments::markCrossing(size_t end) {
  for (size_t value = 0; value < maker.size(); ++value)
    if (maker[value] >= 0 && maker[value] < static_cast<int>(end) &&
        lastReader[value] >= static_cast<int>(end))
      isCrossing[value] = true;
}

void Segments::cut(size_t numParts) {
  assert(numParts > 0 && "no parts");
  segments = {early};
  isCrossing.assign(stage.values.size(), false);
  size_t begin = 0;
  for (size_t end : cheapestEnds(made.back() / static_cast<double>(numParts))) {
    segments.emplace_back(chain.begin() + begin, chain.begin() + end);
    markCrossing(end);
    begin = end;
  }
}

std::vector<std::vector<TradeOff>> Segments::tradeOffsOfAll() const {
  std::vector<std::vector<TradeOff>> all;
  all.reserve(segments.size());
  for (const std::vector<int> &ops : segments)
    all.push_back(tradeOffs(stage, ops, isCrossing));
  return all;
}

/// Returns numbers n for which the caller tries Segments::cut(n). The function
/// Segments::cut(n) divides a list of ops into segments (ranges of consecutive
/// ops). A greater n gives smaller segments. `length` is the number of ops in
/// the list.
///
/// The result begins with 1. Each of the next numbers is about 1.5 times the
/// number before it: 2, 3, 4, 6, 9, 13, 19. The result ends before the first
/// number that is greater than `length`. For example, the result for 8 ops is
/// {1, 2, 3, 4, 6}.
static std::vector<size_t> numbersOfParts(size_t length) {
  std::vector<size_t> numbers{1};
  for (size_t next = 2; next <= length;
       next = next + std::max<size_t>(1, next / 2))
    numbers.push_back(next);
  return numbers;
}

Recomputation recomputeAll(const StageGraph &stage) {
  Segments segments(stage);
  Recomputation best;
  int64_t leastBytes = -1;
  for (size_t numParts : numbersOfParts(segments.length())) {
    segments.cut(numParts);
    Recomputation all = complete(stage, segments.crossing());
    const int64_t bytes = activationBytes({stage}, {all});
    if (leastBytes >= 0 && bytes >= leastBytes)
      continue;
    leastBytes = bytes;
    best = std::move(all);
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Under a budget
//===----------------------------------------------------------------------===//

namespace {
/// A choice for all pipeline stages of one rank. The choice says which values
/// of the forward pass are kept in memory, and which ops the backward pass runs
/// again. `bytes` is the estimated peak memory of the rank. `flops` is the
/// number of flops of all ops that run again.
///
/// isBetterThan compares two choices. `budget` is the number of bytes that may
/// be in memory at the peak. A choice fits if `bytes` is at most `budget`.
///
///  - A choice that fits is better than a choice that does not fit.
///  - If both choices fit, the choice with fewer flops is better.
///  - If neither choice fits, the choice with fewer bytes is better.
struct PositionChoice {
  std::vector<Recomputation> recomputations;
  int64_t bytes = 0;
  double flops = 0;

  PositionChoice(const std::vector<StageGraph> &stages,
                 std::vector<Recomputation> chosen)
      : recomputations(std::move(chosen)),
        bytes(activationBytes(stages, recomputations)) {
    for (const Recomputation &one : recomputations)
      flops += one.flops;
  }

  bool isBetterThan(const PositionChoice &other, int64_t budget) const {
    auto rank = [&](const PositionChoice &choice) {
      const bool fits = choice.bytes <= budget;
      const auto size = static_cast<double>(choice.bytes);
      return fits ? std::tuple(0, choice.flops, size)
                  : std::tuple(1, size, choice.flops);
    };
    return rank(*this) < rank(other);
  }
};

/// Greedy search for the values that the segments (ranges of consecutive ops)
/// keep. At first, every segment keeps the fewest bytes. Each change lets one
/// segment keep more bytes, and saves flops. Changes that save the most flops
/// per byte come first. A change that exceeds the memory budget is undone.
class GreedySearch {
public:
  GreedySearch(const std::vector<StageGraph> &stages,
               const std::vector<Segments> &segments)
      : stages(stages) {
    for (size_t stage = 0; stage < stages.size(); ++stage) {
      crossing.push_back(segments[stage].crossing());
      levels.push_back(segments[stage].tradeOffsOfAll());
      chosen.emplace_back();
      for (const std::vector<TradeOff> &own : levels.back())
        chosen.back().push_back(own.size() - 1);
      recomputations.push_back(completed(stage));
    }
  }

  /// Returns a choice of kept values for one rank. `budget` is the number of
  /// bytes that may be in memory at the peak. At first, each segment (list of
  /// ops) keeps the fewest bytes. A change lets one segment keep more bytes and
  /// saves flops of recomputation. The function tries the changes that save the
  /// most flops per byte first. It undoes a change if the rank then needs more
  /// than `budget` bytes, and skips all later changes of this segment.
  PositionChoice run(int64_t budget) {
    for (const LevelStep &step : steps())
      if (chosen[step.stage][step.segment] == step.level + 1)
        tryStep(step, budget);
    return {stages, recomputations};
  }

private:
  /// One possible change of a segment (range of consecutive ops). A segment has
  /// a list of choices. A choice says which values stay in memory ("kept") and
  /// which ops are recomputed. Choice 0 keeps the most bytes. Each following
  /// choice keeps fewer bytes and recomputes more flops.
  ///
  /// The change replaces choice `level + 1` by choice `level`. For example, a
  /// change with level 2 replaces choice 3 by choice 2. More bytes are then
  /// kept, and fewer flops are recomputed. `flopsPerByte` is the number of
  /// flops that the change saves for each additional kept byte.
  struct LevelStep {
    double flopsPerByte;
    size_t stage, segment, level;
  };

  /// Returns the possible changes of all segments (ranges of consecutive ops).
  /// A change lets a segment keep more bytes, and saves flops of recomputation.
  /// The result is sorted: a change that saves more flops per byte comes
  /// earlier.
  ///
  /// A segment has a list of choices, for example choices 0, 1 and 2. Choice 0
  /// keeps the most bytes. The segment begins with choice 2. It has two
  /// changes: from choice 2 to choice 1, and from choice 1 to choice 0. The
  /// first of these changes saves more flops per byte than the second.
  /// Therefore the first comes before the second in the result.
  std::vector<LevelStep> steps() const {
    std::vector<LevelStep> list;
    for (size_t stage = 0; stage < levels.size(); ++stage)
      for (size_t segment = 0; segment < levels[stage].size(); ++segment)
        for (size_t level = 0; level + 1 < levels[stage][segment].size();
             ++level) {
          const TradeOff &to = levels[stage][segment][level],
                         &from = levels[stage][segment][level + 1];
          list.push_back({(from.flops - to.flops) /
                              static_cast<double>((to.bytes - from.bytes) *
                                                  stages[stage].inFlight),
                          stage, segment, level});
        }
    std::sort(list.begin(), list.end(),
              [](const LevelStep &left, const LevelStep &right) {
                auto key = [](const LevelStep &step) {
                  return std::tuple(-step.flopsPerByte, step.stage,
                                    step.segment, step.level);
                };
                return key(left) < key(right);
              });
    return list;
  }

  /// Tries to let one segment (range of consecutive ops) keep more values in
  /// memory. `step.stage` and `step.segment` are the indices of the pipeline
  /// stage and of the segment. A segment has a list of choices. A choice says
  /// which values of the segment are kept in memory. The current choice of the
  /// segment is `step.level + 1`.
  ///
  /// The function replaces the current choice by the choice `step.level`, which
  /// keeps more bytes. If all stages of the rank together then need more than
  /// `budget` bytes, the function goes back to the choice `step.level + 1`.
  void tryStep(const LevelStep &step, int64_t budget) {
    size_t &level = chosen[step.stage][step.segment];
    level = step.level;
    Recomputation before = completed(step.stage);
    std::swap(before, recomputations[step.stage]);
    if (activationBytes(stages, recomputations) <= budget)
      return;
    ++level;
    recomputations[step.stage] = std::move(before);
  }

  /// Returns which values of the stage with index `stage` are kept, and which
  /// ops are recomputed. A value that the backward pass or a recomputed op
  /// reads is kept in three cases. In all other cases, its op is recomputed:
  ///  - The value is in the current choice of its segment (list of ops).
  ///  - An op of a later segment reads the value. This case does not apply to
  ///    the first segment, because its ops take little time.
  ///  - The op that computes the value must not run twice.
  Recomputation completed(size_t stage) const {
    std::vector<bool> mayKeep = crossing[stage];
    for (size_t segment = 0; segment < levels[stage].size(); ++segment)
      for (int value : levels[stage][segment][chosen[stage][segment]].kept)
        mayKeep[value] = true;
    return complete(stages[stage], mayKeep);
  }

  const std::vector<StageGraph> &stages;
  std::vector<std::vector<bool>> crossing;
  /// levels[stage][segment] is the list of all possible choices for one segment
  /// (range of consecutive ops) of one pipeline stage. A choice says which
  /// values of the segment stay in memory ("kept") and which ops of the segment
  /// are recomputed. The first choice recomputes the fewest flops. Each
  /// following choice keeps fewer bytes and recomputes more flops.
  ///
  /// chosen[stage][segment] is the index of the current choice of the segment
  /// in levels[stage][segment].
  std::vector<std::vector<std::vector<TradeOff>>> levels;
  std::vector<std::vector<size_t>> chosen;
  std::vector<Recomputation> recomputations;
};
} // namespace

/// Calls the function `mode` for each pipeline stage of one rank, and returns
/// all results together. `mode` decides for one stage which values of the
/// forward pass are kept in memory, and which ops the backward pass runs again.
/// An example of such a function is recomputeCheap.
static PositionChoice choiceOf(const std::vector<StageGraph> &stages,
                               Recomputation (*mode)(const StageGraph &)) {
  std::vector<Recomputation> chosen;
  chosen.reserve(stages.size());
  for (const StageGraph &stage : stages)
    chosen.push_back(mode(stage));
  return {stages, std::move(chosen)};
}

/// Limit for the function `refine`. The function improves a choice of values
/// that are kept in memory. It tries to change the choice for one value after
/// another. The time to try all values is quadratic in the number of ops. If
/// the pipeline stages of a rank together have more ops than this limit,
/// `refine` returns without any change.
static constexpr size_t mostRefinedOps = 1000;

/// Improves `best`, the choice of kept values for all stages of one rank, by
/// local search. Visits each value and tries the choice in which only this
/// value changes from kept to not kept, or from not kept to kept. The new
/// choice replaces `best` if it is better. A choice within `budget` bytes is
/// better than a choice beyond `budget`. Within `budget`, fewer recomputed
/// flops are better. Beyond `budget`, fewer bytes are better. The function
/// repeats the visits until no choice is better. It does nothing for more than
/// mostRefinedOps ops.
static void refine(PositionChoice &best, const std::vector<StageGraph> &stages,
                   int64_t budget) {
  size_t numOps = 0;
  for (const StageGraph &stage : stages)
    numOps += stage.ops.size();
  if (numOps > mostRefinedOps)
    return;
  auto change = [&](size_t stage, int value) {
    std::vector<Recomputation> changed = best.recomputations;
    std::vector<bool> mayKeep = changed[stage].isKept;
    mayKeep[value] = !mayKeep[value];
    changed[stage] = complete(stages[stage], mayKeep);
    PositionChoice choice(stages, std::move(changed));
    const bool isBetter = choice.isBetterThan(best, budget);
    if (isBetter)
      best = std::move(choice);
    return isBetter;
  };
  bool isBetter = true;
  while (std::exchange(isBetter, false))
    for (size_t stage = 0; stage < stages.size(); ++stage)
      for (const ForwardOp &op : stages[stage].ops)
        for (int value : op.results)
          isBetter |= change(stage, value);
}

std::vector<Recomputation>
recomputeWithin(const std::vector<StageGraph> &stages, int64_t budget) {
  // recomputeNothing recomputes only ops that cost no flops. If this choice
  // needs at most `budget` bytes, no choice is better. Otherwise, the function
  // takes the best of several choices, and `refine` improves it. GreedySearch
  // runs once for each of several numbers of segments (ranges of consecutive
  // ops).
  PositionChoice best = choiceOf(stages, recomputeNothing);
  if (best.bytes <= budget)
    return best.recomputations;
  auto consider = [&](PositionChoice choice) {
    if (choice.isBetterThan(best, budget))
      best = std::move(choice);
  };
  consider(choiceOf(stages, recomputeCheap));
  consider(choiceOf(stages, recomputeAll));
  std::vector<Segments> segments(stages.begin(), stages.end());
  size_t longest = 0;
  for (const Segments &own : segments)
    longest = std::max(longest, own.length());
  for (size_t numParts : numbersOfParts(longest)) {
    for (Segments &own : segments)
      own.cut(numParts);
    consider(GreedySearch(stages, segments).run(budget));
  }
  refine(best, stages, budget);
  return best.recomputations;
}

} // namespace pcc::plan
