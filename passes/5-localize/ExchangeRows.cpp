//===- ExchangeRows.cpp - expert dispatch and combine of chosen tokens ----===//
//
// With expert parallelism, each rank computes the rows of its own experts, for
// the tokens of all ranks of its group. An all_gather dispatches the tokens,
// and a reduce_scatter combines the results:
//
//   rank 0   gate [T, E/2] ─ group_rows ─┐            the same on rank 1
//   x [T/2, H] ─ all_gather ─ [T, H] ─ gather … sum ─ [T, H] ─ reduce_scatter
//                    ▲                                             ▲
//                    └─ rows: tokens with a gate that is not 0 ────┘
//
// This pass restricts both collectives to the tokens that count, by two masks.
// Each rank computes which tokens its experts need. An all-to-all of one byte
// per token and rank tells the owners of the tokens, so that both ends of each
// transfer know its size.
//
//===----------------------------------------------------------------------===//

#include "dialects/dist/DistDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/5-localize/CollectiveSteps.h"
#include "passes/5-localize/LocalBuilder.h"
#include "passes/5-localize/Passes.h"
#include "passes/plan/reshard/ClusterPrices.h"
#include "passes/plan/reshard/ReshardMove.h"

namespace pcc::localize {
#define GEN_PASS_DEF_EXCHANGEROWS
#include "passes/5-localize/Passes.h.inc"
} // namespace pcc::localize

using namespace mlir;
using namespace pcc;
using namespace pcc::localize;

namespace {
/// A collective that moves tokens to or from experts. Its operand and its
/// result are its two sides:
///
///   side      each rank of a group has   all_gather   reduce_scatter
///   divided   some of the tokens         operand      result
///   whole     all of the tokens          result       operand
struct TokenCollective {
  /// Global sizes of the dims that count tokens. They are the leading dims of
  /// the tensor that the collective moves.
  SmallVector<int64_t> shape;
  /// Shardings of the token dims: `divided` where each rank has some of the
  /// tokens, `whole` where each rank has all of them.
  dist::Sharding divided, whole;
  /// Axes of the ranks that communicate, in mesh order: axes that split the
  /// tokens in `divided` but not in `whole`.
  dist::SubAxes group;
  /// Mesh axes along which ranks have equal tokens before an all_gather or
  /// after a reduce_scatter. The experts of these ranks may differ.
  dist::SubAxes others;

  /// Reads `op` as a collective that moves `numRows` tokens. Returns nullopt in
  /// these cases:
  ///
  /// - The leading dims of the tensor with all tokens do not multiply to
  ///   `numRows`. For example, [4, 6, H] fits 24 tokens, but not 12.
  /// - `op` changes the sharding of no token dim, or of a dim that is no token
  ///   dim.
  /// - `op` reads through a view (halo exchange), or has masks already.
  /// - `op` reduces over other axes than those that split the tokens.
  static std::optional<TokenCollective>
  read(dist::CollectiveOp op, int64_t numRows, const dist::Mesh &mesh);

  /// Returns the global shape of a mask that tells which ranks need which
  /// tokens: [tokens…, ranks along the axes `group`, ranks along the axes
  /// `others`].
  SmallVector<int64_t> maskShape() const;
  /// Returns the plan of an all-to-all. In it, the ranks of a group tell each
  /// other which tokens they need:
  ///
  ///   before   for each token of the group: does this rank need it?
  ///   after    for each token of this rank: which ranks of the group need it?
  const plan::ReshardPlan &planMasks(plan::ReshardPlanner &planner) const;

  bool operator==(const TokenCollective &) const = default;
};
} // namespace

/// Returns the axes over which `from` is partial (still to be reduced) and `to`
/// is not, in mesh order.
static dist::SubAxes reducedOver(const dist::Sharding &from,
                                 const dist::Sharding &to,
                                 const dist::Mesh &mesh) {
  auto axes = plan::subtract(dist::partialAxes(from), dist::partialAxes(to));
  return plan::inMeshOrder(axes.value_or(dist::SubAxes()), mesh);
}

std::optional<TokenCollective> TokenCollective::read(dist::CollectiveOp op,
                                                     int64_t numRows,
                                                     const dist::Mesh &mesh) {
  const bool gathers = op.getKind() == dist::CollectiveKind::AllGather;
  const dist::Sharding from = dist::placement(op.getFrom().getSharding()),
                       to = dist::placement(op.getTo().getSharding());
  const dist::Sharding &divided = gathers ? from : to,
                       &whole = gathers ? to : from;
  auto wholeType = graph::tensorType(gathers ? op.getResult() : op.getInput());
  if (dist::hasView(from) || dist::hasView(to) || !op.getRows().empty())
    return {};
  TokenCollective sides;
  size_t dim = 0;
  for (int64_t rows = 1; rows < numRows; ++dim) {
    if (dim == from.rank())
      return {};
    rows *= wholeType.getDimSize(dim);
    auto group =
        plan::subtract(divided.dims[dim].axes(), whole.dims[dim].axes());
    if (!group || (rows >= numRows && rows != numRows))
      return {};
    llvm::append_range(sides.group, *group);
    sides.shape.push_back(op.getShape()[dim]);
    sides.divided.dims.push_back(divided.dims[dim]);
    sides.whole.dims.push_back(whole.dims[dim]);
  }
  for (; dim < from.rank(); ++dim)
    if (from.dims[dim] != to.dims[dim])
      return {};
  sides.group = plan::inMeshOrder(sides.group, mesh);
  if (!gathers && sides.group != reducedOver(from, to, mesh))
    return {};
  dist::SubAxes all;
  for (const dist::Axis &axis : mesh.spatial().axes)
    all.push_back(dist::fullAxis(mesh, axis.name));
  auto others = plan::subtract(all, dist::splitAxes(sides.divided));
  if (!others)
    return {};
  sides.others = plan::inMeshOrder(*others, mesh);
  return sides.group.empty() ? std::nullopt : std::optional(sides);
}

SmallVector<int64_t> TokenCollective::maskShape() const {
  SmallVector<int64_t> all(shape);
  all.push_back(dist::numParts(group));
  all.push_back(dist::numParts(others));
  return all;
}

const plan::ReshardPlan &
TokenCollective::planMasks(plan::ReshardPlanner &planner) const {
  dist::Sharding from = whole, to = divided;
  from.dims.push_back(dist::splitOver(dist::numParts(group), group));
  to.dims.emplace_back();
  for (dist::Sharding *side : {&from, &to})
    side->dims.push_back(dist::splitOver(dist::numParts(others), others));
  return planner.plan(from, to, dist::shapeOf(maskShape()), /*elementBytes=*/1);
}

/// Follows reshapes backwards from `value`. Returns the value before them.
static Value unshaped(Value value) {
  while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
    value = reshape.getInput();
  return value;
}

/// Returns whether each reader of `value` is a gather that picks rows of
/// `value` by the indices `token`. Reshapes may lie in between. All these ops
/// must come after the op that computes `token`.
static bool givesOnlyRows(Value value, Value token) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    if (use.getOwner()->isBeforeInBlock(token.getDefiningOp()))
      return false;
    if (auto reshape = dyn_cast<graph::ReshapeOp>(use.getOwner()))
      return givesOnlyRows(reshape.getResult(), token);
    auto gather = dyn_cast<graph::GatherOp>(use.getOwner());
    return gather && use.getOperandNumber() == 0 && gather.getDim() == 0 &&
           gather.getIndices() == token;
  });
}

/// Returns the all_gathers that send tokens to their experts. All readers of
/// such an all_gather pick rows of it by the token indices of `groups`.
static SmallVector<dist::CollectiveOp> findGathers(graph::GroupRowsOp groups) {
  SmallVector<dist::CollectiveOp> found;
  for (Operation *user : groups.getToken().getUsers()) {
    auto gather = dyn_cast<graph::GatherOp>(user);
    if (!gather)
      continue;
    auto op = unshaped(gather.getData()).getDefiningOp<dist::CollectiveOp>();
    if (op && op.getKind() == dist::CollectiveKind::AllGather &&
        !llvm::is_contained(found, op) &&
        givesOnlyRows(op.getResult(), groups.getToken()))
      found.push_back(op);
  }
  return found;
}

/// Returns the reduce_scatter that combines the outputs of the experts; null if
/// there is none. It ends a chain of ops in which each value has one reader:
///
///   scatter_nd into zeros ── reshapes and casts ── reduce_scatter
///
/// The scatter_nd adds the outputs at the token indices of `groups`.
static dist::CollectiveOp findScatter(graph::GroupRowsOp groups) {
  for (Operation *user : groups.getToken().getUsers()) {
    auto index = dyn_cast<graph::ReshapeOp>(user);
    if (!index)
      continue;
    for (Operation *next : index->getUsers()) {
      auto scatter = dyn_cast<graph::ScatterNdOp>(next);
      if (!scatter || scatter.getIndices() != index.getResult() ||
          !isZero(scatter.getData()))
        continue;
      Operation *op = scatter;
      while (op->hasOneUse()) {
        op = *op->user_begin();
        auto collective = dyn_cast<dist::CollectiveOp>(op);
        if (collective &&
            collective.getKind() == dist::CollectiveKind::ReduceScatter)
          return collective;
        if (!isa<graph::ReshapeOp, graph::CastOp>(op))
          break;
      }
    }
  }
  return {};
}

/// Returns whether all reductions of `op` are sums. Only in a sum may a rank
/// leave out a token, which counts as 0.
static bool isSum(dist::CollectiveOp op) {
  return llvm::all_of(op.getFrom().getSharding().partials,
                      [](const dist::Partial &partial) {
                        return partial.kind == dist::ReductionKind::Sum;
                      });
}

namespace {
/// Two masks of the tokens that a collective moves between the ranks of a
/// group. One covers the tokens of this rank, the other the tokens of all these
/// ranks.
struct SelectedRows {
  /// `divided`: for each token of this rank and each rank of the group, whether
  /// that rank needs the token. `whole`: for each token of all ranks of the
  /// group, whether this rank needs the token.
  Value divided, whole;
};

struct ExchangeRows : pcc::localize::impl::ExchangeRowsBase<ExchangeRows> {
  void runOnOperation() override {
    auto module = getOperation()->getParentOfType<ModuleOp>();
    // The masks determine how much is sent, so the host must read them during
    // the step. For a GPU the host queues the whole step in advance and cannot
    // read them.
    if (dist::targetOf(module) == "cuda")
      return;
    const dist::Mesh mesh = dist::meshOf(module);
    plan::ReshardPlanner planner(
        mesh,
        plan::pricesOf(dist::clusterOf(module), dist::targetOf(module), mesh));
    for (auto groups : getOperation().getOps<graph::GroupRowsOp>()) {
      dist::CollectiveOp scatter = findScatter(groups);
      masks.clear();
      if (!scatter || !isSum(scatter) || !narrow(scatter, groups, planner))
        continue;
      for (dist::CollectiveOp gather : findGathers(groups))
        narrow(gather, groups, planner);
    }
  }

  /// Adds masks to `op`, so that it moves only tokens that an expert needs.
  /// Changes nothing and returns false in these cases:
  ///
  /// - `op` does not move the tokens of `groups`.
  /// - The masks cannot be exchanged.
  /// - `op` is a reduce_scatter and might receive as many bytes as without
  ///   masks.
  bool narrow(dist::CollectiveOp op, graph::GroupRowsOp groups,
              plan::ReshardPlanner &planner) {
    const int64_t numRows = graph::tensorType(groups.getGate()).getDimSize(0);
    auto sides = TokenCollective::read(op, numRows, planner.mesh());
    if (!sides)
      return false;
    const plan::ReshardPlan &asking = sides->planMasks(planner);
    const int64_t bytes = mostBytes(op, groups, *sides);
    if (!asking.possible() ||
        (op.getKind() == dist::CollectiveKind::ReduceScatter &&
         bytes + asking.receivedBytes >=
             static_cast<int64_t>(op.getReceivedBytes())))
      return false;
    const SelectedRows &known = masksOf(groups, *sides, asking, op);
    if (op->isBeforeInBlock(groups))
      op->moveAfter(known.divided.getDefiningOp());
    op.getRowsMutable().assign({known.divided, known.whole});
    op.setReceivedBytes(bytes);
    ++numExchanges;
    return true;
  }

  /// Returns the most bytes that a rank may receive in `op` if masks select the
  /// tokens to send.
  ///
  /// - all_gather: the bytes without masks, because all tokens may choose
  ///   experts of one rank.
  /// - reduce_scatter: the bytes of one sum per token and chosen expert. With 4
  ///   other ranks and 2 chosen experts, this is half of the bytes without
  ///   masks.
  static int64_t mostBytes(dist::CollectiveOp op, graph::GroupRowsOp groups,
                           const TokenCollective &sides) {
    const auto bytes = static_cast<int64_t>(op.getReceivedBytes());
    if (op.getKind() == dist::CollectiveKind::AllGather)
      return bytes;
    const int64_t others = dist::numParts(sides.group) - 1;
    const int64_t most = std::min<int64_t>(groups.getChosen(), others);
    return llvm::divideCeil(bytes * most, others);
  }

  /// Returns the masks that select the tokens of `op`. `sides` describes how
  /// ranks split the tokens. The first call for equal `sides` builds the masks,
  /// and later calls return them again.
  const SelectedRows &masksOf(graph::GroupRowsOp groups,
                              const TokenCollective &sides,
                              const plan::ReshardPlan &asking,
                              dist::CollectiveOp op) {
    for (const auto &[other, known] : masks)
      if (other == sides)
        return known;
    LocalBuilder builder(groups->getNextNode());
    SelectedRows made;
    made.whole = wantedRows(groups, sides, builder);
    made.divided = askOwners(made.whole, sides, asking, op, builder);
    return masks.emplace_back(sides, made).second;
  }

  /// Builds the mask of the tokens that this rank needs: tokens with a gate
  /// other than 0 for some expert of this rank.
  static Value wantedRows(graph::GroupRowsOp groups,
                          const TokenCollective &sides, LocalBuilder &builder) {
    Value gate = groups.getGate();
    auto type = graph::tensorType(gate);
    Value zero = builder.scalar(type.getElementType(), 0);
    Value isZero = builder.compare(graph::Predicate::Equal, gate, zero);
    Value zeros = builder.make<graph::ReduceOp>(
        graph::ReduceKind::Sum, builder.cast(isZero, builder.getF32Type()),
        builder.getDenseI64ArrayAttr({1}), /*keep=*/false, IntegerAttr());
    Value all = builder.scalar(builder.getF32Type(),
                               static_cast<double>(type.getDimSize(1)));
    Value wants = builder.compare(graph::Predicate::Less, zeros, all);
    return builder.reshape(
        wants, dist::localShape(sides.whole, dist::shapeOf(sides.shape)));
  }

  /// Builds collectives in which the ranks of a group tell each other which
  /// tokens they need. `wanted` marks the tokens that this rank needs. Element
  /// [token, r] of the result is not 0 if rank r needs the token, one of this
  /// rank's tokens.
  static Value askOwners(Value wanted, const TokenCollective &sides,
                         const plan::ReshardPlan &asking, dist::CollectiveOp op,
                         LocalBuilder &builder) {
    SmallVector<int64_t> local(graph::tensorType(wanted).getShape());
    local.append(2, 1);
    Value value = builder.reshape(wanted, local);
    for (const plan::ReshardStep &step : asking.steps)
      value = makeCollective(builder, op.getLoc(), value, step,
                             sides.maskShape(), (op.getValue() + " rows").str(),
                             op->getAttr(pipe::stageName));
    return builder.reshape(value,
                           graph::tensorType(value).getShape().drop_back());
  }

  /// Masks of tokens to send, for the current `graph.group_rows`. Collectives
  /// that split their tokens in the same way share one entry.
  std::vector<std::pair<TokenCollective, SelectedRows>> masks;
};
} // namespace
