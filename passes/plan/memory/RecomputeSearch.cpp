//===- RecomputeSearch.cpp - segments, and recomputation under a budget ---===//

#include "passes/plan/memory/Recompute.h"

#include <algorithm>
#include <cassert>
#include <tuple>
#include <utility>

namespace pcc::plan {

namespace {
/// Divides ops of a stage into segments (ranges of consecutive ops). Only the
/// ops that are recomputed if no value is kept are divided.
///
/// An op is early if it is cheap and depends only on weights, inputs and other
/// early ops, such as the ops that compute a mask from constants. Early ops
/// form a segment of their own. All other ops form the chain, which is cut into
/// segments. Any segment can recompute early ops, so their results need not be
/// kept where they cross from one segment to another.
class Segments {
public:
  explicit Segments(const StageGraph &stage);

  /// Cuts the chain (the recomputed ops that are not early) into segments. A
  /// segment is a single op, or produces at most 1 / numParts of the bytes that
  /// the whole chain produces. Among all such divisions, chooses the one in
  /// which the fewest bytes cross from one segment to another.
  void cut(size_t numParts);

  /// Returns for each value whether it crosses from one segment (range of
  /// consecutive ops) to another. Crossing values are always kept. Trade-offs
  /// are chosen only for the other values.
  const std::vector<bool> &crossing() const { return isCrossing; }
  /// Returns, for each segment (range of consecutive ops), the list of its
  /// trade-offs between kept bytes and recomputed flops. The first segment is
  /// that of the early ops (cheap ops that depend only on weights and inputs).
  std::vector<std::vector<TradeOff>> tradeOffsOfAll() const;
  /// Returns the number of ops in the chain, the list of ops that is cut into
  /// segments.
  size_t length() const { return chain.size(); }

private:
  void findEarly(const std::vector<bool> &runs);
  /// Sets the members `maker`, `lastReader`, `made` and `crossingBytes`, which
  /// describe the chain (the list of ops that is cut into segments).
  void findCrossings();
  std::vector<size_t> cheapestEnds(double mostBytes) const;
  /// Sets isCrossing of each value that crosses the boundary before index `end`
  /// of the chain (the list of ops that is cut into segments): an op before
  /// `end` produces the value, and an op at or after `end` reads it.
  void markCrossing(size_t end);

  const StageGraph &stage;
  /// Indices of the ops that are recomputed if no value is kept. `early` lists
  /// the cheap ops that depend only on weights, inputs and other early ops.
  /// `chain` lists all others, which are cut into segments.
  std::vector<int> early, chain;
  /// For each value, two indices into `chain` (the ops that are cut into
  /// segments): the op that produces the value, and the last op that reads it.
  /// -1 if the chain has no such op.
  std::vector<int> maker, lastReader;
  /// Bytes by index into the chain (the ops that are cut into segments):
  ///  - made[i]: bytes that the first i ops produce;
  ///  - crossingBytes[i]: bytes of the values that cross the boundary between
  ///    ops i and i + 1.
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

/// Divides ops into early ops (cheap ops that depend only on weights, inputs
/// and other early ops) and the chain (all others). Only ops for which `runs`
/// is true are divided: those that are recomputed if no value is kept.
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

/// Returns the ends of the segments, as indices into the chain (the list of ops
/// that is cut into segments). A segment is a single op, or produces at most
/// `mostBytes`. Among all such divisions, the fewest bytes cross from one
/// segment to another.
///
/// Dynamic program: least[i] is the fewest crossing bytes if the first i ops of
/// the chain are divided.
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

/// Returns the numbers of segments to try for a chain (list of consecutive ops)
/// of `length` ops: 1, 2, 3, 4, 6, 9, …. Each number is about 1.5 times the
/// number before.
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
/// A choice of kept and recomputed values for all stages that one rank runs.
/// isBetterThan compares two choices:
///  - A choice within the memory budget is better than one that exceeds it.
///  - If both are within the budget, the one with fewer flops is better.
///  - If both exceed it, the one with fewer bytes is better.
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

/// Greedy search over the trade-offs of all segments. At first, every segment
/// keeps the fewest bytes. Each change lets one segment keep more bytes.
/// Changes that save the most flops per byte are tried first. A change is
/// undone if the stages then exceed the memory budget.
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

  /// Runs the search and returns its final choice. If a change of a segment
  /// exceeds the budget, this segment is not changed further. The search
  /// continues with the other segments.
  PositionChoice run(int64_t budget) {
    for (const LevelStep &step : steps())
      if (chosen[step.stage][step.segment] == step.level + 1)
        tryStep(step, budget);
    return {stages, recomputations};
  }

private:
  /// One possible change: a segment goes from its trade-off number `level + 1`
  /// to number `level`. Trade-off `level` keeps more bytes and recomputes fewer
  /// flops.
  struct LevelStep {
    double flopsPerByte;
    size_t stage, segment, level;
  };

  /// Returns the possible changes of all segments. Changes that save the most
  /// flops per byte come first. The trade-offs of one segment form a convex
  /// hull, so each further change of the segment saves fewer flops per byte.
  /// Therefore the changes of one segment are in descending order of level.
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

  /// Applies a change of one segment, and undoes it if the stages then exceed
  /// the budget in bytes.
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

  /// Returns the recomputation of a stage with the trade-offs that are
  /// currently chosen for its segments.
  Recomputation completed(size_t stage) const {
    std::vector<bool> mayKeep = crossing[stage];
    for (size_t segment = 0; segment < levels[stage].size(); ++segment)
      for (int value : levels[stage][segment][chosen[stage][segment]].kept)
        mayKeep[value] = true;
    return complete(stages[stage], mayKeep);
  }

  const std::vector<StageGraph> &stages;
  std::vector<std::vector<bool>> crossing;
  /// levels[stage][segment] lists the trade-offs (between kept bytes and
  /// recomputed flops) of a segment. chosen[stage][segment] is the index of its
  /// chosen trade-off.
  std::vector<std::vector<std::vector<TradeOff>>> levels;
  std::vector<std::vector<size_t>> chosen;
  std::vector<Recomputation> recomputations;
};
} // namespace

/// Applies `mode`, such as recomputeCheap, to each stage. Returns the results
/// as one choice for all stages.
static PositionChoice choiceOf(const std::vector<StageGraph> &stages,
                               Recomputation (*mode)(const StageGraph &)) {
  std::vector<Recomputation> chosen;
  chosen.reserve(stages.size());
  for (const StageGraph &stage : stages)
    chosen.push_back(mode(stage));
  return {stages, std::move(chosen)};
}

/// Largest number of ops for which `refine` runs. `refine` evaluates each
/// change by a pass over all ops, so its time is quadratic in the number of
/// ops.
static constexpr size_t mostRefinedOps = 1000;

/// Improves `best` by local search. Each change switches one value from kept to
/// not kept or back, and is retained if the choice becomes better. Ends when no
/// change is better. Does nothing if the stages have more than mostRefinedOps
/// ops.
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
  // If recomputing nothing fits the budget, it is the best choice. Otherwise
  // the candidates are the results of recomputeNothing, recomputeCheap and
  // recomputeAll, and a greedy choice for each number of segments.
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
