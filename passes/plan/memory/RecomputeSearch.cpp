//===- RecomputeSearch.cpp - trade-offs per segment under a budget --------===//

#include "passes/plan/memory/Recompute.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace pcc::plan {

namespace {
/// A stage as a chain of segments. What needs nothing but what is always there
/// (a mask made of constants) crosses between them at no cost: such *early* ops
/// are a segment of their own.
class Segments {
public:
  explicit Segments(const StageGraph &stage);

  /// As even as it takes for none to make more than its part of `numParts`,
  /// with the fewest bytes between them.
  void cut(size_t numParts);

  /// Values that are kept whatever the segments choose: those that cross.
  const std::vector<bool> &crossing() const { return isCrossing; }
  /// The trade-offs of each segment.
  std::vector<std::vector<TradeOff>> tradeOffsOfAll() const;
  size_t length() const { return chain.size(); }

private:
  void findEarly(const std::vector<bool> &runs);
  void findCrossings();
  std::vector<size_t> cheapestEnds(double mostBytes) const;
  void markCrossing(size_t end);

  const StageGraph &stage;
  std::vector<int> early, chain; ///< ops
  /// By value: the place in the chain of the op that makes it, -1 if none does,
  /// and of the last one that reads it.
  std::vector<int> maker, lastReader;
  /// Bytes made by the first i ops of the chain, and that cross behind op i.
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

/// `runs`: all that would run again if nothing were kept.
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

/// Where segments that make at most `mostBytes` end, such that the fewest bytes
/// cross: the best ends of the first i ops, for each i.
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

/// 1, 2, 3, 4, 6, 9, …: numbers of segments to try for chains of that length.
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
/// A choice for all stages of a position. Better is what fits; among those that
/// do the one of the fewest flops, else of the fewest bytes.
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

/// Begins where each segment keeps the fewest bytes; then segments keep more,
/// those first that save the most flops per byte, as long as the budget allows
/// it.
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

  PositionChoice run(int64_t budget) {
    for (const LevelStep &step : steps())
      if (chosen[step.stage][step.segment] == step.level + 1)
        tryStep(step, budget);
    return {stages, recomputations};
  }

private:
  /// To a level from the one behind it.
  struct LevelStep {
    double flopsPerByte;
    size_t stage, segment, level;
  };

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

  Recomputation completed(size_t stage) const {
    std::vector<bool> mayKeep = crossing[stage];
    for (size_t segment = 0; segment < levels[stage].size(); ++segment)
      for (int value : levels[stage][segment][chosen[stage][segment]].kept)
        mayKeep[value] = true;
    return complete(stages[stage], mayKeep);
  }

  const std::vector<StageGraph> &stages;
  std::vector<std::vector<bool>> crossing;
  /// By stage and segment.
  std::vector<std::vector<std::vector<TradeOff>>> levels;
  std::vector<std::vector<size_t>> chosen;
  std::vector<Recomputation> recomputations;
};
} // namespace

static PositionChoice choiceOf(const std::vector<StageGraph> &stages,
                               Recomputation (*mode)(const StageGraph &)) {
  std::vector<Recomputation> chosen;
  chosen.reserve(stages.size());
  for (const StageGraph &stage : stages)
    chosen.push_back(mode(stage));
  return {stages, std::move(chosen)};
}

/// Larger positions are left as the greedy choice has them: each change is
/// priced by looking at all ops.
static constexpr size_t mostRefinedOps = 1000;

/// Keeps or drops single values as long as that is better.
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
