//===- BiasGradientEpilogue.cpp - bias gradients as matmul epilogues ------===//

#include "passes/7-emit/fuse/BiasGradientEpilogue.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

static RankedTensorType typeOf(Value value) { return graph::tensorType(value); }

/// Returns the operands of `product` whose first dim is contracted. In [k, m]ᵀ
/// · [k, n], these are both operands. The flag of each entry is true for the
/// left operand. Returns an empty list if `product` has batch dims or an
/// operand without elements.
static SmallVector<std::pair<Value, bool>, 2>
contractedRows(graph::MatmulOp product) {
  SmallVector<std::pair<Value, bool>, 2> factors;
  if (typeOf(product.getLhs()).getRank() != 2 ||
      typeOf(product.getRhs()).getRank() != 2 ||
      typeOf(product.getLhs()).getNumElements() == 0 ||
      typeOf(product.getRhs()).getNumElements() == 0)
    return factors;
  if (product.getTransposeLhs())
    factors.push_back({product.getLhs(), true});
  if (!product.getTransposeRhs())
    factors.push_back({product.getRhs(), false});
  return factors;
}

/// Returns whether `reduce` sums over all dims of its input except the last
/// one, e.g. [2, 3, 4] to [4], and the last dim has `columns` elements.
static bool sumsColumns(graph::ReduceOp reduce, int64_t columns) {
  RankedTensorType type = typeOf(reduce.getInput());
  const int64_t last = type.getRank() - 1;
  return reduce.getKind() == graph::ReduceKind::Sum &&
         type.getShape().back() == columns &&
         llvm::equal(reduce.getDims(), llvm::seq<int64_t>(0, last));
}

BiasGradientEpilogue pcc::emit::findBiasGradient(graph::MatmulOp product) {
  for (auto [factor, ofLhs] : contractedRows(product))
    for (Operation *user : factor.getUsers()) {
      auto reduce = dyn_cast<graph::ReduceOp>(user);
      if (!reduce || user->getBlock() != product->getBlock() ||
          !sumsColumns(reduce, typeOf(factor).getDimSize(1)))
        continue;
      BiasGradientEpilogue sums{reduce.getResult(), ofLhs, {reduce}};
      auto cast = reduce->hasOneUse()
                      ? dyn_cast<graph::CastOp>(*reduce->user_begin())
                      : graph::CastOp();
      const bool isStored = typeOf(sums.result).getElementType() ==
                            typeOf(product.getResult()).getElementType();
      if (cast && isStored &&
          typeOf(cast.getResult()).getElementType().isF32()) {
        sums.result = cast.getResult();
        sums.ops.push_back(cast);
      }
      return sums;
    }
  return {};
}

/// Returns a reduction that sums the columns of `value`, or of a reshape of
/// `value`, such that the sums have `columns` elements. Returns null if there
/// is none.
static graph::ReduceOp findReduction(Value value, int64_t columns) {
  for (Operation *user : value.getUsers()) {
    if (auto reduce = dyn_cast<graph::ReduceOp>(user);
        reduce && sumsColumns(reduce, columns))
      return reduce;
    if (isa<graph::ReshapeOp>(user))
      if (auto reduce = findReduction(user->getResult(0), columns))
        return reduce;
  }
  return {};
}

/// Returns the first value with element type `stored` in the chain of casts and
/// reshapes that starts at `sums`. Returns null if a value before it has
/// several readers, or a reader that is neither a cast nor a reshape.
static Value castTo(Type stored, Value sums) {
  while (typeOf(sums).getElementType() != stored) {
    if (!sums.hasOneUse() ||
        !isa<graph::ReshapeOp, graph::CastOp>(*sums.user_begin()))
      return {};
    sums = sums.user_begin()->getResult(0);
  }
  return sums;
}

/// Returns whether all readers of `value` between its definition and `last` can
/// move to after `last`. Readers are the ops that depend on `value`, directly
/// or indirectly. They can move if none of them has side effects, and if `last`
/// does not depend on `value`. Collects them in `readers`, in order.
static bool collectReaders(Value value, Operation *last,
                           llvm::SetVector<Operation *> &readers) {
  Operation *first = value.getDefiningOp();
  for (Operation *op = first->getNextNode(); op != last;
       op = op->getNextNode()) {
    const bool reads = llvm::any_of(op->getOperands(), [&](Value operand) {
      return operand == value || readers.contains(operand.getDefiningOp());
    });
    if (reads && !isPure(op))
      return false;
    if (reads)
      readers.insert(op);
  }
  return !llvm::is_contained(last->getOperands(), value) &&
         llvm::none_of(last->getOperands(), [&](Value operand) {
           return readers.contains(operand.getDefiningOp());
         });
}

/// Inserts, directly before `product`, a reduction that adds up all rows of the
/// matrix `factor`, an operand of `product`. If the type of the sums is not
/// `stored`, inserts a cast to `stored` after the reduction. findBiasGradient()
/// recognizes these ops.
static BiasGradientEpilogue writeSums(graph::MatmulOp product, Value factor,
                                      Type stored, Location loc) {
  OpBuilder builder(product);
  BiasGradientEpilogue sums;
  auto reduce = graph::ReduceOp::create(builder, loc, graph::ReduceKind::Sum,
                                        factor, ArrayRef<int64_t>{0},
                                        /*keep=*/false, IntegerAttr());
  sums.ops.push_back(reduce);
  sums.result = reduce.getResult();
  if (typeOf(sums.result).getElementType() == stored)
    return sums;
  auto type = RankedTensorType::get(typeOf(sums.result).getShape(), stored);
  sums.ops.push_back(graph::CastOp::create(builder, loc, type, sums.result));
  sums.result = sums.ops.back()->getResult(0);
  return sums;
}

/// Erases the ops from `first` to `last`, each of which reads the result of the
/// preceding op. The result of `last` must have no readers. Each other op must
/// have only the next op as reader.
static void eraseFrom(Operation *last, Operation *first) {
  while (last != first) {
    Operation *maker = last->getOperand(0).getDefiningOp();
    last->erase();
    last = maker;
  }
  first->erase();
}

BiasGradientEpilogue pcc::emit::alignBiasGradient(graph::MatmulOp product,
                                                  Type stored,
                                                  Operation *last) {
  for (auto [factor, ofLhs] : contractedRows(product)) {
    Value whole = factor;
    while (auto reshape = whole.getDefiningOp<graph::ReshapeOp>())
      whole = reshape.getInput();
    auto reduce = findReduction(whole, typeOf(factor).getDimSize(1));
    Value old = reduce ? castTo(stored, reduce.getResult()) : Value();
    llvm::SetVector<Operation *> readers;
    if (!old || reduce->getBlock() != product->getBlock())
      continue;
    if (old.getDefiningOp()->isBeforeInBlock(last) &&
        !collectReaders(old, last, readers))
      continue;
    BiasGradientEpilogue sums =
        writeSums(product, factor, stored, reduce.getLoc());
    sums.ofLhs = ofLhs;
    OpBuilder builder(last->getContext());
    builder.setInsertionPointAfter(last);
    Operation *behind = graph::ReshapeOp::create(builder, reduce.getLoc(),
                                                 typeOf(old), sums.result);
    old.replaceAllUsesWith(behind->getResult(0));
    for (Operation *reader : readers) {
      reader->moveAfter(behind);
      behind = reader;
    }
    eraseFrom(old.getDefiningOp(), reduce);
    return sums;
  }
  return {};
}
