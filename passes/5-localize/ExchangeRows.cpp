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
/// Tokens that a collective moves within a group of ranks: an all_gather
/// (dispatch to experts) or a reduce_scatter (combine of their outputs).
struct TokenCollective {
  /// Global sizes of the dims that count tokens. They are the leading dims of
  /// the tensor that the collective moves.
  SmallVector<int64_t> shape;
  /// Shardings of the token dims on the two sides of the collective. Under
  /// `divided`, each rank holds some tokens of its group. Under `whole`, each
  /// rank holds all tokens of its group. An all_gather has an operand with the
  /// sharding `divided` and a result with the sharding `whole`; a
  /// reduce_scatter has them the other way round.
  dist::Sharding divided, whole;
  /// Mesh axes that split the tokens on one side of the collective, but not on
  /// the other side. The two sides are the operand and the result. The axes are
  /// in mesh order. Example: the mesh is dp=4 × tp=2, and the collective
  /// gathers tokens that dp splits. Then `group` is dp. The collective runs
  /// among 4 ranks that differ only in dp.
  dist::SubAxes group;
  /// Mesh axes that split the tokens neither in the operand nor in the result.
  /// Example: the mesh is dp=4 × tp=2, and an all_gather along dp gathers the
  /// tokens. Then `group` is dp and `others` is tp. Before the all_gather, two
  /// ranks that differ only in tp hold equal tokens. After it, they may need
  /// different tokens, because they may hold different experts.
  dist::SubAxes others;

  /// Describes how `op`, an all_gather or a reduce_scatter, moves `numRows`
  /// tokens. Returns nullopt if masks cannot restrict `op`, for example because
  /// it has masks already or changes the sharding of a dim that does not count
  /// tokens.
  static std::optional<TokenCollective>
  read(dist::CollectiveOp op, int64_t numRows, const dist::Mesh &mesh);

  /// Returns the global shape of the Boolean mask that tells which rank needs
  /// which token: the token dims, then the number of ranks along the axes
  /// `group`, then the number of ranks along the axes `others`. Example: [8, 4,
  /// 2] for 8 tokens, the `group` dp=4 and the `others` tp=2.
  SmallVector<int64_t> maskShape() const;
  /// Plans the exchange of the masks, usually one all-to-all. In the operand,
  /// each rank has one Boolean per token of the group: whether this rank needs
  /// the token. In the result, each rank has the Booleans of all ranks of the
  /// group for its own tokens.
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

/// Returns the tensor from which `value` is reshaped. For example, if `value`
/// is reshape(reshape(x)), the function returns x. If `value` is not the result
/// of a reshape, the function returns `value`.
static Value unshaped(Value value) {
  while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
    value = reshape.getInput();
  return value;
}

/// Returns whether all readers of `value` are gathers along dim 0 with the
/// indices `token`, possibly after reshapes. All of them must come after the op
/// that computes `token`.
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

/// Returns each all_gather that dispatches tokens to the experts. All readers
/// of its result must be gathers of the tokens that `groups` selects, possibly
/// after reshapes. These gathers must come after `groups`.
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

/// Returns the reduce_scatter that sums the experts' outputs over ranks, or
/// null. Its operand must come from a scatter_nd into zeros at the tokens that
/// `groups` selects. Only reshapes and casts with one reader may be in between.
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

/// Returns whether `op`, a reduce_scatter, reduces only by sums. The pass adds
/// masks only in this case. With masks, a rank does not send its addend for a
/// token if the token chose no expert of the rank. This addend is 0. A sum
/// stays the same without an addend of 0. A maximum may change without the 0:
/// the maximum of -3 and 0 is 0, but the maximum of -3 alone is -3.
static bool isSum(dist::CollectiveOp op) {
  return llvm::all_of(op.getFrom().getSharding().partials,
                      [](const dist::Partial &partial) {
                        return partial.kind == dist::ReductionKind::Sum;
                      });
}

namespace {
/// Boolean masks of a collective that moves tokens between the ranks of a
/// group. They tell which rank needs which token.
struct SelectedRows {
  /// In `divided`, element [t, r] tells whether rank r of the group needs token
  /// t of this rank. In `whole`, element t tells whether this rank needs token
  /// t of the group.
  Value divided, whole;
};

struct ExchangeRows : pcc::localize::impl::ExchangeRowsBase<ExchangeRows> {
  void runOnOperation() override {
    auto module = getOperation()->getParentOfType<ModuleOp>();
    // This pass adds masks to collectives. A mask says which rank needs which
    // token. The program computes the masks while it runs. The masks determine
    // how many bytes a collective sends, so the CPU must read the masks before
    // it starts the collective. If the target is a GPU, the CPU starts all ops
    // in advance, before the GPU has computed the masks. Add no masks in this
    // case.
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

  /// Adds two masks to `op`, so that a token moves only to ranks that have an
  /// expert that the token chose. `groups` lists the chosen (token, expert)
  /// pairs, and `planner` plans the exchange of the masks. Returns false and
  /// changes nothing in three cases:
  ///
  /// - TokenCollective::read() does not support `op`.
  /// - The masks cannot be exchanged.
  /// - `op` is a reduce_scatter, and it is not certain that the masks reduce
  ///   the number of received bytes. The exchange of the masks counts, too.
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

  /// Returns an upper bound for the bytes that a rank receives in `op` if `op`
  /// has masks. In a reduce_scatter, a rank receives at most one partial sum
  /// for each of its tokens and each expert that the token chose. In an
  /// all_gather, a rank may still receive all tokens, because all of them may
  /// choose its experts.
  static int64_t mostBytes(dist::CollectiveOp op, graph::GroupRowsOp groups,
                           const TokenCollective &sides) {
    const auto bytes = static_cast<int64_t>(op.getReceivedBytes());
    if (op.getKind() == dist::CollectiveKind::AllGather)
      return bytes;
    const int64_t others = dist::numParts(sides.group) - 1;
    const int64_t most = std::min<int64_t>(groups.getChosen(), others);
    return llvm::divideCeil(bytes * most, others);
  }

  /// Returns the masks for the collective `op`. `sides` has the shardings of
  /// the tokens before and after `op`. If an earlier collective had equal
  /// `sides`, returns the masks of that collective. Otherwise builds new masks.
  /// `asking` is the plan of the collectives that exchange the masks.
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

  /// Builds a mask of Booleans, one per token of the group. An element is true
  /// if the token chose at least one expert of this rank: the token's gate for
  /// the expert is then not 0. The shape of the mask is the local shape of the
  /// token dims under `sides.whole`.
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

  /// Builds the collectives, usually one all-to-all, in which ranks tell each
  /// other which tokens they need. Example: a group of 4 ranks has 8 tokens, 2
  /// on each rank. `wanted` has 8 booleans: whether this rank needs token t.
  /// The result has the shape [2, 4]: whether rank r of the group needs token t
  /// of this rank. `asking` is the plan of the collectives. The new ops get the
  /// location and the pipeline stage of `op`.
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

  /// Masks built for the current `graph.group_rows`. Equal collectives share
  /// masks.
  std::vector<std::pair<TokenCollective, SelectedRows>> masks;
};
} // namespace
