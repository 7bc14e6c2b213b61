//===- Fold.cpp - constant folding of graph ops ---------------------------===//

#include "dialects/graph/reference/Fold.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/reference/Evaluator.h"
#include "mlir/Interfaces/FoldInterfaces.h"

using namespace mlir;
using namespace pcc::graph;

/// Returns whether `value` is a tensor of static shape that is small enough for
/// constant folding. The product of the sizes of its dims must be at most
/// maxFoldedElements. A size of 0 counts as 1 in this product. For example, a
/// tensor of shape [0, 1000000] counts as 1000000 elements, so it is not small.
/// The tensor has no elements, but the evaluation of an op may still loop over
/// the dim of size 1000000.
static bool isSmall(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return false;
  int64_t count = 1;
  for (int64_t size : type.getShape()) {
    if (size > maxFoldedElements / count)
      return false;
    count *= std::max<int64_t>(1, size);
  }
  return true;
}

/// Largest number of floating-point operations of an op that is folded to a
/// constant. Ops with more operations are executed at run time.
static constexpr double maxFoldedFlops = 1 << 24;

/// Returns whether an evaluation of `op` is cheap: at most maxFoldedFlops
/// operations. Convolutions and pools never count as cheap, because they can be
/// costly even for small tensors.
static bool isCheap(Operation *op) {
  if (isa<ConvOp, ConvTransposeOp, PoolOp>(op))
    return false;
  auto cost = dyn_cast<CostOpInterface>(op);
  return !cost || cost.getFlops() <= maxFoldedFlops;
}

bool pcc::graph::isFoldable(Operation *op) {
  // Keep loss_gradient, a constant 1, because passes search for it to find the
  // start of the backward pass.
  return !isa<ConstantOp, LossGradientOp>(op) && canEvaluate(op) &&
         llvm::all_of(op->getOperands(), isSmall) &&
         llvm::all_of(op->getResults(), isSmall) && isCheap(op);
}

/// Evaluates `op` on constant operands and returns its results as constants.
/// Fails, without an error message, if `op` cannot be folded.
static LogicalResult foldByEvaluation(Operation *op,
                                      ArrayRef<Attribute> operands,
                                      SmallVectorImpl<OpFoldResult> &results) {
  if (!llvm::all_of(operands, isReadable) || !isFoldable(op))
    return failure();
  SmallVector<HostTensor> tensors, folded;
  for (Attribute operand : operands)
    tensors.push_back(toHost(cast<DenseElementsAttr>(operand)));
  SmallVector<const HostTensor *> pointers;
  for (const HostTensor &tensor : tensors)
    pointers.push_back(&tensor);
  // Drop the error message: an op that cannot be evaluated stays in the module
  // and fails at run time.
  if (evaluate(op, pointers, folded, Numerics::Model).failed())
    return failure();
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), folded))
    results.push_back(toAttribute(tensor, tensorType(result)));
  return success();
}

namespace {
/// Interface through which MLIR calls foldByEvaluation() for the ops of the
/// graph dialect.
struct GraphFoldInterface : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;

  LogicalResult fold(Operation *op, ArrayRef<Attribute> operands,
                     SmallVectorImpl<OpFoldResult> &results) const final {
    return foldByEvaluation(op, operands, results);
  }
};
} // namespace

void pcc::graph::registerConstantFolding(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, GraphDialect *dialect) {
    dialect->addInterfaces<GraphFoldInterface>();
  });
}
