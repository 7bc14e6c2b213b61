//===- Differentiate.cpp - reverse-mode differentiation of a block --------===//

#include "dialects/graph/gradients/Differentiate.h"
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
/// Builds gradients by visiting the ops of a block in reverse order. When an op
/// is visited, it contributes a gradient to each value that it uses.
/// `gradients` maps a value to the sum of the contributions so far.
///
/// Invariant: when the op that defines a value is visited, the sum of the value
/// is complete. All users of the value come later in the block, so the reverse
/// order visits these users first.
class BackwardPass {
public:
  BackwardPass(Operation *before, GradientBuilder::OnOp onOp,
               GradientBuilder::StaysWhole staysWhole)
      : before(before), onOp(onOp), staysWhole(staysWhole) {}
  // Copies are deleted, because the callback `isDependent` refers to this
  // object.
  BackwardPass(const BackwardPass &) = delete;
  BackwardPass &operator=(const BackwardPass &) = delete;

  /// Builds and returns the gradients of the values `wanted`. The arguments are
  /// those of differentiate().
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
  /// Inserts into `dependent` the values `wanted`, and all results of ops
  /// before `end` that depend on these values through float tensors. Returns
  /// the first op that reads a value in `dependent`, or `end` if there is no
  /// such op.
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
    // onlyGradient() returns a list with one entry, even if `op` has more
    // operands. Add null entries for the other operands.
    built->resize(op.getNumOperands());
    for (auto [operand, gradient] : llvm::zip_equal(op.getOperands(), *built))
      if (gradient && dependent.contains(operand))
        flow(operand, gradient, builder);
    return success();
  }

  /// Adds `gradient`, the contribution of one user, to the gradient of `value`.
  /// Builds an addition if another user has already contributed.
  void flow(Value value, Value gradient, GradientBuilder &builder) {
    assert(value.getType() == gradient.getType());
    Value &all = gradients[value];
    all = all ? builder.add(all, gradient) : gradient;
  }

  Operation *before;
  GradientBuilder::OnOp onOp;
  GradientBuilder::StaysWhole staysWhole;
  /// The wanted values and all values that depend on them.
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
