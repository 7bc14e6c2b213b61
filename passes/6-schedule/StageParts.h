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

/// Parts of a pipeline stage, for a model that is trained. Each part becomes
/// one function of the stage. The parts run in this order:
///
///   forward pass    one part; runs once per microbatch
///   backward pass   one or two parts; runs once per microbatch
///   weight update   one or more parts (U0, U1, …); runs once per step,
///                   after all microbatches
///
/// The weight update has several parts if the stages exchange values during the
/// update. An op may only read values that its own part or an earlier part
/// computes.
enum StagePart : int64_t {
  /// The forward pass (action F).
  forwardPart = 0,
  /// The part that computes the backward pass (action B). A schedule may split
  /// the backward pass of a stage into two parts, I and W. Then `backwardPart`
  /// is part I. It computes the gradients of the inputs of the stage. The part
  /// `weightGradientPart` (action W) computes the gradients of the weights.
  backwardPart = 1,
  /// The part that computes the gradients of the weights (action W). This part
  /// exists only if the schedule splits the backward pass of the stage into two
  /// parts, I (gradients of the inputs of the stage) and W.
  weightGradientPart = 2,
  /// The first part of the weight update (action U0). The weight update may
  /// have several parts. The numbers of the later parts follow: U1 has the
  /// number 4, and U2 has the number 5.
  updatePart = 3,
};

/// Returns the value of the attribute `pipe.part` of `op`. The compiler divides
/// each pipeline stage into functions, such as one function for the forward
/// pass. The attribute is the number of the function that will contain `op`.
/// Returns `forwardPart` if `op` does not have the attribute.
inline int64_t partOf(mlir::Operation *op) {
  auto part = op->getAttrOfType<mlir::IntegerAttr>(pipe::partName);
  return part ? part.getInt() : static_cast<int64_t>(forwardPart);
}

/// Sets the attribute `pipe.part` of `op` to `part`. The compiler divides each
/// pipeline stage into functions, such as one function for the forward pass.
/// `part` is the number of the function that will contain `op`.
inline void setPart(mlir::Operation *op, int64_t part) {
  auto type = mlir::IntegerType::get(op->getContext(), 64);
  op->setAttr(pipe::partName, mlir::IntegerAttr::get(type, part));
}

/// Returns whether `op` runs in the backward pass: in action B or, if the
/// backward pass is split, in action I (input gradient) or W (weight gradient).
inline bool runsInBackward(mlir::Operation *op) {
  return partOf(op) == backwardPart || partOf(op) == weightGradientPart;
}

/// Returns whether `op` is a source. A source is an op that has no operands and
/// no side effects. Examples are a constant and an op that reads a weight. A
/// `pipe.receive` op is never a source. If two functions of a pipeline stage
/// need the result of a source, each function gets a clone of the source.
inline bool isSourceOp(mlir::Operation *op) {
  return op->getNumOperands() == 0 && mlir::isPure(op) &&
         !mlir::isa<pipe::ReceiveOp>(op);
}

/// Divides the ops of a training model into parts. A part becomes one function
/// of a pipeline stage:
///
///   F            forward pass
///   B            backward pass
///   U0, U1, U2   weight update; U0 runs first
///
/// A value that one stage sends in U0 arrives at another stage in U1. An op of
/// the weight update runs after its operands have been computed or have
/// arrived. If several parts are possible, the op runs in the part of its first
/// reader. Sends, and ops that compute an output of the model, run in the first
/// possible part. A write of a weight runs after all reads of the weight, in
/// any stage.
class StageParts {
public:
  /// Determines the part of each op of `block`. A part is one function of a
  /// pipeline stage, such as the function for the forward pass. `block` is the
  /// body of the model and contains the ops of all stages. The caller must not
  /// change `block` while the caller uses this object.
  explicit StageParts(mlir::Block &block);

  /// Returns the number of the part that runs `op`. A part is one function of a
  /// pipeline stage. Part 0 is the forward pass, and part 1 is the backward
  /// pass. The weight update has the parts 3 (U0), 4 (U1), and so on. If `op`
  /// is a transfer of a value from stage 0 to stage 1, returns the part of
  /// stage 0 that sends the value.
  int64_t of(mlir::Operation *op) const;
  /// Returns the part of the receiving stage in which the value of `transfer`
  /// arrives. A transfer sends a value from one pipeline stage to another. A
  /// part is one function of a stage: F (forward pass), B (backward pass), or
  /// one of U0, U1, … (weight update). Examples:
  ///
  ///   sent in   arrives in
  ///   F         F
  ///   B         B
  ///   U0        U1
  ///   U1        U2
  int64_t ofArrival(mlir::Operation *transfer) const;

private:
  /// Finds, for each op of the weight update, the earliest part that can run
  /// the op. The parts of the weight update are U0, U1, …, and U0 runs first. A
  /// value that one stage sends in U0 arrives at another stage in U1. Example:
  /// stage 1 sends a value to stage 0 in U0, and an op of stage 0 reads this
  /// value. The earliest part that can run this op is U1. The function stores
  /// the number of the part in `levels`, such as 1 for U1.
  void findEarliest(mlir::Block &block);
  /// Moves ops of the weight update to later parts. The parts of the weight
  /// update are U0, U1, …, and U0 runs first. An op moves to the part of the op
  /// that reads its result. If several ops read the result, the op moves to the
  /// earliest of their parts. Example: the op is in U0, and ops in U1 and in U2
  /// read its result. The op then moves to U1. Three kinds of ops do not move:
  ///
  ///  - transfers between stages
  ///  - ops that compute an output of the model
  ///  - ops whose results no op reads
  void delay(mlir::Block &block);
  /// Moves ops that write a parameter to later parts of the weight update. A
  /// parameter is a tensor that ranks keep from step to step, such as a weight.
  /// The parts of the weight update are U0, U1, …, and U0 runs first. A write
  /// of a parameter must run after all reads of the parameter, so that each
  /// read returns the old value. Example: stage 0 writes a parameter in U0, and
  /// stage 1 reads the parameter in U1. The write moves to U2. U1 would be too
  /// early for the write, because stage 0 may run its U1 before stage 1 runs
  /// its U1.
  void writeLast(mlir::Block &block);

  /// Division of the ops into forward pass, backward pass and update.
  graph::StepParts step;
  /// Map from each op of the weight update to the number of the part that runs
  /// the op. The weight update has the parts U0, U1, …, and U0 runs first. The
  /// number is 2 if the op runs in U2.
  llvm::DenseMap<mlir::Operation *, int64_t> levels;
};

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_STAGEPARTS_H
