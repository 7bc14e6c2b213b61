//===- JoinSlices.cpp - one gather for a concat of slices -----------------===//
//
//   concat(x[1:], x[:1])  ->  gather(x, [1, 2, …, n-1, 0])
//
// If x is sharded along the dim, all elements that a rank needs then move in
// one collective rather than in one per slice. Phase 5-localize turns the
// gather back into slices where no elements move.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "passes/2-prepare/Passes.h"
#include "passes/2-prepare/match/Pins.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "join-slices"

namespace pcc::prepare {
#define GEN_PASS_DEF_JOINSLICES
#include "passes/2-prepare/Passes.h.inc"
} // namespace pcc::prepare

using namespace mlir;
using namespace pcc;
using namespace pcc::graph;
using namespace pcc::prepare;

/// Largest number of indices that a gather may have if this pass creates the
/// gather. For example, gather(x, [1, 2, 3, 0]) has four indices. The pass
/// replaces a concat of slices by a gather. If the gather would need more than
/// 2^20 indices, the pass does not replace the concat.
static constexpr int64_t mostIndices = int64_t(1) << 20;

/// If `part` is a slice of some value along `dim` alone, returns that value.
/// Otherwise returns `part`.
static Value wholeOf(Value part, int64_t dim) {
  auto slice = definedBy<SliceOp>(part);
  if (!slice)
    return part;
  for (auto [i, size] : llvm::enumerate(shapeOf(slice.getInput())))
    if (static_cast<int64_t>(i) != dim &&
        (slice.getSizes()[i] != size || slice.getSteps()[i] != 1))
      return part;
  return slice.getInput();
}

/// Appends to `indices` the indices along `dim` that the elements of `part`
/// have in `whole`. `part` is either a slice of `whole` or `whole` itself. For
/// the slice whole[2:4], the function appends 2 and 3.
static void appendIndices(Value part, Value whole, int64_t dim,
                          SmallVectorImpl<int64_t> &indices) {
  int64_t start = 0, step = 1;
  if (part != whole) {
    auto slice = part.getDefiningOp<SliceOp>();
    start = slice.getStarts()[dim];
    step = slice.getSteps()[dim];
  }
  for (int64_t i = 0; i < shapeOf(part)[dim]; ++i)
    indices.push_back(start + i * step);
}

/// Creates a gather that gives the same result as `concat`. For example,
/// concat(x[1:4], x[0:1]) becomes gather(x, [1, 2, 3, 0]). Each operand of
/// `concat` must be the tensor x itself, or a slice of x along the dim of the
/// concat only. Returns null if an operand is different, if no operand is a
/// slice, or if the gather needs more than `mostIndices` indices.
static Value joined(ConcatOp concat, OpBuilder &builder) {
  int64_t dim = concat.getDim();
  Value whole = wholeOf(concat.getInputs().front(), dim);
  bool hasSlice = false;
  for (Value part : concat.getInputs()) {
    hasSlice |= part != whole;
    if (part != whole && wholeOf(part, dim) != whole)
      return {};
  }
  if (!hasSlice || shapeOf(concat)[dim] > mostIndices)
    return {};
  SmallVector<int64_t> indices;
  for (Value part : concat.getInputs())
    appendIndices(part, whole, dim, indices);
  auto type = RankedTensorType::get({static_cast<int64_t>(indices.size())},
                                    builder.getI64Type());
  auto constant =
      ConstantOp::create(builder, concat.getLoc(), type,
                         DenseElementsAttr::get(type, ArrayRef(indices)));
  return GatherOp::create(builder, concat.getLoc(), whole, constant.getResult(),
                          builder.getI64IntegerAttr(dim));
}

namespace {
/// Pass `--join-slices`: replaces a concat of slices of one value by a gather.
struct JoinSlices : pcc::prepare::impl::JoinSlicesBase<JoinSlices> {
  void runOnOperation() override {
    Pins pins(getOperation());
    IRRewriter rewriter(&getContext());
    for (auto concat :
         llvm::make_early_inc_range(getOperation().getOps<ConcatOp>())) {
      rewriter.setInsertionPoint(concat);
      llvm::SmallSetVector<Operation *, 4> slices;
      for (Value part : concat.getInputs())
        if (auto slice = definedBy<SliceOp>(part))
          slices.insert(slice);
      Value lookup = joined(concat, rewriter);
      if (!lookup)
        continue;
      if (failed(replaceNamed(concat, lookup, rewriter))) {
        lookup.getDefiningOp()->erase();
        continue;
      }
      ++numJoined;
      for (Operation *slice : slices)
        if (slice->use_empty())
          rewriter.eraseOp(slice);
    }
    LDBG() << numJoined.getValue() << " joined";
  }
};
} // namespace
