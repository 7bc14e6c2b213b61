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
/// The region of ops before a combine step (weighted sum of expert outputs)
/// that can run on rows. A row is a pair of an expert and a token that chose
/// it. Invariant: each reader of an op of the region is in the region or is the
/// combine step.
class ExpertRowRegion {
public:
  /// Finds the ops that can run on rows (expert-token pairs). Walks backwards
  /// from `sum`, the weighted sum of expert outputs, within its pipeline stage.
  explicit ExpertRowRegion(const ExpertCombine &sum) {
    want(sum.op->getOperand(1), sum.outputs);
    users.insert(sum.op);
    for (Operation *op = sum.op->getPrevNode(); op && numWanted > 0;
         op = op->getPrevNode())
      if (visit(op, sum.op->getAttr(pipe::stageName)))
        --numWanted;
  }

  /// Returns whether some op that the constructor has found multiplies by the
  /// experts' matrices. Only such an op saves work on rows (expert-token
  /// pairs).
  bool hasProduct() const {
    return llvm::any_of(
        ops, [](const RowOp &entry) { return entry.form->multiplies; });
  }

  /// Builds an op on rows (expert-token pairs) for each op that the constructor
  /// has found. Returns the rows of `value`. `roles` tells which dims of
  /// `value` count experts, tokens or features.
  Value build(Value value, const DimRoles &roles, ExpertRowBuilder &builder) {
    for (RowOp &entry : llvm::reverse(ops))
      builder.setRows(
          entry.op->getResult(0),
          entry.form->build(entry.op, entry.operands, entry.result, builder));
    return builder.rowsOf(value, roles);
  }

  /// Erases the dense ops that build() has replaced by ops on rows. The combine
  /// step (weighted sum of expert outputs) reads them, so the caller must erase
  /// it first.
  void erase() {
    for (RowOp &entry : ops)
      entry.op->erase();
  }

private:
  /// An op to convert to rows: its conversion functions, and the roles (expert,
  /// token or feature) of its dims.
  struct RowOp {
    Operation *op;
    const RowRewrite *form;
    SmallVector<DimRoles> operands;
    DimRoles result;
  };

  /// Requests `value` as rows (expert-token pairs). A value without an expert
  /// or a token dim stays dense, because several rows share its elements.
  void want(Value value, const DimRoles &roles) {
    if (!value.getDefiningOp() || !hasRole(roles, DimRole::Expert) ||
        !hasRole(roles, DimRole::Token))
      return;
    auto [entry, isNew] = wanted.insert({value, roles});
    numWanted += isNew;
    // Empty roles mean that the value stays dense. This is necessary if two
    // readers request it with different roles (expert, token or feature) of its
    // dims.
    if (!isNew && entry->second != roles)
      entry->second.clear();
  }

  /// Returns whether some reader requests the result of `op` as rows
  /// (expert-token pairs). If so, adds `op` to the ops that run on rows, except
  /// in these cases:
  ///
  /// - `op` cannot be converted, or its readers request different rows.
  /// - Another reader of `op` does not run on rows.
  /// - `op` is not on the pipeline stage `stage`.
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

  /// Ops that will run on rows (expert-token pairs), in reverse program order.
  SmallVector<RowOp> ops;
  /// Ops that will run on rows (expert-token pairs), and the combine step
  /// (weighted sum of expert outputs). Only these may read a value that becomes
  /// rows.
  llvm::DenseSet<Operation *> users;
  /// Values that readers request as rows (expert-token pairs), each with the
  /// roles (expert, token or feature) of its dims. The roles are empty if two
  /// readers request different ones; the value then stays dense.
  llvm::DenseMap<Value, DimRoles> wanted;
  /// Number of values that readers request as rows (expert-token pairs), and
  /// whose ops the backward walk has not visited yet.
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

  /// Replaces `sum`, a weighted sum of expert outputs, and the ops before it by
  /// ops on rows (expert-token pairs). Does nothing if there is no product with
  /// the experts' matrices.
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
