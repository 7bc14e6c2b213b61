//===- StageParts.h - which function of its stage an op goes to -----------===//

#ifndef PCC_PASSES_6_SCHEDULE_STAGEPARTS_H
#define PCC_PASSES_6_SCHEDULE_STAGEPARTS_H

#include "dialects/graph/StepParts.h"
#include "dialects/pipe/PipeDialect.h"

namespace pcc::schedule {

/// The functions of a stage, in the order in which they run. The update has
/// parts: what one of them sends, the next one receives.
enum StagePart : int64_t {
  forwardPart = 0,
  /// All of the backward pass; I, where it is split.
  backwardPart = 1,
  /// W.
  weightGradientPart = 2,
  /// StagePart k of the update is updatePart + k.
  updatePart = 3,
};

/// The part that an op of a stage was given; the forward pass without one.
inline int64_t partOf(mlir::Operation *op) {
  auto part = op->getAttrOfType<mlir::IntegerAttr>(pipe::partName);
  return part ? part.getInt() : static_cast<int64_t>(forwardPart);
}

inline void setPart(mlir::Operation *op, int64_t part) {
  auto type = mlir::IntegerType::get(op->getContext(), 64);
  op->setAttr(pipe::partName, mlir::IntegerAttr::get(type, part));
}

inline bool runsInBackward(mlir::Operation *op) {
  return partOf(op) == backwardPart || partOf(op) == weightGradientPart;
}

/// Every function has an own one of these ops.
inline bool isSourceOp(mlir::Operation *op) {
  return op->getNumOperands() == 0 && mlir::isPure(op) &&
         !mlir::isa<pipe::ReceiveOp>(op);
}

/// The parts of the ops of a training model whose stages are joined by
/// transfers. An op of the update is in the last part in which it can be, so
/// that little is held between parts; a weight is written when nobody reads it
/// any more.
class StageParts {
public:
  explicit StageParts(mlir::Block &block);

  int64_t of(mlir::Operation *op) const;
  /// When a transfer's value is there.
  int64_t ofArrival(mlir::Operation *transfer) const;

private:
  void findEarliest(mlir::Block &block);
  void delay(mlir::Block &block);
  void writeLast(mlir::Block &block);

  graph::StepParts step;
  /// Of ops of the update, from 0.
  llvm::DenseMap<mlir::Operation *, int64_t> levels;
};

} // namespace pcc::schedule

#endif // PCC_PASSES_6_SCHEDULE_STAGEPARTS_H
