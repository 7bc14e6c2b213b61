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

/// Functions of a pipeline stage of a trained model, in the order of execution.
/// The forward and backward functions run once per microbatch. The weight
/// update functions (U0, U1 and so on) run once per step. An op may read only
/// values that its own function or an earlier function computes.
enum StagePart : int64_t {
  /// The forward pass (action F).
  forwardPart = 0,
  /// Function for the backward pass (action B). A schedule may split the
  /// backward pass of a stage into two functions, I and W. `backwardPart` is
  /// then function I, which computes the gradients of the inputs of the stage.
  /// `weightGradientPart` is function W.
  backwardPart = 1,
  /// Function for the gradients of the weights (action W). It exists only if
  /// the schedule splits the backward pass of the stage into two functions, I
  /// (gradients of the inputs of the stage) and W.
  weightGradientPart = 2,
  /// First function of the weight update (action U0). The weight update may
  /// have several functions: U1 has the number 4, and U2 has the number 5.
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

/// Assigns each op of a trained model to a function of its pipeline stage: F
/// (forward pass), B (backward pass), or U0, U1 and so on (weight update). A
/// value that one stage sends in U0 arrives at another stage in U1. An op of
/// the update runs in the function of its first reader. Sends and model outputs
/// run as early as possible. Writes of a weight run after all reads in any
/// stage.
class StageParts {
public:
  /// Determines the part of each op of `block`. A part is one function of a
  /// pipeline stage, such as the function for the forward pass. `block` is the
  /// body of the model and contains the ops of all stages. The caller must not
  /// change `block` while the caller uses this object.
  explicit StageParts(mlir::Block &block);

  /// Returns the number of the part that runs `op`. A part is one function of a
  /// pipeline stage. Part 0 is the forward pass, and part 1 is the whole
  /// backward pass: this class does not split off the gradients of the weights
  /// (part 2). The weight update has the parts 3 (U0), 4 (U1), and so on. If
  /// `op` is a transfer of a value from stage 0 to stage 1, returns the part of
  /// stage 0 that sends the value.
  int64_t of(mlir::Operation *op) const;
  /// Returns the number of the part (function) of the receiving stage that
  /// receives the value of `transfer`. In the forward and backward pass, this
  /// is also the part of the sending stage that sends the value. In the weight
  /// update, it is the next part: a value that is sent in U0 arrives in U1.
  int64_t ofArrival(mlir::Operation *transfer) const;

private:
  /// Stores in `levels`, for each op of the weight update, the number of the
  /// earliest function (0 for U0, 1 for U1) that can run the op. Example: stage
  /// 1 sends a value to stage 0 in U0, so the value arrives in U1. An op of
  /// stage 0 that reads the value can run in U1 at the earliest.
  void findEarliest(mlir::Block &block);
  /// Moves each op of the weight update from the earliest function that can run
  /// the op (U0, U1 and so on) to the earliest function that reads its result.
  /// Example: an op that could run in U0, but whose first reader runs in U2,
  /// moves to U2. Transfers between stages, ops that compute outputs of the
  /// model, and ops without readers do not move.
  void delay(mlir::Block &block);
  /// Moves each write of a parameter (such as a weight) behind all reads of the
  /// parameter in the weight update. If another stage reads the parameter in
  /// U1, the write moves to U2, because stages run U1 at different times.
  void writeLast(mlir::Block &block);

  /// Division of the ops into forward pass, backward pass and update.
  graph::StepParts step;
  /// Map from each op of the weight update to the number of the function that
  /// runs the op. The weight update has the functions U0, U1 and so on, and U0
  /// runs first. The number is 2 if the op runs in U2.
  llvm::DenseMap<mlir::Operation *, int64_t> levels;
};

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_STAGEPARTS_H
