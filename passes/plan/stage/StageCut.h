//===- StageCut.h - where a chain of work is cut into pipeline stages -----===//

#ifndef PCC_PASSES_PLAN_STAGE_STAGECUT_H
#define PCC_PASSES_PLAN_STAGE_STAGECUT_H

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace pcc::plan {

/// One piece of work (an op, or several that must stay together) in topological
/// order.
struct WorkItem {
  /// Modelled time of one microbatch. Any unit will do, also flops.
  double seconds = 0;
  /// Resident on the stage for the whole step.
  double weightBytes = 0;
  /// Kept alive by every microbatch in flight.
  double activationBytes = 0;
  /// Only used for the promise that no stage has more than twice the mean.
  double flops = 0;
  /// The item must lie on a stage of [minStage, maxStage].
  int minStage = 0;
  int maxStage = std::numeric_limits<int>::max();
};

/// The question: cut `items` into `numStages` consecutive, non-empty stages.
struct StageCutRequest {
  std::vector<WorkItem> items;
  /// Element i: bytes that cross a cut after item i (items.size() - 1 elements;
  /// see `crossingBytes`).
  std::vector<double> crossingBytes;
  int numStages = 1;
  /// Microbatches alive at once on each stage; empty means 1 everywhere.
  std::vector<int> inFlight;
  double memoryLimit = std::numeric_limits<double>::infinity();
  /// Price of a received byte in the unit of WorkItem::seconds.
  double secondsPerByte = 0;
  /// The slowest stage may be slower than the optimum by this fraction if fewer
  /// bytes cross then.
  double tolerance = 0;
  /// Cuts that must be made: each the index of an item that begins a stage.
  std::vector<size_t> pinned;
};

/// The answer. `error` is empty exactly when `begin` holds a cut.
struct StageCut {
  /// First item of each stage; begin[0] == 0.
  std::vector<size_t> begin;
  /// Time of the slowest stage, received bytes included.
  double maxSeconds = 0;
  /// Sum over the stages.
  double sumSeconds = 0;
  double crossingBytes = 0;
  /// Weights and activations in flight of the fullest stage.
  double maxMemory = 0;
  /// No stage has more than twice the mean flops, or than the largest item if
  /// that is more.
  bool balanced = false;
  std::string error;

  /// Stage of each of `numItems` items.
  std::vector<int> stageOfItems(size_t numItems) const;
};

/// The cut with the least time of the slowest stage; among those the one with
/// the fewest crossing bytes (which is also the least sum of times, as the work
/// itself is constant); among those again the fastest slowest stage.
///
/// Where constraints, pins and memory allow it, no stage has more than max(2 *
/// mean, largest item) flops.
///
/// Method: for a bound T on a stage's time, the ends that a stage starting at i
/// can have are an interval, so one sweep per stage tells whether T is
/// feasible; bisection finds the least T, a dynamic program under T picks the
/// bytes. O(n p) per probe, less where T is tight.
StageCut cutStages(const StageCutRequest &request);

/// A value of the chain: produced by an item, last used by another.
struct LiveValue {
  size_t producer = 0;
  size_t lastUser = 0;
  double bytes = 0;
};

/// Bytes that cross a cut after each of the first numItems - 1 items: every
/// value counts at each cut it passes.
std::vector<double> crossingBytes(size_t numItems,
                                  const std::vector<LiveValue> &values);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_STAGE_STAGECUT_H
