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
/// The ops that can be converted from dense values to rows (pairs of an expert
/// and a token). They compute the operands of a combine step, the weighted sum
/// of expert outputs. A backward walk from the combine step finds them.
/// Invariant: each reader of an op in the region is in the region, or is the
/// combine step.
class ExpertRowRegion {
public:
  /// Finds the ops of the region (ops that are converted to rows, which are
  /// pairs of an expert and a token). Walks backwards from `sum`, the weighted
  /// sum of expert outputs, and visits the ops whose results are requested as
  /// rows. Stops when no requested value is left. All ops of the region are on
  /// the pipeline stage of `sum`.
  explicit ExpertRowRegion(const ExpertCombine &sum) {
    want(sum.op->getOperand(1), sum.outputs);
    users.insert(sum.op);
    for (Operation *op = sum.op->getPrevNode(); op && numWanted > 0;
         op = op->getPrevNode())
      if (visit(op, sum.op->getAttr(pipe::stageName)))
        --numWanted;
  }

  /// Returns whether the region (ops that are converted to rows) has a product
  /// with the experts' matrices. If there is no such product, the conversion to
  /// rows (pairs of an expert and a token) saves no work.
  bool hasProduct() const {
    return llvm::any_of(
        ops, [](const RowOp &entry) { return entry.form->multiplies; });
  }

  /// Builds all ops of the region (ops that are converted to rows) on rows,
  /// which are pairs of an expert and a token. Visits the ops in program order.
  /// Returns the rows of `value`, whose dims have the roles `roles`.
  Value build(Value value, const DimRoles &roles, ExpertRowBuilder &builder) {
    for (RowOp &entry : llvm::reverse(ops))
      builder.setRows(
          entry.op->getResult(0),
          entry.form->build(entry.op, entry.operands, entry.result, builder));
    return builder.rowsOf(value, roles);
  }

  /// Erases the original ops of the region (ops that were converted to rows),
  /// last op first. The combine step (weighted sum of expert outputs), which
  /// reads their results, must already have been erased.
  void erase() {
    for (RowOp &entry : ops)
      entry.op->erase();
  }

private:
  /// An op of the region (ops that are converted to rows, which are pairs of an
  /// expert and a token). Contains the functions that convert the op, and the
  /// roles (expert, token or feature) of the dims of its operands and result.
  struct RowOp {
    Operation *op;
    const RowRewrite *form;
    SmallVector<DimRoles> operands;
    DimRoles result;
  };

  /// Requests that the op that computes `value` be converted to rows (pairs of
  /// an expert and a token). Does nothing if `value` has no dim of experts or
  /// no dim of tokens. The value then stays dense, because several rows share
  /// its elements.
  void want(Value value, const DimRoles &roles) {
    if (!value.getDefiningOp() || !hasRole(roles, DimRole::Expert) ||
        !hasRole(roles, DimRole::Token))
      return;
    auto [entry, isNew] = wanted.insert({value, roles});
    numWanted += isNew;
    // If two readers need different rows (pairs of an expert and a token) of
    // the value, the op that computes the value stays dense.
    if (!isNew && entry->second != roles)
      entry->second.clear();
  }

  /// Returns whether `op` computes a value that is requested as rows (pairs of
  /// an expert and a token). If it does, adds `op` to the region (ops that are
  /// converted to rows), unless one of these holds:
  ///
  /// - The op cannot be converted, or its readers request different rows.
  /// - A reader is outside of the region.
  /// - The op is not on the stage `stage`.
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

  /// Ops of the region (ops that are converted to rows, pairs of an expert and
  /// a token), in reverse program order.
  SmallVector<RowOp> ops;
  /// The ops of the region (ops that are converted to rows) and the combine
  /// step (weighted sum of expert outputs). A value may become rows only if all
  /// its readers are in this set.
  llvm::DenseSet<Operation *> users;
  /// Values requested as rows (pairs of an expert and a token), with the roles
  /// (expert, token or feature) of their dims. If two readers request different
  /// roles, the list of roles is empty, and the value stays dense.
  llvm::DenseMap<Value, DimRoles> wanted;
  /// Number of values that are requested as rows (pairs of an expert and a
  /// token) and whose defining op has not been visited yet.
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
  /// result keeps the name and the sharding of `sum`.
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
