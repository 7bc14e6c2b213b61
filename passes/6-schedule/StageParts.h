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

/// The parts of a stage, in the order in which they run for a microbatch. Each
/// part becomes one function. An op may only read values of its own and of
/// earlier parts. If stages exchange values in the update, it has several
/// parts.
enum StagePart : int64_t {
  /// The forward pass (action F).
  forwardPart = 0,
  /// The backward pass (action B). If it is split, only the gradients of the
  /// stage's inputs (action I).
  backwardPart = 1,
  /// The gradients of weights (action W), if the backward pass is split.
  weightGradientPart = 2,
  /// The first part of the update (action U0). Part k of the update, counted
  /// from 0, has the number updatePart + k.
  updatePart = 3,
};

/// Returns the `pipe.part` of `op`, the number of the function that will
/// contain it; forwardPart if absent.
inline int64_t partOf(mlir::Operation *op) {
  auto part = op->getAttrOfType<mlir::IntegerAttr>(pipe::partName);
  return part ? part.getInt() : static_cast<int64_t>(forwardPart);
}

/// Sets the `pipe.part` of `op`, the number of the function that will contain
/// it.
inline void setPart(mlir::Operation *op, int64_t part) {
  auto type = mlir::IntegerType::get(op->getContext(), 64);
  op->setAttr(pipe::partName, mlir::IntegerAttr::get(type, part));
}

/// Returns whether `op` runs in the backward pass: in action B or, if the
/// backward pass is split, in action I (input gradient) or W (weight gradient).
inline bool runsInBackward(mlir::Operation *op) {
  return partOf(op) == backwardPart || partOf(op) == weightGradientPart;
}

/// Returns whether `op` is a source: a pure op without operands, such as a
/// constant or the read of a weight, but not a receive. Each function has its
/// own clones of sources.
inline bool isSourceOp(mlir::Operation *op) {
  return op->getNumOperands() == 0 && mlir::isPure(op) &&
         !mlir::isa<pipe::ReceiveOp>(op);
}

/// Divides the ops of a training model into parts. Each part becomes a function
/// of a stage. Rules for the parts of the update, U0, U1, …:
///
///  - If k transfers between stages, one after another, lead to an op, it is in
///    Uk or later.
///  - Within this rule, an op moves to the part of its earliest reader.
///  - A parameter is written after its last read in any stage.
///
/// Example: the global gradient norm, stages 0 and 1.
///
///   U0   stage 1: squares of its gradients, sent to stage 0
///   U1   stage 0: its squares; the norm, sent to stage 1; its weight update
///   U2   stage 1: its weight update
class StageParts {
public:
  /// Determines the part (function of its stage) of each op of `block`. The
  /// block must not change while this object is used.
  explicit StageParts(mlir::Block &block);

  /// Returns the part (function of its stage) of `op`; for a transfer, the part
  /// that sends the value.
  int64_t of(mlir::Operation *op) const;
  /// Returns the part of the receiving stage in which the value of `transfer`
  /// arrives. In the update, this is the part after the one that sends the
  /// value (U1 for U0). In the forward or backward pass, it is the part that
  /// sends.
  int64_t ofArrival(mlir::Operation *transfer) const;

private:
  /// Finds, for each op of the update, the largest number of transfers between
  /// stages on a path to the op. This number is the op's level: the index of
  /// the earliest part of the update (U0, U1, …) that can run the op.
  void findEarliest(mlir::Block &block);
  /// Moves each op of the update to a later part of the update (U0, U1, …): the
  /// earliest part that contains one of its readers.
  void delay(mlir::Block &block);
  /// Moves each op that writes a parameter to a part of the update (U0, U1, …)
  /// in which all reads of the parameter are over.
  void writeLast(mlir::Block &block);

  /// Division of the ops into forward pass, backward pass and update.
  graph::StepParts step;
  /// Level of each update op: its part of the update, counted from 0.
  llvm::DenseMap<mlir::Operation *, int64_t> levels;
};

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_STAGEPARTS_H
