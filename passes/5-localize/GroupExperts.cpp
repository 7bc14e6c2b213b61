//===- GroupExperts.cpp - let experts compute the rows that chose them ----===//

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
/// The ops above a sum that can run on rows. Invariant: whatever reads the
/// result of one of them is another one, or the sum.
class ExpertRowRegion {
public:
  explicit ExpertRowRegion(const ExpertCombine &sum) {
    want(sum.op->getOperand(1), sum.outputs);
    users.insert(sum.op);
    for (Operation *op = sum.op->getPrevNode(); op && numWanted > 0;
         op = op->getPrevNode())
      if (visit(op, sum.op->getAttr(pipe::stageName)))
        --numWanted;
  }

  bool hasProduct() const {
    return llvm::any_of(
        ops, [](const RowOp &entry) { return entry.form->multiplies; });
  }

  /// Builds the rows of all results; returns those of `value`.
  Value build(Value value, const DimRoles &roles, ExpertRowBuilder &builder) {
    for (RowOp &entry : llvm::reverse(ops))
      builder.setRows(
          entry.op->getResult(0),
          entry.form->build(entry.op, entry.operands, entry.result, builder));
    return builder.rowsOf(value, roles);
  }

  /// Erases what only the sum, which is gone, has read.
  void erase() {
    for (RowOp &entry : ops)
      entry.op->erase();
  }

private:
  struct RowOp {
    Operation *op;
    const RowRewrite *form;
    SmallVector<DimRoles> operands;
    DimRoles result;
  };

  /// A value without tokens or experts is the same for many rows.
  void want(Value value, const DimRoles &roles) {
    if (!value.getDefiningOp() || !hasRole(roles, DimRole::Expert) ||
        !hasRole(roles, DimRole::Token))
      return;
    auto [entry, isNew] = wanted.insert({value, roles});
    numWanted += isNew;
    // Rows of it in two ways: it stays as it is.
    if (!isNew && entry->second != roles)
      entry->second.clear();
  }

  /// Whether `op` makes a value that is wanted.
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

  SmallVector<RowOp> ops; ///< from the last one of the block
  llvm::DenseSet<Operation *> users;
  llvm::DenseMap<Value, DimRoles> wanted;
  int64_t numWanted = 0; ///< whose op has not been visited
};

struct GroupExperts : pcc::localize::impl::GroupExpertsBase<GroupExperts> {
  void runOnOperation() override {
    for (auto op :
         llvm::make_early_inc_range(getOperation().getOps<graph::EinsumOp>()))
      if (auto sum = ExpertCombine::read(op))
        group(*sum);
    LDBG() << numGrouped.getValue() << " sums of experts are grouped";
  }

  void group(const ExpertCombine &sum) {
    ExpertRowRegion region(sum);
    if (!region.hasProduct())
      return;
    ExpertRowBuilder builder(sum);
    Value rows = region.build(sum.op->getOperand(1), sum.outputs, builder);
    Value result = builder.sumOf(rows);
    if (Attribute name = sum.op->getAttr("graph.name"))
      result.getDefiningOp()->setAttr("graph.name", name);
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
