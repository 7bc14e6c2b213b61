//===- ExpandSplitOps.cpp - expansion of ops with a split Inner dim -------===//

#include "dialects/dist/Decision.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/4-shard/Passes.h"
#include "passes/4-shard/expand/Expansions.h"
#include "passes/4-shard/graph/Stripes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "expand-split-ops"

namespace pcc::shard {
#define GEN_PASS_DEF_EXPANDSPLITOPS
#include "passes/4-shard/Passes.h.inc"
} // namespace pcc::shard

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

Expansions::Expansions() {
  addAttentionExpansions(*this);
  addSoftmaxExpansions(*this);
  addNormExpansions(*this);
  addSelectionExpansions(*this);
  addScanExpansions(*this);
}

CutDim::CutDim(const ShardedOp &op, int64_t dim)
    : dim(dim), sharding(op.operandSharding(0).dims[dim]),
      whole(graph::tensorType(op.op->getOperand(0)).getDimSize(dim)),
      count(sharding.numParts()), size(llvm::divideCeil(whole, count)) {}

SmallVector<int64_t> CutDim::cut(ArrayRef<int64_t> shape, int64_t size) const {
  SmallVector<int64_t> result(shape);
  result[dim] = count;
  result.insert(result.begin() + dim + 1, size);
  return result;
}

namespace {
/// Pass that replaces two kinds of ops by several ordinary ops
/// (expand/Expansions.h). In the first kind, ranks exchange values while the op
/// runs, as in ring attention or in a softmax along a split dim. The second
/// kind is a causal attention whose sequence is cut into stripes (ranges of
/// tokens). The new ops compute one attention per stripe.
struct ExpandSplitOps : pcc::shard::impl::ExpandSplitOpsBase<ExpandSplitOps> {
  /// Copies the attributes `graph.name` and `dist.pinned` (text of a sharding
  /// that the user sets) of the op `from` to the op that computes `to`.
  static void takeName(Operation *from, Value to) {
    for (StringRef name :
         {StringRef(graph::nameName), StringRef(dist::pinnedName)})
      if (Attribute value = from->getAttr(name))
        to.getDefiningOp()->setAttr(name, value);
  }

  /// Replaces the op that `op` describes by new ops with the same results, and
  /// erases it. Emits an error and fails if `expansions` has no function for
  /// this kind of op.
  LogicalResult expand(const ShardedOp &op) {
    Expansion expansion = expansions.find(op.op);
    if (!expansion)
      return op.op->emitOpError("splits a dim whose parts exchange values, but "
                                "has no expansion into other ops");
    LDBG() << "expanding " << *op.op;
    ShardedBuilder builder(op);
    auto values = expansion(op, builder);
    for (auto [result, value] : llvm::zip_equal(op.op->getResults(), values))
      if (value)
        result.replaceAllUsesWith(value);
    takeName(op.op, values.front());
    op.op->erase();
    ++numExpanded;
    return success();
  }

  void runOnOperation() override {
    for (Operation &op : llvm::make_early_inc_range(
             getOperation().front().without_terminator()))
      if (auto recorded = readShardedOp(&op);
          recorded &&
          (!recorded->innerAxes().empty() || stripesOf(*recorded) > 1))
        if (failed(expand(*recorded)))
          return signalPassFailure();
  }

  Expansions expansions;
};
} // namespace
