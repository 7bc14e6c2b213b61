//===- RecomputeSearch.cpp - segments, and recomputation under a budget ---===//

#include "passes/plan/memory/Recompute.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace pcc::plan {

namespace {
/// Divides the ops of a stage into consecutive segments. *Early* ops are cheap
/// and depend only on weights, inputs and other early ops, such as the ops of a
/// mask that is computed from constants. They form a segment that is not part
/// of the chain, because any segment can recompute them, so their results cross
/// segment boundaries at no cost.
class Segments {
public:
  explicit Segments(const StageGraph &stage);

  /// Cuts the chain into segments of which none produces more than 1 / numParts
  /// of all bytes, unless it is a single op. Among these divisions it takes the
  /// one with the fewest crossing bytes.
  void cut(size_t numParts);

  /// Returns, by value, whether it crosses a boundary of the chain. These
  /// values are kept whatever the segments choose.
  const std::vector<bool> &crossing() const { return isCrossing; }
  /// Returns the trade-offs of each segment, the early ops first.
  std::vector<std::vector<TradeOff>> tradeOffsOfAll() const;
  /// Returns the number of ops in the chain.
  size_t length() const { return chain.size(); }

private:
  void findEarly(const std::vector<bool> &runs);
  /// Sets `maker`, `lastReader`, `made` and `crossingBytes`.
  void findCrossings();
  std::vector<size_t> cheapestEnds(double mostBytes) const;
  /// Marks the values that are produced before `end` in the chain and read at
  /// or after it.
  void markCrossing(size_t end);

  const StageGraph &stage;
  /// Indices of ops that run again if no value is kept.
  std::vector<int> early, chain;
  /// By value: index in the chain of the op that produces it and of the last op
  /// that reads it; -1 if there is none.
  std::vector<int> maker, lastReader;
  /// Element i of `made`: bytes that the first i ops of the chain produce.
  /// Element i of `crossingBytes`: bytes that cross a boundary after op i.
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

/// Divides the ops with `runs`, which are those that are recomputed if no value
/// is kept, into early ops and the chain.
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

/// Returns the ends of segments that produce at most `mostBytes` each, or are a
/// single op, with the fewest crossing bytes in all. Dynamic program over
/// prefixes: `least[i]` is the minimum for the first i ops of the chain.
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

/// Returns the numbers of segments to try for a chain of `length` ops: 1, 2, 3,
/// 4, 6, 9, …, growing by half.
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
/// A choice for all stages of a position. A choice within the budget is better
/// than one that exceeds it. Within the budget, fewer flops are better; beyond
/// it, fewer bytes.
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

/// Greedy search over the trade-offs of all segments. It begins with the fewest
/// kept bytes in every segment. Then it lets segments keep more, in the order
/// of saved flops per byte, as long as the budget is respected.
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

  /// Returns the choice that the search ends with. A step that exceeds the
  /// budget ends the growth of its segment only.
  PositionChoice run(int64_t budget) {
    for (const LevelStep &step : steps())
      if (chosen[step.stage][step.segment] == step.level + 1)
        tryStep(step, budget);
    return {stages, recomputations};
  }

private:
  /// Moves a segment from trade-off `level + 1` to trade-off `level`, which
  /// keeps more bytes and recomputes fewer flops.
  struct LevelStep {
    double flopsPerByte;
    size_t stage, segment, level;
  };

  /// Returns the steps of all segments, those with the most saved flops per
  /// byte first. The hull is convex, so the steps of one segment are in the
  /// right order.
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

  /// Takes a step, and takes it back if the position exceeds the budget.
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

  /// Returns the recomputation of a stage for the trade-offs chosen now.
  Recomputation completed(size_t stage) const {
    std::vector<bool> mayKeep = crossing[stage];
    for (size_t segment = 0; segment < levels[stage].size(); ++segment)
      for (int value : levels[stage][segment][chosen[stage][segment]].kept)
        mayKeep[value] = true;
    return complete(stages[stage], mayKeep);
  }

  const std::vector<StageGraph> &stages;
  std::vector<std::vector<bool>> crossing;
  /// By stage and segment: its trade-offs, and the index of the chosen one.
  std::vector<std::vector<std::vector<TradeOff>>> levels;
  std::vector<std::vector<size_t>> chosen;
  std::vector<Recomputation> recomputations;
};
} // namespace

/// Returns the choice in which every stage follows `mode`.
static PositionChoice choiceOf(const std::vector<StageGraph> &stages,
                               Recomputation (*mode)(const StageGraph &)) {
  std::vector<Recomputation> chosen;
  chosen.reserve(stages.size());
  for (const StageGraph &stage : stages)
    chosen.push_back(mode(stage));
  return {stages, std::move(chosen)};
}

/// Largest number of ops of a position that `refine` handles. Each of its
/// changes is priced by a pass over all ops, so its time is quadratic.
static constexpr size_t mostRefinedOps = 1000;

/// Improves `best` by local search: keeps or drops single values as long as
/// that is better.
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
  // Candidates: the three modes without a budget, and a greedy choice for each
  // number of segments. Recomputing nothing is the best if it fits.
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
