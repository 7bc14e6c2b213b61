//===- RecomputeSearch.cpp - segments, and recomputation under a budget ---===//

#include "passes/plan/memory/Recompute.h"

#include <algorithm>
#include <cassert>
#include <tuple>
#include <utility>

namespace pcc::plan {

namespace {
/// Divides ops into ranges, called segments. The ops are those that the
/// backward pass would recompute if no value were kept. The first segment has
/// the early ops. An early op is cheap and depends only on weights and stage
/// inputs, such as an op that computes a constant mask. cut() divides all other
/// ops into ranges of consecutive ops.
class Segments {
public:
  explicit Segments(const StageGraph &stage);

  /// Divides the ops that are not early (the list `chain`) into segments
  /// (ranges of consecutive ops) so that the fewest bytes cross from one
  /// segment to the next. The results of a segment have at most 1 / numParts of
  /// the bytes of all results together, unless the segment is a single op.
  void cut(size_t numParts);

  /// Returns for each value whether it crosses from one segment (range of
  /// consecutive ops) to another. Crossing values are always kept.
  const std::vector<bool> &crossing() const { return isCrossing; }
  /// Returns for each segment (range of consecutive ops) its trade-offs: which
  /// values of the segment stay in memory, and which ops are recomputed. The
  /// first trade-off has the fewest recomputed flops. Each following one keeps
  /// fewer bytes and recomputes more flops. cut() must be called first to
  /// create the segments.
  std::vector<std::vector<TradeOff>> tradeOffsOfAll() const;
  size_t length() const { return chain.size(); }

private:
  void findEarly(const std::vector<bool> &runs);
  /// Fills `maker`, `lastReader`, `made` and `crossingBytes` for the list of
  /// ops `chain`, which is in the order of execution.
  void findCrossings();
  std::vector<size_t> cheapestEnds(double mostBytes) const;
  /// Sets `isCrossing` of each value that crosses one cut of `chain`. `chain`
  /// is a list of ops in the order of execution. The cut lies right before
  /// chain[end]. A value crosses the cut if an op before the cut computes the
  /// value and an op after the cut reads it.
  void markCrossing(size_t end);

  const StageGraph &stage;
  /// Ops that the backward pass would recompute if no value were kept, as
  /// indices into `stage.ops`, in the order of execution. `early` has the cheap
  /// ones that depend only on weights and stage inputs. `chain` has the rest.
  std::vector<int> early, chain;
  /// Two indices in `chain` for each value. `chain` is a list of ops in the
  /// order of execution. `maker` has the index of the op that computes the
  /// value; -1 if no op of `chain` computes it. `lastReader` has the index of
  /// the last op that reads the value; -1 if no op of `chain` reads it.
  std::vector<int> maker, lastReader;
  /// made[i]: bytes of all results of the first i ops of the list `chain`.
  /// crossingBytes[i]: bytes of all values that one of its ops 0 to i computes
  /// and a later op of the list reads.
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

/// Divides the list of ops `chain` into ranges of consecutive ops so that the
/// fewest bytes cross between neighboring ranges (dynamic programming). The
/// results of a range have at most `mostBytes` bytes together, unless the range
/// is a single op. Returns for each range the index after its last op.
std::vector<size_t> Segments::cheapestEnds(double mostBytes) const {
  // least[i]: fewest bytes that cross between ranges of the first i ops.
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

/// Returns the numbers of segments to try for a list of `length` ops: 1, 2, 3,
/// 4, 6, 9 and so on, up to `length`. Each number is about 1.5 times the number
/// before it.
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
/// Kept values and recomputed ops of all pipeline stages of one rank, with the
/// estimated peak bytes and the recomputed flops. For isBetterThan(), an object
/// within the memory budget is better than one beyond it. Within the budget,
/// fewer flops are better; beyond the budget, fewer bytes.
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

  /// Returns which values one rank keeps in memory. `budget` limits the peak
  /// bytes. At first, each segment (list of ops) keeps the fewest bytes. A
  /// change lets one segment keep more bytes and saves recomputed flops. Makes
  /// the changes that save the most flops per byte first. Undoes a change that
  /// exceeds `budget`, and skips all later changes of this segment.
  PositionChoice run(int64_t budget) {
    for (const LevelStep &step : steps())
      if (chosen[step.stage][step.segment] == step.level + 1)
        tryStep(step, budget);
    return {stages, recomputations};
  }

private:
  /// Change of the trade-off of a segment (range of ops): number `level` takes
  /// the place of number `level + 1`. The new trade-off keeps more bytes and
  /// recomputes fewer flops. `flopsPerByte` is the number of saved flops per
  /// additional kept byte.
  struct LevelStep {
    double flopsPerByte;
    size_t stage, segment, level;
  };

  /// Returns the possible changes of all segments (ranges of ops). A change
  /// keeps more bytes and saves flops; the change that saves the most flops per
  /// byte comes first. The changes of one segment come in the order in which
  /// run() makes them.
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

  /// Makes the change `step`, which lets one segment (range of ops) keep more
  /// bytes. Undoes the change if the rank then needs more than `budget` bytes.
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

  /// Returns the kept values and recomputed ops of stage `stage`. Considers
  /// each value that the backward pass or a recomputed op reads. The value is
  /// kept in the following three cases. In all other cases, its op is
  /// recomputed.
  ///
  /// - The value crosses from one segment (range of ops) to another
  ///   (`crossing`).
  /// - The chosen trade-off of its segment keeps the value.
  /// - The op that computes the value must not run twice.
  Recomputation completed(size_t stage) const {
    std::vector<bool> mayKeep = crossing[stage];
    for (size_t segment = 0; segment < levels[stage].size(); ++segment)
      for (int value : levels[stage][segment][chosen[stage][segment]].kept)
        mayKeep[value] = true;
    return complete(stages[stage], mayKeep);
  }

  const std::vector<StageGraph> &stages;
  std::vector<std::vector<bool>> crossing;
  /// levels[stage][segment]: the trade-offs between kept bytes and recomputed
  /// flops of one segment (range of ops). Trade-off 0 keeps the most bytes, and
  /// each following one keeps fewer. chosen[stage][segment]: the index of the
  /// current trade-off.
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

/// Largest number of ops of all pipeline stages of one rank for which the
/// function `refine` improves the set of values that are kept in memory. It
/// tries to keep or drop each value in turn, in time quadratic in the number of
/// ops. For more ops, `refine` changes nothing.
static constexpr size_t mostRefinedOps = 1000;

/// Improves `best`, the values that one rank keeps in memory, by local search.
/// Flips single values between kept and not kept until no flip makes `best`
/// better (isBetterThan). Does nothing for more than mostRefinedOps ops.
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
  // recomputeNothing recomputes only ops that cost no flops. If the rank then
  // needs at most `budget` bytes, no other set of kept values is better.
  // Otherwise, the function takes the best of several sets, and `refine`
  // improves it. GreedySearch runs once for each of several numbers of segments
  // (ranges of consecutive ops).
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
