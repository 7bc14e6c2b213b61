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

/// One indivisible piece of work: an op, or several ops that must stay on one
/// stage.
struct WorkItem {
  /// Modelled time for one microbatch, in seconds. Another unit, such as flops,
  /// is allowed if all items and `secondsPerByte` use this unit.
  double seconds = 0;
  /// Bytes that stay on the rank of the stage for the whole step, such as
  /// weights.
  double weightBytes = 0;
  /// Bytes of activations that stay on the rank for each microbatch in flight.
  double activationBytes = 0;
  /// Flops of the item. cutStages uses them only to limit the flops of a stage.
  double flops = 0;
  /// The item must be on one of the stages minStage to maxStage, both included.
  int minStage = 0;
  int maxStage = std::numeric_limits<int>::max();
};

/// Input of cutStages: a list of items (pieces of work) and the constraints of
/// the stages.
struct StageCutRequest {
  /// Pieces of work (ops, or groups of ops that must stay together) in
  /// topological order.
  std::vector<WorkItem> items;
  /// crossingBytes[i]: bytes that cross a cut between items i and i + 1. There
  /// are items.size() - 1 elements. The function `crossingBytes` computes them.
  std::vector<double> crossingBytes;
  /// Number of stages. Every stage gets at least one item.
  int numStages = 1;
  /// For each stage: number of microbatches in flight at once. Their
  /// activations are in memory together. If the list is empty, the number is 1
  /// for all stages.
  std::vector<int> inFlight;
  /// Largest number of bytes that the weights and activations of a stage may
  /// need.
  double memoryLimit = std::numeric_limits<double>::infinity();
  /// Price of a received byte, in the unit of WorkItem::seconds.
  double secondsPerByte = 0;
  /// Fraction by which the time of the slowest stage may exceed the minimum, if
  /// that reduces the bytes that cross stage boundaries. 0.05 allows 5 %.
  double tolerance = 0;
  /// Indices of the items that must be the first item of a stage.
  std::vector<size_t> pinned;
};

/// Result of cutStages: the first item of each stage, with times, bytes and
/// memory of this cut; or an error.
struct StageCut {
  /// For each stage: index of its first item; begin[0] is 0. Empty if there is
  /// an error.
  std::vector<size_t> begin;
  /// Time of the slowest stage, including the time to receive its inputs; like
  /// all times, in the unit of WorkItem::seconds.
  double maxSeconds = 0;
  /// Sum of the times of all stages.
  double sumSeconds = 0;
  /// Sum of the bytes that cross the boundaries between stages.
  double crossingBytes = 0;
  /// Bytes of weights and of activations in flight on the stage that needs the
  /// most.
  double maxMemory = 0;
  /// Whether every stage has at most the larger of two numbers of flops: twice
  /// the mean of all stages, and the flops of the largest item.
  bool balanced = false;
  /// Reason why there is no cut; empty if there is one.
  std::string error;

  /// Returns, by item (0 to numItems - 1), the number of the stage that
  /// contains it.
  std::vector<int> stageOfItems(size_t numItems) const;
};

/// Cuts the list of items into consecutive stages. Returns the cut that is best
/// by these criteria, in this order:
///  - the time of the slowest stage, which may exceed the minimum by
///    `tolerance`;
///  - the bytes that cross stage boundaries;
///  - the time of the slowest stage, without tolerance.
///
/// No stage has more flops than the larger of two numbers: twice the mean of
/// all stages, and the flops of the largest item. This limit is ignored if no
/// cut meets it together with the memory limit, the pinned cuts (items at which
/// a stage must begin) and the allowed stages of items.
///
/// Method:
///  - For a bound T on the time of a stage, the possible ends of a stage that
///    starts at item i form an interval. Therefore one sweep over the items per
///    stage decides whether T is feasible.
///  - Bisection finds the least feasible T.
///  - A dynamic program under T minimizes the bytes.
/// For n items and p stages, a test of one T takes O(n p) time, and less if T
/// is tight.
StageCut cutStages(const StageCutRequest &request);

/// A value that item number `producer` computes. Item number `lastUser` is the
/// last one that reads it.
struct LiveValue {
  size_t producer = 0;
  size_t lastUser = 0;
  double bytes = 0;
};

/// Returns, for i from 0 to numItems - 2, the bytes that cross a cut between
/// items i and i + 1. A value counts at every cut between its producer and its
/// last user, because each stage in between passes it on to the next stage.
std::vector<double> crossingBytes(size_t numItems,
                                  const std::vector<LiveValue> &values);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_STAGE_STAGECUT_H
