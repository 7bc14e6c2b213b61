//===- Fold.cpp - graph ops on constants become constants -----------------===//

#include "dialects/graph/reference/Fold.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/reference/Evaluator.h"
#include "mlir/Interfaces/FoldInterfaces.h"

using namespace mlir;
using namespace pcc::graph;

/// Whether no walk over the dims of `value` is long, even if some are empty.
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

/// More operations are left to the run time.
static constexpr double maxFoldedFlops = 1 << 24;

/// Whether little is to be computed. What a window costs is not bounded by the
/// elements of operands and result.
static bool isCheap(Operation *op) {
  if (isa<ConvOp, ConvTransposeOp, PoolOp>(op))
    return false;
  auto cost = dyn_cast<CostOpInterface>(op);
  return !cost || cost.getFlops() <= maxFoldedFlops;
}

bool pcc::graph::isFoldable(Operation *op) {
  // What begins the backward pass must stay to be seen.
  return !isa<ConstantOp, LossGradientOp>(op) && canEvaluate(op) &&
         llvm::all_of(op->getOperands(), isSmall) &&
         llvm::all_of(op->getResults(), isSmall) && isCheap(op);
}

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
  // An op that fails here fails again, with an error, when it is run.
  std::string error;
  if (failed(evaluate(op, pointers, folded, Numerics::Model, error)))
    return failure();
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), folded))
    results.push_back(toAttribute(tensor, tensorType(result)));
  return success();
}

namespace {
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
