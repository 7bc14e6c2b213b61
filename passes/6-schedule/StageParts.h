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

/// The parts into which a stage is divided, in the order in which they run for
/// a microbatch. Each part becomes one function. An op may only read values of
/// its own part and of earlier parts.
///
/// If stages exchange values during the update, such as a global gradient norm,
/// the update consists of several parts: a value that part k sends is received
/// in part k + 1.
enum StagePart : int64_t {
  /// The forward pass (action F).
  forwardPart = 0,
  /// The backward pass (action B). If the schedule splits the backward pass,
  /// only the gradients of the stage's inputs (action I).
  backwardPart = 1,
  /// The gradients of weights (action W), if the schedule splits the backward
  /// pass.
  weightGradientPart = 2,
  /// The first part of the update (action U0). If the update has several parts,
  /// part k (counted from 0) has the number updatePart + k.
  updatePart = 3,
};

/// Returns the `pipe.part` of `op`, the number of the function that will
/// contain it; forwardPart if it has none.
inline int64_t partOf(mlir::Operation *op) {
  auto part = op->getAttrOfType<mlir::IntegerAttr>(pipe::partName);
  return part ? part.getInt() : static_cast<int64_t>(forwardPart);
}

/// Sets the `pipe.part` of `op`, the number of the function that will contain
/// it, to `part`.
inline void setPart(mlir::Operation *op, int64_t part) {
  auto type = mlir::IntegerType::get(op->getContext(), 64);
  op->setAttr(pipe::partName, mlir::IntegerAttr::get(type, part));
}

/// Returns whether `op` runs in the backward pass: in the part of action B
/// (backward) or I (input gradient), or in the part of action W (weight
/// gradient).
inline bool runsInBackward(mlir::Operation *op) {
  return partOf(op) == backwardPart || partOf(op) == weightGradientPart;
}

/// Returns whether `op` is a source: a pure op without operands, such as a
/// constant or the read of a weight. A receive is not a source. Sources are in
/// no part: each function that reads a source gets its own clone.
inline bool isSourceOp(mlir::Operation *op) {
  return op->getNumOperands() == 0 && mlir::isPure(op) &&
         !mlir::isa<pipe::ReceiveOp>(op);
}

/// Divides the ops of a training model into parts, each of which becomes a
/// function of a stage. The model's stages are connected by `pipe.transfer`.
/// Invariants for the update:
///
///  - an op that depends on k successive transfers of update values is in part
///    k or later;
///  - an op is in the last part that its readers allow, so that few values are
///    held between parts;
///  - a parameter is written after its last read in any stage.
///
/// Example: the global gradient norm, stages 0 and 1.
///
///   U0   stage 1: squares of its gradients, sent to stage 0
///   U1   stage 0: its squares; the norm, sent to stage 1; its weight update
///   U2   stage 1: its weight update
class StageParts {
public:
  /// Determines the part (the function of its stage) of each op of `block`,
  /// which must not change while this object is used.
  explicit StageParts(mlir::Block &block);

  /// Returns the part (the function of its stage) of `op`. For a transfer, it
  /// is the part that sends the value.
  int64_t of(mlir::Operation *op) const;
  /// Returns the number of the part (function of the receiving stage) in which
  /// the value of `transfer` is received. It is the number of the sending part
  /// or, in the update, one more.
  int64_t ofArrival(mlir::Operation *transfer) const;

private:
  /// Sets the level of each update op: the part of the update in which the op
  /// runs, counted from 0. It is the largest number of transfers between stages
  /// on a path through update ops to the op.
  void findEarliest(mlir::Block &block);
  /// Delays update ops: raises the level of each op (the part of the update in
  /// which it runs) to the lowest level of the ops that read its results.
  void delay(mlir::Block &block);
  /// Raises the level (part of the update) of each op that writes a parameter,
  /// so that all reads come before the write. The level is higher than that of
  /// reads by other stages, and not lower than that of reads by its own stage.
  void writeLast(mlir::Block &block);

  /// Division of the ops into forward pass, backward pass and update.
  graph::StepParts step;
  /// Level of each update op: the part of the update in which it runs, counted
  /// from 0.
  llvm::DenseMap<mlir::Operation *, int64_t> levels;
};

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_STAGEPARTS_H
