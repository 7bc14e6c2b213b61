//===- StageParts.h - assignment of ops to functions of a stage -----------===//
//
// 6-schedule divides each stage into functions that the action table runs at
// different times. Each op gets the number of its function as `pipe.part`;
// split-actions then moves it there.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_6_SCHEDULE_STAGEPARTS_H
#define PCC_PASSES_6_SCHEDULE_STAGEPARTS_H

#include "dialects/graph/StepParts.h"
#include "dialects/pipe/PipeDialect.h"

namespace pcc::schedule {

/// The functions of a stage, in the order in which they run for a microbatch.
/// An op may read values of its own and of earlier parts only.
///
/// The update consists of several parts if stages exchange values during it,
/// such as a global gradient norm: a value that part k sends is received in
/// part k + 1.
enum StagePart : int64_t {
  /// The action F.
  forwardPart = 0,
  /// The whole backward pass (action B); only the gradients of inputs (action
  /// I) if the schedule splits the backward pass.
  backwardPart = 1,
  /// The gradients of weights (action W) if the backward pass is split.
  weightGradientPart = 2,
  /// Part 0 of the update (action U0). Part k has the number updatePart + k.
  updatePart = 3,
};

/// Returns the part that an op is marked with; forwardPart if it has no mark.
inline int64_t partOf(mlir::Operation *op) {
  auto part = op->getAttrOfType<mlir::IntegerAttr>(pipe::partName);
  return part ? part.getInt() : static_cast<int64_t>(forwardPart);
}

/// Marks an op with a part.
inline void setPart(mlir::Operation *op, int64_t part) {
  auto type = mlir::IntegerType::get(op->getContext(), 64);
  op->setAttr(pipe::partName, mlir::IntegerAttr::get(type, part));
}

/// Returns whether an op belongs to the backward pass, split or not.
inline bool runsInBackward(mlir::Operation *op) {
  return partOf(op) == backwardPart || partOf(op) == weightGradientPart;
}

/// Returns whether an op is a source: pure and without operands, such as a
/// constant or a weight. A receive is not a source. Sources belong to no part:
/// each function that reads one gets its own copy.
inline bool isSourceOp(mlir::Operation *op) {
  return op->getNumOperands() == 0 && mlir::isPure(op) &&
         !mlir::isa<pipe::ReceiveOp>(op);
}

/// Assigns the ops of a training model, whose stages are connected by
/// `pipe.transfer`, to parts. Invariants for the update:
///  - an op that depends on k successive transfers of update values is in part
///    k or later;
///  - an op is in the last part that its readers allow, so that few values are
///    held between parts;
///  - a parameter is written after its last read in any stage.
///
/// Example: the global gradient norm, stages 0 and 1.
///
///   U0   stage 1: squares of its gradients, sent to stage 0
///   U1   stage 0: its squares, the norm, sent to stage 1; update of its weights
///   U2   stage 1: update of its weights
class StageParts {
public:
  /// Assigns all ops of `block`, which must stay unchanged as long as this
  /// object is used.
  explicit StageParts(mlir::Block &block);

  /// Returns the part of an op; for a transfer, the part that sends the value.
  int64_t of(mlir::Operation *op) const;
  /// Returns the part in which the value of a transfer is received: in the
  /// update the part after the one that sends it, otherwise the same part.
  int64_t ofArrival(mlir::Operation *transfer) const;

private:
  /// Sets the level of each update op to the number of update transfers on the
  /// longest way to it.
  void findEarliest(mlir::Block &block);
  /// Raises the levels of update ops to the lowest level of their readers.
  void delay(mlir::Block &block);
  /// Raises the levels of parameter writes above those of all reads.
  void writeLast(mlir::Block &block);

  /// Division into forward pass, backward pass and update.
  graph::StepParts step;
  /// For each op of the update: its part less `updatePart`.
  llvm::DenseMap<mlir::Operation *, int64_t> levels;
};

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_STAGEPARTS_H
