//===- BiasGradientEpilogue.cpp - bias gradients as matmul epilogues ------===//

#include "passes/7-emit/fuse/BiasGradientEpilogue.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

static RankedTensorType typeOf(Value value) { return graph::tensorType(value); }

/// Returns those operands of the matmul `product` for which cuBLASLt can
/// compute column sums in the same call as the product. These are operands with
/// two dims whose first dim the matmul contracts, such as both operands of xᵀ ·
/// y. Each operand has a flag: true for the left operand, and false for the
/// right operand.
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
/// one: [2, 3, 4] to [4]. The last dim must have `columns` elements.
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

/// Finds a reduction that sums the columns of `value`, or of a reshape of
/// `value`. The reduction must sum over all dims except the last dim, and the
/// last dim must have `columns` elements. Example with 4 columns: the sums of
/// the columns of a tensor [2, 3, 4] are a tensor [4]. Returns null if there is
/// no such reduction.
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

/// Follows the casts and reshapes of `sums` to the first value of element type
/// `stored`, and returns this value. Returns null if there is no such value, or
/// if `sums` or an intermediate value has several uses.
static Value castTo(Type stored, Value sums) {
  while (typeOf(sums).getElementType() != stored) {
    if (!sums.hasOneUse() ||
        !isa<graph::ReshapeOp, graph::CastOp>(*sums.user_begin()))
      return {};
    sums = sums.user_begin()->getResult(0);
  }
  return sums;
}

/// Collects in `readers` the ops before `last` that depend on `value`, directly
/// or through other ops. Returns whether they can all move behind `last`: they
/// have no side effects, and `last` does not depend on `value`.
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

/// Inserts before `product` a reduction that adds up all rows of `factor`, a
/// matrix operand of `product`. Then casts the sums to the type `stored` if
/// necessary.
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

/// Erases a chain of ops that begins with `first` and ends with `last`. Each op
/// of the chain is the only reader of the op before it. No op reads `last`.
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
