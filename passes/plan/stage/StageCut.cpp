//===- StageCut.cpp - pipeline stages of a chain of ops -------------------===//

#include "passes/plan/stage/StageCut.h"
#include "status/Counted.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <queue>

namespace pcc::plan {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Cuts a list of items (such as ops) into consecutive stages. limits[k][i] is
/// the largest end of stage k if it starts at item i, or i if it cannot start
/// there. The end is the index of the first item after the stage. The limits
/// respect memory, flops, and the required places of items, but not the time of
/// a stage.
class StageCutter {
public:
  explicit StageCutter(const StageCutRequest &request)
      : request(request), numItems(request.items.size()),
        numStages(static_cast<size_t>(request.numStages)) {}

  StageCut solve();

private:
  std::string malformed() const;
  void sumUp();
  /// Sets limits[k][i] for each stage k and each item i. limits[k][i] is the
  /// largest index at which stage k can end if the stage begins at item i. The
  /// end of a stage is the index of the first item after the stage. A stage
  /// must not have more than `memoryLimit` bytes or `flopsLimit` flops.
  void buildLimits(double memoryLimit, double flopsLimit);
  void limitByItems(size_t stage);
  bool feasible(double bound);
  /// Returns the smallest time T, in seconds, that allows a division of the
  /// items into stages: each stage of the division takes at most T. An item is
  /// a piece of work, such as an op. The function searches T between `low` and
  /// `high` by bisection. The caller ensures that `high` allows a division.
  double leastFeasible(double low, double high);
  std::string explainFailure();
  double fewestBytes(double bound, std::vector<size_t> *begin);
  /// Returns a description of a division of the items into stages. An item is a
  /// piece of work, such as an op. begin[k] is the index of the first item of
  /// stage k. The function computes all properties of the division that a
  /// StageCut has, such as the time of the slowest stage.
  StageCut describe(std::vector<size_t> begin) const;

  /// Returns the bytes that a stage receives if it starts at item `start`.
  double entry(size_t start) const {
    return start == 0 ? 0 : request.crossingBytes[start - 1];
  }
  /// Returns the bytes of an item (such as an op) on stage number `stage`: its
  /// weights, and its activations of all microbatches that are in memory at the
  /// same time.
  double memoryOf(size_t item, size_t stage) const {
    const WorkItem &work = request.items[item];
    const int alive = request.inFlight.empty() ? 1 : request.inFlight[stage];
    return work.weightBytes + alive * work.activationBytes;
  }
  size_t endWithin(size_t start, double bound) const;
  size_t earliestStart(size_t stage, double bound) const;

  const StageCutRequest &request;
  const size_t numItems;
  const size_t numStages;
  /// Prefix sums over the items. An item is a piece of work, such as an op.
  /// seconds[i] is the sum of the times of the items 0 to i - 1. flops[i] is
  /// the sum of the flops of the items 0 to i - 1. For example, if three items
  /// take 2, 3 and 5 seconds, `seconds` is {0, 2, 5, 10}.
  std::vector<double> seconds, flops;
  std::vector<std::vector<size_t>> limits;
};

/// Returns an error text if the input has an impossible number, such as more
/// stages than items, or a list of the wrong length. Otherwise returns an empty
/// string.
std::string StageCutter::malformed() const {
  if (request.numStages < 1)
    return "the number of stages must be positive, got " +
           std::to_string(request.numStages);
  if (numItems < numStages)
    return "the model has only " + counted(numItems, "op") + " to cut";
  if (request.crossingBytes.size() + 1 != numItems)
    return "expected crossing bytes for " + counted(numItems - 1, "cut") +
           ", got " + std::to_string(request.crossingBytes.size());
  if (!request.inFlight.empty() && request.inFlight.size() != numStages)
    return "expected in-flight counts for " + counted(numStages, "stage") +
           ", got " + std::to_string(request.inFlight.size());
  for (size_t pin : request.pinned)
    if (pin == 0 || pin >= numItems)
      return "a stage cannot begin at op " + std::to_string(pin) + " of " +
             std::to_string(numItems);
  return {};
}

void StageCutter::sumUp() {
  seconds.assign(numItems + 1, 0);
  flops.assign(numItems + 1, 0);
  for (size_t i = 0; i < numItems; ++i) {
    seconds[i + 1] = seconds[i] + request.items[i].seconds;
    flops[i + 1] = flops[i] + request.items[i].flops;
  }
}

void StageCutter::buildLimits(double memoryLimit, double flopsLimit) {
  limits.assign(numStages, std::vector<size_t>(numItems + 1, numItems));
  const double flopsSlack = flopsLimit * (1 + 1e-9);
  for (size_t stage = 0; stage < numStages; ++stage) {
    double memory = 0;
    // The stage starts at item `i`. The inner loop finds the largest index
    // `end` at which the stage can end. For the next item, this index is never
    // smaller. The inner loop therefore begins at the index that it has found
    // for the previous item.
    for (size_t i = 0, end = 0; i < numItems; ++i) {
      if (end < i)
        memory = 0, end = i;
      while (end < numItems &&
             memory + memoryOf(end, stage) <= memoryLimit * (1 + 1e-12) &&
             flops[end + 1] - flops[i] <= flopsSlack)
        memory += memoryOf(end++, stage);
      limits[stage][i] = end;
      if (end > i)
        memory -= memoryOf(i, stage);
    }
    limitByItems(stage);
  }
}

/// Lowers limits[stage][i], the largest end (index of the first item after the
/// stage) of a stage that begins at item i. The stage must end before the next
/// item after i at which a stage must begin. It must also end before the first
/// item, from item i on, that must not be on this stage (`minStage`,
/// `maxStage`).
void StageCutter::limitByItems(size_t stage) {
  std::vector<char> pinned(numItems + 1, 0);
  for (size_t pin : request.pinned)
    pinned[pin] = 1;
  size_t nearest = numItems;
  for (size_t i = numItems; i-- > 0;) {
    const WorkItem &work = request.items[i];
    const int number = static_cast<int>(stage);
    if (number < work.minStage || number > work.maxStage)
      nearest = i;
    limits[stage][i] = std::min(limits[stage][i], nearest);
    if (pinned[i])
      nearest = i;
  }
}

/// Returns the largest index at which a stage can end if it begins at item
/// `start` and takes at most `bound` seconds. The end of a stage is the index
/// of the first item after the stage. The time of a stage is the time to
/// receive its inputs plus the times of its items. If not even the first item
/// fits into `bound` seconds, the function returns `start`.
size_t StageCutter::endWithin(size_t start, double bound) const {
  const double last =
      seconds[start] + bound - request.secondsPerByte * entry(start);
  auto past = std::upper_bound(seconds.begin() + start, seconds.end(), last);
  return past == seconds.begin() + start
             ? start
             : static_cast<size_t>(past - seconds.begin()) - 1;
}

/// Returns the smallest index of an item at which stage number `stage` may
/// begin. This stage and all later stages must hold the items from this index
/// on, and each of these stages takes at most `bound` seconds. Returns the
/// number of items if `stage` is the number of stages.
size_t StageCutter::earliestStart(size_t stage, double bound) const {
  if (stage == numStages)
    return numItems;
  const double done =
      seconds[numItems] - bound * static_cast<double>(numStages - stage);
  auto first = std::lower_bound(seconds.begin(), seconds.end(),
                                done - 1e-9 * seconds[numItems]);
  return static_cast<size_t>(first - seconds.begin());
}

/// Returns whether a cut exists in which every stage takes at most `bound`
/// seconds. The outer loop visits the stages in order. After stage k,
/// reached[i] tells whether the stages 0 to k can hold exactly the first i
/// items. For example, reached[5] after stage 1 is true if the stages 0 and 1
/// can hold exactly the items 0 to 4. `low` and `high` are the smallest and the
/// largest i for which reached[i] can be true.
bool StageCutter::feasible(double bound) {
  std::vector<char> reached(numItems + 1, 0), next(numItems + 1, 0);
  reached[0] = 1;
  size_t low = 0, high = 0;
  for (size_t stage = 0; stage < numStages; ++stage) {
    size_t cover = 0, lowest = numItems + 1;
    const size_t useful = earliestStart(stage + 1, bound);
    for (size_t i = low; i <= std::max(high, cover) && i <= numItems; ++i) {
      next[i] = cover >= i && i > low && i >= useful;
      if (next[i])
        lowest = std::min(lowest, i);
      if (i <= high && i < numItems && reached[i])
        cover =
            std::max(cover, std::min(limits[stage][i], endWithin(i, bound)));
    }
    if (lowest > cover)
      return false;
    std::fill(reached.begin() + low, reached.begin() + high + 1, 0);
    low = lowest, high = cover;
    std::swap(reached, next);
  }
  return reached[numItems];
}

double StageCutter::leastFeasible(double low, double high) {
  for (int probe = 0; probe < 60 && high - low > 1e-13 * high; ++probe) {
    const double middle = low + (high - low) / 2;
    (feasible(middle) ? high : low) = middle;
  }
  return high;
}

/// Returns the fewest bytes that cross all stage boundaries together if each
/// stage takes at most `bound` seconds. Returns infinity if there is no such
/// cut. If there is one and `begin` is not null, sets (*begin)[k] to the first
/// item of stage k.
double StageCutter::fewestBytes(double bound, std::vector<size_t> *begin) {
  // Dynamic program over the stages. bytes[i] is the fewest bytes across
  // boundaries if the visited stages hold exactly the first i items. It is
  // infinity if this is impossible, or if too many items are left for the later
  // stages. `next` has the same numbers with one more stage.
  std::vector<double> bytes(numItems + 1, infinity), next(numItems + 1);
  std::vector<std::vector<size_t>> cameFrom(numStages, std::vector<size_t>());
  std::vector<size_t> offsets(numStages, 0);
  bytes[0] = 0;
  size_t low = 0, high = 0;
  for (size_t stage = 0; stage < numStages; ++stage) {
    // Visit the possible ends of the stage (index of the first item after it)
    // in ascending order. The priority queue `starts` has the items at which
    // the stage can begin. On top is the item with the fewest bytes across
    // boundaries. `limit` is the largest end of a stage that begins at this
    // item. Once the visited end is above `limit`, the item is not needed
    // again.
    struct Start {
      double bytes;
      size_t item, limit;
      bool operator<(const Start &other) const {
        return bytes != other.bytes ? bytes > other.bytes : item > other.item;
      }
    };
    std::priority_queue<Start> starts;
    std::fill(next.begin(), next.end(), infinity);
    const size_t useful = earliestStart(stage + 1, bound);
    size_t cover = low;
    offsets[stage] = low;
    for (size_t end = low; end <= std::max(high, cover); ++end) {
      while (!starts.empty() && starts.top().limit < end)
        starts.pop();
      const bool open = !starts.empty() && end >= useful;
      cameFrom[stage].push_back(open ? starts.top().item : 0);
      if (open)
        next[end] = starts.top().bytes;
      if (end > high || end >= numItems || bytes[end] == infinity)
        continue;
      const size_t limit = std::min(limits[stage][end], endWithin(end, bound));
      if (limit > end)
        starts.push({bytes[end] + entry(end), end, limit});
      cover = std::max(cover, limit);
    }
    high = cover;
    while (low < high && next[low] == infinity)
      ++low;
    std::swap(bytes, next);
  }
  if (begin && bytes[numItems] < infinity) {
    begin->assign(numStages, 0);
    size_t end = numItems;
    for (size_t stage = numStages; stage-- > 0;)
      (*begin)[stage] = end = cameFrom[stage][end - offsets[stage]];
  }
  return bytes[numItems];
}

/// Returns why no cut exists, even without limits on time and flops. Either the
/// required places of items exclude each other, or the memory limit is too
/// small. In the second case, the text states a sufficient memory limit.
std::string StageCutter::explainFailure() {
  buildLimits(infinity, infinity);
  if (!feasible(infinity))
    return "no cut into " + counted(numStages, "stage") +
           " honours the requested cuts and placements";
  double low = request.memoryLimit, high = 0;
  for (size_t stage = 0; stage < numStages; ++stage) {
    double all = 0;
    for (size_t i = 0; i < numItems; ++i)
      all += memoryOf(i, stage);
    high = std::max(high, all);
  }
  for (int probe = 0; probe < 40; ++probe) {
    const double middle = low + (high - low) / 2;
    buildLimits(middle, infinity);
    (feasible(infinity) ? high : low) = middle;
  }
  return "no cut into " + counted(numStages, "stage") +
         " fits the memory limit of " +
         counted(std::llround(request.memoryLimit), "byte") +
         "; the fullest stage needs at least " +
         std::to_string(std::llround(std::ceil(high)));
}

StageCut StageCutter::describe(std::vector<size_t> begin) const {
  StageCut cut;
  cut.balanced = true;
  double largest = 0;
  for (const WorkItem &work : request.items)
    largest = std::max(largest, work.flops);
  const double fair =
      std::max(largest, 2 * flops[numItems] / static_cast<double>(numStages));
  for (size_t stage = 0; stage < numStages; ++stage) {
    const size_t first = begin[stage];
    const size_t end = stage + 1 < numStages ? begin[stage + 1] : numItems;
    const double time =
        seconds[end] - seconds[first] + request.secondsPerByte * entry(first);
    double memory = 0;
    for (size_t i = first; i < end; ++i)
      memory += memoryOf(i, stage);
    cut.maxSeconds = std::max(cut.maxSeconds, time);
    cut.sumSeconds += time;
    cut.crossingBytes += entry(first);
    cut.maxMemory = std::max(cut.maxMemory, memory);
    cut.balanced &= flops[end] - flops[first] <= fair * (1 + 1e-9);
  }
  cut.begin = std::move(begin);
  return cut;
}

/// Implements cutStages. Limits the flops of each stage, so that no stage has
/// far more work than the other stages. If no cut respects this limit, the
/// function drops the limit.
StageCut StageCutter::solve() {
  StageCut failed;
  failed.error = malformed();
  if (!failed.error.empty())
    return failed;
  sumUp();
  double largest = 0, dearest = 0;
  for (const WorkItem &work : request.items)
    largest = std::max(largest, work.flops);
  for (double bytes : request.crossingBytes)
    dearest = std::max(dearest, bytes);
  const double mean = flops[numItems] / static_cast<double>(numStages);
  buildLimits(request.memoryLimit, std::max(2 * mean, largest));
  if (!feasible(infinity)) {
    buildLimits(request.memoryLimit, infinity);
    if (!feasible(infinity)) {
      failed.error = explainFailure();
      return failed;
    }
  }
  const double all = seconds[numItems] + request.secondsPerByte * dearest;
  const double optimum = leastFeasible(
      seconds[numItems] / static_cast<double>(numStages) * (1 - 1e-9),
      all * (1 + 1e-12));
  double bound = optimum * (1 + request.tolerance) + 1e-12 * all;
  std::vector<size_t> begin;
  const double bytes = fewestBytes(bound, &begin);
  // `bytes` is the fewest bytes across all stage boundaries if each stage takes
  // at most `bound` seconds. Several cuts can have this number of bytes. The
  // loop looks for the cut whose slowest stage takes the least time. Bisection
  // tests times between `low` and `bound`. If a cut with at most `bytes` bytes
  // exists in which each stage takes at most `middle` seconds, `bound` is
  // lowered to `middle`. Otherwise, `low` is raised to `middle`.
  for (double low = optimum;
       request.tolerance > 0 && bound - low > 1e-4 * optimum;) {
    const double middle = low + (bound - low) / 2;
    std::vector<size_t> tighter;
    if (fewestBytes(middle, &tighter) <= bytes)
      begin = std::move(tighter), bound = middle;
    else
      low = middle;
  }
  return describe(std::move(begin));
}

} // namespace

StageCut cutStages(const StageCutRequest &request) {
  return StageCutter(request).solve();
}

std::vector<int> StageCut::stageOfItems(size_t numItems) const {
  assert(std::is_sorted(begin.begin(), begin.end()) && "stages out of order");
  assert((begin.empty() || begin.back() <= numItems) && "too few items");
  std::vector<int> stages(numItems, 0);
  for (size_t stage = 0; stage < begin.size(); ++stage) {
    const size_t end = stage + 1 < begin.size() ? begin[stage + 1] : numItems;
    std::fill(stages.begin() + begin[stage], stages.begin() + end,
              static_cast<int>(stage));
  }
  return stages;
}

std::vector<double> crossingBytes(size_t numItems,
                                  const std::vector<LiveValue> &values) {
  std::vector<double> change(numItems + 1, 0);
  for (const LiveValue &value : values) {
    if (value.lastUser <= value.producer || value.lastUser >= numItems)
      continue;
    change[value.producer] += value.bytes;
    change[value.lastUser] -= value.bytes;
  }
  std::vector<double> crossing;
  double alive = 0;
  for (size_t i = 0; i + 1 < numItems; ++i)
    crossing.push_back(alive += change[i]);
  return crossing;
}

} // namespace pcc::plan
