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
/// A set of ops that compute the outputs of experts and can run on rows. A row
/// is a pair of an expert and a token that chose this expert. The last of these
/// ops feeds the combine step. The combine step is an einsum that computes, for
/// each token, the weighted sum of its experts' outputs. Invariant: each result
/// of the set is read only by ops of the set and by the combine step.
class ExpertRowRegion {
public:
  /// Finds the ops that can run on rows. A row is a pair of an expert and a
  /// token that chose this expert. `sum` is the combine step: an einsum that
  /// computes, for each token, the weighted sum of its experts' outputs. The
  /// constructor starts with the op that computes these outputs. For each op
  /// that the constructor has found, it continues with the ops that compute the
  /// operands. All found ops have the same pipeline stage as the combine step.
  explicit ExpertRowRegion(const ExpertCombine &sum) {
    want(sum.op->getOperand(1), sum.outputs);
    users.insert(sum.op);
    for (Operation *op = sum.op->getPrevNode(); op && numWanted > 0;
         op = op->getPrevNode())
      if (visit(op, sum.op->getAttr(pipe::stageName)))
        --numWanted;
  }

  /// Returns whether at least one of the ops that the constructor has found
  /// multiplies tokens by the matrices of experts, as a matmul does. If no op
  /// does this, the caller leaves all ops unchanged.
  bool hasProduct() const {
    return llvm::any_of(
        ops, [](const RowOp &entry) { return entry.form->multiplies; });
  }

  /// Builds ops that compute only the chosen (token, expert) pairs, for all ops
  /// in `ops`. Returns the elements of `value`, the outputs of all experts, for
  /// these pairs. `roles` tells which dims of `value` count experts, count
  /// tokens or hold features.
  Value build(Value value, const DimRoles &roles, ExpertRowBuilder &builder) {
    for (RowOp &entry : llvm::reverse(ops))
      builder.setRows(
          entry.op->getResult(0),
          entry.form->build(entry.op, entry.operands, entry.result, builder));
    return builder.rowsOf(value, roles);
  }

  /// Erases the ops that the constructor has found. The function build() has
  /// created new ops for them. The caller must erase the combine step before it
  /// calls erase(), because the combine step reads the result of an erased op.
  /// The combine step is the einsum that computes, for each token, the weighted
  /// sum of its experts' outputs.
  void erase() {
    for (RowOp &entry : ops)
      entry.op->erase();
  }

private:
  /// An op to convert, the functions that convert it (`form`), and the kinds
  /// (expert, token, feature) of the dims of its operands and its result.
  struct RowOp {
    Operation *op;
    const RowRewrite *form;
    SmallVector<DimRoles> operands;
    DimRoles result;
  };

  /// Marks the op that computes `value` for conversion to the chosen (token,
  /// expert) pairs. Ignores a function argument, and a `value` without an
  /// expert dim or a token dim.
  void want(Value value, const DimRoles &roles) {
    if (!value.getDefiningOp() || !hasRole(roles, DimRole::Expert) ||
        !hasRole(roles, DimRole::Token))
      return;
    auto [entry, isNew] = wanted.insert({value, roles});
    numWanted += isNew;
    // Two ops that read `value` may need different kinds (expert, token,
    // feature) for its dims. For example, in a `value` [8, 8, H], dim 0 counts
    // the experts for one op, and dim 1 for the other. Clear the kinds of
    // `value` in this case. visit() then leaves the op that computes `value`
    // unchanged.
    if (!isNew && entry->second != roles)
      entry->second.clear();
  }

  /// Returns whether `op` has one result and want() has marked this result. In
  /// this case, also adds `op` to `ops`, and marks the operands of `op` by
  /// want(). Three kinds of ops are not added: an op on another pipeline stage
  /// than `stage`, an op with readers outside of `users`, and an op without a
  /// function that converts it.
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

  /// Ops that will be converted to rows, in reverse program order. A row is a
  /// pair of an expert and a token that chose this expert. A converted op
  /// computes only the rows, instead of all pairs of an expert and a token.
  SmallVector<RowOp> ops;
  /// Combine step and all ops in `ops`. visit() adds an op to `ops` only if
  /// `users` has all its readers, because any other reader needs all (token,
  /// expert) pairs.
  llvm::DenseSet<Operation *> users;
  /// Tensors that want() has marked, with the kinds (expert, token, feature) of
  /// their dims. The list of kinds is empty if two ops need different kinds.
  llvm::DenseMap<Value, DimRoles> wanted;
  /// Number of tensors that want() has marked, but whose ops visit() has not
  /// yet visited.
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

  /// Replaces the combine step `sum` and the ops that compute the experts'
  /// outputs by ops on chosen (token, expert) pairs. Does nothing if no op
  /// multiplies tokens by the matrices of the experts.
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
