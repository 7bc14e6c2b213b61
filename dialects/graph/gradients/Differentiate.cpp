//===- Differentiate.cpp - the gradients of a value -----------------------===//

#include "dialects/graph/gradients/Differentiate.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <functional>

using namespace mlir;
using namespace pcc::graph;

/// What has no elements does not change anything.
static bool canFlowTo(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType()) &&
         type.getNumElements() > 0;
}

namespace {
/// Invariant: `gradients` holds for each value what flows to it from its users
/// that were visited. A value is complete when the op that defines it is
/// reached, since all its users come behind.
class BackwardPass {
public:
  BackwardPass(Operation *before, GradientBuilder::OnOp onOp,
               GradientBuilder::StaysWhole staysWhole)
      : before(before), onOp(onOp), staysWhole(staysWhole) {}

  Gradients run(Value target, Value seed, ValueRange wanted) {
    Block::iterator end =
        target.getDefiningOp()
            ? std::next(Block::iterator(target.getDefiningOp()))
            : target.getParentBlock()->begin();
    Block::iterator begin =
        findDependent(*target.getParentBlock(), wanted, end);
    if (dependent.contains(target))
      gradients[target] = seed;
    for (auto op = end; op != begin;)
      if (failed(visit(*--op)))
        return failure();
    return llvm::map_to_vector(
        wanted, [&](Value value) { return gradients.lookup(value); });
  }

private:
  /// Collects what depends on `wanted` up to `end`; returns the first op that
  /// may do so.
  Block::iterator findDependent(Block &block, ValueRange wanted,
                                Block::iterator end) {
    for (Value value : wanted)
      if (canFlowTo(value))
        dependent.insert(value);
    Block::iterator first = end;
    for (auto op = block.begin(); op != end; ++op) {
      bool depends = llvm::any_of(op->getOperands(), isDependent);
      if (depends && first == end)
        first = op;
      for (Value result : op->getResults())
        if (depends && canFlowTo(result))
          dependent.insert(result);
    }
    return first;
  }

  LogicalResult visit(Operation &op) {
    SmallVector<Value> flowing = llvm::map_to_vector(
        op.getResults(), [&](Value value) { return gradients.lookup(value); });
    if (!llvm::any_of(flowing, [](Value value) { return bool(value); }) ||
        !llvm::any_of(op.getOperands(), isDependent))
      return success();
    auto differentiable = dyn_cast<GradientOpInterface>(op);
    if (!differentiable)
      return op.emitOpError("has no gradient");
    GradientBuilder builder(&op, before, isDependent, onOp, staysWhole);
    Gradients built = differentiable.buildGradients(builder, flowing);
    if (failed(built))
      return failure();
    for (auto [operand, gradient] : llvm::zip_equal(op.getOperands(), *built))
      if (gradient && dependent.contains(operand))
        flow(operand, gradient, builder);
    return success();
  }

  void flow(Value value, Value gradient, GradientBuilder &builder) {
    assert(value.getType() == gradient.getType());
    Value &all = gradients[value];
    all = all ? builder.add(all, gradient) : gradient;
  }

  Operation *before;
  GradientBuilder::OnOp onOp;
  GradientBuilder::StaysWhole staysWhole;
  llvm::DenseSet<Value> dependent;
  llvm::DenseMap<Value, Value> gradients;
  std::function<bool(Value)> isDependent = [this](Value value) {
    return dependent.contains(value);
  };
};
} // namespace

Gradients pcc::graph::differentiate(Value target, Value seed, ValueRange wanted,
                                    Operation *before,
                                    GradientBuilder::OnOp onOp,
                                    GradientBuilder::StaysWhole staysWhole) {
  return BackwardPass(before, onOp, staysWhole).run(target, seed, wanted);
}
