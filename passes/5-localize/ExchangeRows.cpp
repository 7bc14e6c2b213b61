//===- ExchangeRows.cpp - let only the tokens travel that experts want ----===//
//
//   rank 0   gate [T, E/2] ─ group_rows ─┐            the same on rank 1
//   x [T/2, H] ─ all_gather ─ [T, H] ─ gather … sum ─ [T, H] ─ reduce_scatter
//                    ▲                                             ▲
//                    └─ rows: tokens with a gate that is not 0 ────┘
//
// Each rank knows the tokens that its experts want; an all-to-all of one byte
// per token tells the ranks that the tokens live on.
//
//===----------------------------------------------------------------------===//

#include "dialects/dist/Target.h"
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
/// The two sides of a collective that moves tokens, by the dims that count
/// them.
struct TokenCollective {
  SmallVector<int64_t> shape; ///< global
  dist::Sharding divided, whole;
  dist::SubAxes group; ///< over which they are divided, in mesh order
  /// All other axes that do not divide tokens: experts, and what they want,
  /// may differ along them.
  dist::SubAxes others;

  /// None where one token of `numRows` is not what all other dims hold, or
  /// nothing is divided.
  static std::optional<TokenCollective>
  read(dist::CollectiveOp op, int64_t numRows, const dist::Mesh &mesh);

  /// The masks of the rows are of the tokens and members, and of the parts of the other axes, a
  /// byte each: what each rank wants becomes what each rank is asked for.
  SmallVector<int64_t> maskShape() const;
  const plan::ReshardPlan &planMasks(plan::ReshardPlanner &planner) const;

  bool operator==(const TokenCollective &) const = default;
};
} // namespace

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

/// The value that `value` is another view of.
static Value unshaped(Value value) {
  while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
    value = reshape.getInput();
  return value;
}

/// Whether `value` is read, behind `token`, only to pick its rows.
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

/// The all_gathers that only bring the rows of `groups`.
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

/// The reduce_scatter of what the rows of `groups` are added up to; none where
/// something else reads the sums, or makes numbers of zeros.
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

static bool isSum(dist::CollectiveOp op) {
  return llvm::all_of(op.getFrom().getSharding().partials,
                      [](const dist::Partial &partial) {
                        return partial.kind == dist::ReductionKind::Sum;
                      });
}

namespace {
/// The operands `rows` of a collective.
struct SelectedRows {
  Value divided, whole;
};

struct ExchangeRows : pcc::localize::impl::ExchangeRowsBase<ExchangeRows> {
  void runOnOperation() override {
    auto module = getOperation()->getParentOfType<ModuleOp>();
    // Which rows travel, a host has to look at: a GPU's has given the step away
    // by then.
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

  /// Lets `op` move the rows of `groups` alone, unless it has no such rows or
  /// that could take more bytes.
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

  /// What `op` can receive at most: all tokens may choose experts of one rank,
  /// but a token comes back from no more ranks than it has chosen experts.
  static int64_t mostBytes(dist::CollectiveOp op, graph::GroupRowsOp groups,
                           const TokenCollective &sides) {
    const auto bytes = static_cast<int64_t>(op.getReceivedBytes());
    if (op.getKind() == dist::CollectiveKind::AllGather)
      return bytes;
    const int64_t others = dist::numParts(sides.group) - 1;
    const int64_t most = std::min<int64_t>(groups.getChosen(), others);
    return llvm::divideCeil(bytes * most, others);
  }

  /// Those of rows that lie as `sides` say; one exchange serves all of them.
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

  /// Of each token whether some expert of this rank wants it.
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

  /// Of each token of this rank which members want it.
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

  std::vector<std::pair<TokenCollective, SelectedRows>>
      masks; ///< of one `group_rows`
};
} // namespace
