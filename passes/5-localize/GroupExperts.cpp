//===- GroupExperts.cpp - experts compute only the tokens that chose them -===//
//
// Converts a mixture of experts from dense to dropless form (MegaBlocks, Gale
// et al. 2023). The products with the experts' matrices become grouped matmuls
// over the rows of chosen tokens.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/5-localize/ExpertRowRewrites.h"
#include "passes/5-localize/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "group-experts"

namespace pcc::localize {
#define GEN_PASS_DEF_GROUPEXPERTS
#include "passes/5-localize/Passes.h.inc"
} // namespace pcc::localize

using namespace mlir;
using namespace pcc;
using namespace pcc::localize;

namespace {
/// The region that can be converted from dense values to rows (pairs of an
/// expert and a token): ops from which the combine step, the weighted sum of
/// expert outputs, is computed. A backward walk finds them. Invariant: all
/// readers of an op in the region are in the region, too, or are the combine
/// step.
class ExpertRowRegion {
public:
  /// Walks backwards from `sum`, the weighted sum of expert outputs, until it
  /// has visited the defining op of each value that is requested as rows. All
  /// ops of the region are on the pipeline stage of `sum`.
  explicit ExpertRowRegion(const ExpertCombine &sum) {
    want(sum.op->getOperand(1), sum.outputs);
    users.insert(sum.op);
    for (Operation *op = sum.op->getPrevNode(); op && numWanted > 0;
         op = op->getPrevNode())
      if (visit(op, sum.op->getAttr(pipe::stageName)))
        --numWanted;
  }

  /// Returns whether the region has a product with the experts' matrices.
  /// Without one, the conversion to rows (pairs of an expert and a token) saves
  /// no work.
  bool hasProduct() const {
    return llvm::any_of(
        ops, [](const RowOp &entry) { return entry.form->multiplies; });
  }

  /// Builds all ops of the region on rows (pairs of an expert and a token), in
  /// program order. Returns the rows of `value`, whose dims have the roles
  /// `roles`.
  Value build(Value value, const DimRoles &roles, ExpertRowBuilder &builder) {
    for (RowOp &entry : llvm::reverse(ops))
      builder.setRows(
          entry.op->getResult(0),
          entry.form->build(entry.op, entry.operands, entry.result, builder));
    return builder.rowsOf(value, roles);
  }

  /// Erases the original, dense ops of the region, last op first. The combine
  /// step, which reads them, must already have been erased.
  void erase() {
    for (RowOp &entry : ops)
      entry.op->erase();
  }

private:
  /// An op of the region: the functions that convert it, and the roles (expert,
  /// token or feature) of the dims of its operands and result.
  struct RowOp {
    Operation *op;
    const RowRewrite *form;
    SmallVector<DimRoles> operands;
    DimRoles result;
  };

  /// Requests that the op that computes `value` be converted to rows (pairs of
  /// an expert and a token). A value that lacks a dim of experts or one of
  /// tokens stays dense, because several rows share its elements.
  void want(Value value, const DimRoles &roles) {
    if (!value.getDefiningOp() || !hasRole(roles, DimRole::Expert) ||
        !hasRole(roles, DimRole::Token))
      return;
    auto [entry, isNew] = wanted.insert({value, roles});
    numWanted += isNew;
    // If two readers need different rows of the value, the op that computes it
    // stays dense.
    if (!isNew && entry->second != roles)
      entry->second.clear();
  }

  /// Returns whether `op` computes a value that is requested as rows. If so,
  /// and if the op can be converted and all its readers are in the region, adds
  /// it to the region.
  bool visit(Operation *op, Attribute stage) {
    if (op->getNumResults() != 1)
      return false;
    auto found = wanted.find(op->getResult(0));
    if (found == wanted.end())
      return false;
    RowOp entry{op, &rowRewriteOf(op), {}, found->second};
    const bool isInside =
        !entry.result.empty() && op->getAttr(pipe::stageName) == stage &&
        llvm::all_of(op->getUsers(),
                     [&](Operation *user) { return users.contains(user); });
    auto roles =
        isInside ? entry.form->rolesOf(op, entry.result) : std::nullopt;
    if (!roles)
      return true;
    entry.operands = std::move(*roles);
    for (auto [operand, own] :
         llvm::zip_equal(op->getOperands(), entry.operands))
      want(operand, own);
    users.insert(op);
    ops.push_back(std::move(entry));
    return true;
  }

  /// Ops of the region (ops that are converted to rows), in reverse program
  /// order.
  SmallVector<RowOp> ops;
  /// The ops of the region and the combine step: a value that only they read
  /// may become rows.
  llvm::DenseSet<Operation *> users;
  /// Values requested as rows, with the roles (expert, token or feature) of
  /// their dims. The roles are empty if two readers need different ones.
  llvm::DenseMap<Value, DimRoles> wanted;
  /// Number of requested values whose defining op has not been visited yet.
  int64_t numWanted = 0;
};

struct GroupExperts : pcc::localize::impl::GroupExpertsBase<GroupExperts> {
  void runOnOperation() override {
    for (auto op :
         llvm::make_early_inc_range(getOperation().getOps<graph::EinsumOp>()))
      if (auto sum = ExpertCombine::read(op))
        group(*sum);
    LDBG() << numGrouped.getValue() << " sums of experts are grouped";
  }

  /// Replaces `sum`, the weighted sum of expert outputs, and the ops from which
  /// it is computed, by ops on rows (pairs of an expert and a token). Does
  /// nothing if these ops have no product with the experts' matrices. The
  /// result keeps name and sharding.
  void group(const ExpertCombine &sum) {
    ExpertRowRegion region(sum);
    if (!region.hasProduct())
      return;
    ExpertRowBuilder builder(sum);
    Value rows = region.build(sum.op->getOperand(1), sum.outputs, builder);
    Value result = builder.sumOf(rows);
    if (Attribute name = sum.op->getAttr(graph::nameName))
      result.getDefiningOp()->setAttr(graph::nameName, name);
    if (dist::ShardingAttr sharding = dist::shardingOf(sum.op->getResult(0)))
      dist::setSharding(result, sharding.getSharding());
    graph::EinsumOp op = sum.op;
    op.replaceAllUsesWith(result);
    op.erase();
    region.erase();
    ++numGrouped;
  }
};
} // namespace
