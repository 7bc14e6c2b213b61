//===- Differentiate.cpp - reverse-mode differentiation of a block --------===//

#include "dialects/graph/gradients/Differentiate.h"
#include "dialects/graph/gradients/SliceBlocks.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <functional>

using namespace mlir;
using namespace pcc::graph;

/// Returns whether `value` can have a gradient: it is a float tensor with at
/// least one element.
static bool canFlowTo(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType()) &&
         type.getNumElements() > 0;
}

namespace {
/// Builds the gradients of a loss with respect to values of a block. The class
/// visits the ops in reverse order and adds one summand to the gradient of each
/// operand. A gradient is complete when the class visits the op that defines
/// the value.
class BackwardPass {
public:
  BackwardPass(Operation *before, GradientBuilder::OnOp onOp,
               GradientBuilder::StaysWhole staysWhole)
      : before(before), onOp(onOp), staysWhole(staysWhole) {}
  // Copies are deleted, because the callback `isDependent` captures `this`.
  BackwardPass(const BackwardPass &) = delete;
  BackwardPass &operator=(const BackwardPass &) = delete;

  /// Returns the gradients of a loss with respect to the values `wanted`. A
  /// null gradient means 0, or that the value is not a float tensor. `seed` is
  /// the gradient of the loss with respect to `target`. Emits an error and
  /// fails if an op has no gradient.
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
    SmallVector<Value> found;
    for (Value value : wanted) {
      FailureOr<Value> gradient = gradientOf(value);
      if (failed(gradient))
        return failure();
      found.push_back(*gradient);
    }
    return found;
  }

private:
  /// Adds the values `wanted`, and all values that are computed from them, to
  /// the member `dependent`. Visits the ops of `block` that precede `end`.
  /// Values that are not float tensors or have no elements are not added.
  /// Returns the first op that has an operand in `dependent`, or `end` if there
  /// is no such op.
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

  /// Builds the gradients of the operands of `op`. Does nothing if no result of
  /// `op` has a gradient or if no operand needs one.
  LogicalResult visit(Operation &op) {
    SmallVector<Value> flowing;
    for (Value value : op.getResults()) {
      FailureOr<Value> gradient = gradientOf(value);
      if (failed(gradient))
        return failure();
      flowing.push_back(*gradient);
    }
    if (!llvm::any_of(flowing, [](Value value) { return bool(value); }) ||
        !llvm::any_of(op.getOperands(), isDependent))
      return success();
    if (auto slice = dyn_cast<SliceOp>(op)) {
      blocks[slice.getInput()].push_back({slice, flowing.front()});
      return success();
    }
    return build(op, flowing);
  }

  /// Builds the gradients of the operands of `op` from those of its results,
  /// `flowing`.
  LogicalResult build(Operation &op, ValueRange flowing) {
    auto differentiable = dyn_cast<GradientOpInterface>(op);
    if (!differentiable)
      return op.emitOpError("has no gradient");
    GradientBuilder builder = builderFor(&op);
    Gradients built = differentiable.buildGradients(builder, flowing);
    if (failed(built))
      return failure();
    // Entry i of the list `built` is the gradient of operand i of `op`. A null
    // entry means that the operand gets no gradient from `op`. The list may be
    // shorter than the list of operands. Append null entries until both lists
    // have the same length.
    built->resize(op.getNumOperands());
    for (auto [operand, gradient] : llvm::zip_equal(op.getOperands(), *built))
      if (gradient && dependent.contains(operand))
        flow(operand, gradient, builder);
    return success();
  }

  GradientBuilder builderFor(Operation *op) {
    return {op, before, isDependent, onOp, staysWhole};
  }

  /// Returns the gradient of `value` after all its users have been visited;
  /// null if it is 0. Adds what the slices of `value` give.
  FailureOr<Value> gradientOf(Value value) {
    const SmallVector<SliceBlock> slices = std::move(blocks[value]);
    blocks.erase(value);
    if (slices.empty())
      return gradients.lookup(value);
    GradientBuilder builder = builderFor(slices.back().slice);
    if (Value joined = concatOf(slices, builder)) {
      flow(value, joined, builder);
      return gradients.lookup(value);
    }
    for (const SliceBlock &block : slices)
      if (failed(build(*SliceOp(block.slice), block.gradient)))
        return failure();
    return gradients.lookup(value);
  }

  /// Adds `gradient`, the contribution of one user of `value`, to the gradient
  /// of `value`.
  void flow(Value value, Value gradient, GradientBuilder &builder) {
    assert(value.getType() == gradient.getType());
    Value &all = gradients[value];
    all = all ? builder.add(all, gradient) : gradient;
  }

  Operation *before;
  GradientBuilder::OnOp onOp;
  GradientBuilder::StaysWhole staysWhole;
  /// Float tensors for which the backward pass builds gradients: the values
  /// that the caller wants, and all values that depend on them.
  llvm::DenseSet<Value> dependent;
  llvm::DenseMap<Value, Value> gradients;
  /// Slices of each value, whose gradients gradientOf() adds.
  llvm::DenseMap<Value, SmallVector<SliceBlock>> blocks;
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
