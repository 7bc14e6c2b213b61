//===- JoinSlices.cpp - one lookup for the parts of one value -------------===//
//
//   concat(x[1:], x[:1])  ->  gather(x, [1, 2, …, n-1, 0])
//
// What a rank needs of x then moves at once, not part by part. 5-localize makes
// slices of it again where nothing moves.
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

/// More indices than a constant should hold.
static constexpr int64_t mostIndices = int64_t(1) << 20;

/// The value of which `part` is a slice along `dim` alone; `part` itself if it
/// is none.
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

/// Appends the indices along `dim` of `whole` that `part` is.
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

/// The lookup that `concat` is; null if its operands are not parts of one value
/// or all of it, as often as you like.
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
