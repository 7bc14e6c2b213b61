//===- StageCut.h - pipeline stages of a chain by time, memory and bytes --===//
//
// Cuts a chain of ops into consecutive pipeline stages. It balances the time of
// the stages, respects their memory, and then minimises the bytes that cross
// stage boundaries.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_PLAN_STAGE_STAGECUT_H
#define PCC_PASSES_PLAN_STAGE_STAGECUT_H

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace pcc::plan {

/// One indivisible piece of work: an op, or several that must stay together.
struct WorkItem {
  /// Modelled time of one microbatch. Any unit is fine, such as flops, if it is
  /// used for all items.
  double seconds = 0;
  /// Bytes that stay on the stage for the whole step.
  double weightBytes = 0;
  /// Bytes that each microbatch in flight keeps.
  double activationBytes = 0;
  /// Only used to limit the flops of a stage; see cutStages.
  double flops = 0;
  /// The item must lie on one of the stages minStage to maxStage.
  int minStage = 0;
  int maxStage = std::numeric_limits<int>::max();
};

/// Input of cutStages: a chain of items and the constraints of the stages.
struct StageCutRequest {
  /// Items in topological order.
  std::vector<WorkItem> items;
  /// Element i: bytes that cross a cut after item i. It has items.size() - 1
  /// elements; see `crossingBytes`.
  std::vector<double> crossingBytes;
  /// Number of stages, all of which must be non-empty.
  int numStages = 1;
  /// By stage: microbatches in flight at once. If empty, 1 for all stages.
  std::vector<int> inFlight;
  /// Largest number of bytes of weights and activations of a stage.
  double memoryLimit = std::numeric_limits<double>::infinity();
  /// Price of a received byte, in the unit of WorkItem::seconds.
  double secondsPerByte = 0;
  /// Fraction by which the slowest stage may exceed the optimum if fewer bytes
  /// cross then.
  double tolerance = 0;
  /// Cuts that must be made: indices of items that begin a stage.
  std::vector<size_t> pinned;
};

/// Result of cutStages: a cut with its figures, or an error.
struct StageCut {
  /// First item of each stage; begin[0] == 0. Empty if there is an error.
  std::vector<size_t> begin;
  /// Time of the slowest stage, including the time to receive its inputs.
  double maxSeconds = 0;
  /// Sum of the times of all stages.
  double sumSeconds = 0;
  /// Sum of the bytes that cross the cuts.
  double crossingBytes = 0;
  /// Bytes of weights and activations in flight of the fullest stage.
  double maxMemory = 0;
  /// Whether every stage has at most max(2 * mean, largest item) flops.
  bool balanced = false;
  /// Reason why there is no cut; empty if there is one.
  std::string error;

  /// Returns the stage of each of `numItems` items.
  std::vector<int> stageOfItems(size_t numItems) const;
};

/// Returns the cut that minimises, in this order: the time of the slowest stage
/// (up to `tolerance`); the crossing bytes, and with them the sum of all times,
/// since the work itself is constant; the time of the slowest stage exactly.
///
/// If memory, pins and the stages of items allow it, no stage has more than
/// max(2 * mean, largest item) flops.
///
/// Method: for a given bound T on the time of a stage, the possible ends of a
/// stage that starts at item i form an interval. Therefore one sweep per stage
/// decides whether T is feasible. Bisection finds the least T, and a dynamic
/// program under T minimises the bytes. A probe takes O(n p) time for n items
/// and p stages, less if T is tight.
StageCut cutStages(const StageCutRequest &request);

/// A value that item `producer` produces and item `lastUser` uses last.
struct LiveValue {
  size_t producer = 0;
  size_t lastUser = 0;
  double bytes = 0;
};

/// Returns the bytes that cross a cut after each of the first numItems - 1
/// items. A value counts at every cut between its producer and its last user,
/// as if each stage passed it on to the next.
std::vector<double> crossingBytes(size_t numItems,
                                  const std::vector<LiveValue> &values);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_STAGE_STAGECUT_H
