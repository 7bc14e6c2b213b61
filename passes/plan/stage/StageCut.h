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

/// One indivisible piece of work: an op, or ops that must stay together.
struct WorkItem {
  /// Modeled time that this piece of work takes for one microbatch. The unit is
  /// seconds, but a caller can choose another unit for the times, such as
  /// flops. All items of a StageCutRequest and its member secondsPerByte must
  /// then use this unit.
  double seconds = 0;
  /// Bytes that stay on the rank for the whole step, such as weights.
  double weightBytes = 0;
  /// Bytes of the activations of one microbatch that this piece of work keeps
  /// in memory. A stage can have the activations of several microbatches in
  /// memory at the same time. For example, with 3 microbatches, the stage needs
  /// 3 times this number of bytes.
  double activationBytes = 0;
  /// Flops of this piece of work. They only serve to limit the flops of a
  /// stage.
  double flops = 0;
  /// The item must be on one of the stages minStage to maxStage, both included.
  int minStage = 0;
  int maxStage = std::numeric_limits<int>::max();
};

/// Input of cutStages: items (pieces of work), and constraints of the stages.
struct StageCutRequest {
  /// Pieces of work in topological order.
  std::vector<WorkItem> items;
  /// crossingBytes[i]: bytes that cross a cut between items i and i + 1, for i
  /// from 0 to items.size() - 2. The function `crossingBytes` computes them.
  std::vector<double> crossingBytes;
  /// Number of stages. Every stage gets at least one item.
  int numStages = 1;
  /// For each stage: the number of microbatches whose activations the stage has
  /// in memory at the same time. If the list is empty, this number is 1 for
  /// each stage.
  std::vector<int> inFlight;
  /// Largest number of bytes for the weights and activations of a stage.
  double memoryLimit = std::numeric_limits<double>::infinity();
  /// Time to receive one byte, in the unit of WorkItem::seconds.
  double secondsPerByte = 0;
  /// Fraction by which the slowest stage may exceed the least possible time, so
  /// that fewer bytes cross between stages. 0.05 allows 5 %.
  double tolerance = 0;
  /// Indices of the items that must begin a stage.
  std::vector<size_t> pinned;
};

/// Result of the function `cutStages`, which divides a list of items into
/// consecutive stages. An item is a piece of work, such as an op. `begin` gives
/// the first item of each stage. Other members give properties of the division,
/// such as the time of the slowest stage. If no division is possible, `error`
/// gives the reason, and the other members keep their default values.
struct StageCut {
  /// For each stage: the index of the first item of the stage. An item is a
  /// piece of work, such as an op. For example, if stage 0 has the items 0 and
  /// 1, and stage 1 has the items 2 to 4, `begin` is {0, 2}. If no cut is
  /// possible, `begin` is empty.
  std::vector<size_t> begin;
  /// Time that the slowest stage takes for one microbatch. The time of a stage
  /// is the sum of the times of its items (such as ops), plus the time to
  /// receive its inputs. The unit is seconds, unless the caller gave the times
  /// of the items in another unit.
  double maxSeconds = 0;
  /// Sum of the times of all stages.
  double sumSeconds = 0;
  /// Sum of the bytes that cross the boundaries between stages.
  double crossingBytes = 0;
  /// Bytes of weights and activations on the stage that needs the most.
  double maxMemory = 0;
  /// Whether every stage respects the limit on its flops. The limit is the
  /// larger one of two numbers: twice the mean flops of all stages, and the
  /// flops of the item that has the most.
  bool balanced = false;
  /// Reason why no cut exists. The text is empty if a cut has been found.
  std::string error;

  /// Returns a list with one element per item. An item is a piece of work, such
  /// as an op. `numItems` is the number of items. Element i of the list is the
  /// number of the stage that has item i. For example, there are 5 items, stage
  /// 0 begins at item 0, and stage 1 begins at item 2. The list is then 0, 0,
  /// 1, 1, 1.
  std::vector<int> stageOfItems(size_t numItems) const;
};

/// Cuts a list of items (such as ops) into consecutive stages. First finds the
/// least time T that the slowest stage can have. Then minimizes the bytes that
/// cross stage boundaries, with stages that take at most T * (1 + tolerance).
/// If possible, also limits the flops of each stage. The limit is the larger
/// one of two numbers: twice the mean flops of all stages, and the flops of the
/// item that has the most.
StageCut cutStages(const StageCutRequest &request);

/// A value that the item `producer` computes. Items are pieces of work, such as
/// ops, and have numbers. `lastUser` is the last item that reads the value, or
/// `producer` if no item reads it.
struct LiveValue {
  size_t producer = 0;
  size_t lastUser = 0;
  double bytes = 0;
};

/// Returns a list whose element i is the number of bytes that cross a stage
/// boundary between the items i and i + 1. A stage sends values only to the
/// next stage. A value therefore crosses all boundaries from its producer to
/// its last reader.
std::vector<double> crossingBytes(size_t numItems,
                                  const std::vector<LiveValue> &values);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_STAGE_STAGECUT_H
