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

  /// Builds a new op for each op that the constructor has found. The new op
  /// computes only rows. A row is a pair of an expert and a token that chose
  /// this expert. Example: 6 tokens choose 2 of 8 experts each. An old op has
  /// the result [8, 6, H], for all pairs of 8 experts and 6 tokens. The new op
  /// has the result [12, H], for the 12 rows.
  ///
  /// Returns the rows of `value`, a tensor that holds the outputs of all
  /// experts. `roles` has one role for each dim of `value`. A role says whether
  /// the dim counts experts, counts tokens or holds features. `builder` creates
  /// the new ops.
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
  /// An op that will be converted to rows. A row is a pair of an expert and a
  /// token that chose this expert. A converted op computes only the rows.
  ///
  /// - `op`: the op.
  /// - `form`: the functions that convert an op of this kind.
  /// - `operands`: the roles of the dims of each operand of `op`. A role says
  ///   whether a dim counts experts, counts tokens or holds features.
  /// - `result`: the roles of the dims of the result of `op`.
  struct RowOp {
    Operation *op;
    const RowRewrite *form;
    SmallVector<DimRoles> operands;
    DimRoles result;
  };

  /// Requests that the op that computes `value` is converted to rows. A row is
  /// a pair of an expert and a token that chose this expert. `roles` tells
  /// which dims of `value` count experts, count tokens or hold features. The
  /// request is ignored in these cases:
  ///
  /// - `value` lacks an expert dim or a token dim. For example, a value [6, H]
  ///   of 6 tokens has no expert dim. All experts read the same elements of it.
  /// - `value` is a function argument.
  void want(Value value, const DimRoles &roles) {
    if (!value.getDefiningOp() || !hasRole(roles, DimRole::Expert) ||
        !hasRole(roles, DimRole::Token))
      return;
    auto [entry, isNew] = wanted.insert({value, roles});
    numWanted += isNew;
    // A role says whether a dim counts experts, counts tokens or holds
    // features. Two ops that read `value` may require different roles for the
    // dims of `value`. For example, `value` has the shape [8, 8, H]. For one
    // op, dim 0 counts the experts. For the other op, dim 1 counts the experts.
    // Delete the roles of `value` in this case. The function visit() then
    // leaves the op that computes `value` unchanged.
    if (!isNew && entry->second != roles)
      entry->second.clear();
  }

  /// Returns whether `op` has one result and want() has requested it. If so,
  /// also adds `op` to `ops` and calls want() for its operands, if all of these
  /// hold:
  ///
  /// - All calls of want() gave the result the same dim roles.
  /// - Only ops in `ops` and the combine step read the result.
  /// - `op` is on the pipeline stage `stage`.
  /// - `op` can run on rows. A slice of 4 of 8 experts, for example, cannot.
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
  /// The combine step and all ops in the list `ops`. The combine step is the
  /// einsum that computes, for each token, the weighted sum of its experts'
  /// outputs. The ops in `ops` will be converted to rows. A row is a pair of an
  /// expert and a token that chose this expert. A converted op computes only
  /// the rows.
  ///
  /// The function visit() adds an op to `ops` only if `users` contains all ops
  /// that read its result. An op outside of `users` would need the result for
  /// all pairs of an expert and a token, not only for the rows.
  llvm::DenseSet<Operation *> users;
  /// Tensors that the function want() has requested. A request asks that the op
  /// that computes the tensor be converted to rows. A row is a pair of an
  /// expert and a token that chose this expert. A converted op computes only
  /// the rows.
  ///
  /// The map assigns to each tensor the roles of its dims. A role says whether
  /// a dim counts experts, counts tokens or holds features. The list of roles
  /// is empty if two requests gave different roles for the tensor.
  llvm::DenseMap<Value, DimRoles> wanted;
  /// Number of open requests. A request concerns one tensor. It asks that the
  /// op that computes the tensor be converted to rows. A row is a pair of an
  /// expert and a token that chose this expert. The function want() opens a
  /// request. The function visit() accepts or rejects the request for the
  /// result of one op. In both cases, visit() returns true, and the request is
  /// no longer open.
  ///
  /// The constructor calls visit() for the ops before the combine step, in
  /// reverse program order. The combine step is the einsum that computes, for
  /// each token, the weighted sum of its experts' outputs. The constructor
  /// stops as soon as no request is open.
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

  /// Replaces `sum` and the ops before it that compute the outputs of the
  /// experts. `sum` is an einsum that computes, for each token, the weighted
  /// sum of its experts' outputs. The new ops compute only rows. A row is a
  /// pair of an expert and a token that chose this expert. Example: 6 tokens
  /// choose 2 of 8 experts each. The old ops compute 48 outputs, one for each
  /// pair of an expert and a token. The new ops compute 12 outputs, one for
  /// each row.
  ///
  /// Does nothing if none of these ops is a matmul or an einsum that multiplies
  /// tokens by the matrices of the experts.
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
