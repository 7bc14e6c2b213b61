//===- InsertReshards.cpp - insertion of reshards -------------------------===//

#include "dialects/dist/Target.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/Builders.h"
#include "passes/4-shard/Passes.h"
#include "passes/4-shard/graph/Pricing.h"
#include "passes/4-shard/graph/ShardedOpAttrs.h"
#include "passes/4-shard/search/Provenance.h"
#include "passes/4-shard/search/ShardingRemarks.h"
#include "passes/plan/reshard/ClusterPrices.h"
#include "passes/plan/search/ReshardOrder.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/DebugLog.h"

#include <algorithm>

#define DEBUG_TYPE "insert-reshards"

namespace pcc::shard {
#define GEN_PASS_DEF_INSERTRESHARDS
#include "passes/4-shard/Passes.h.inc"
} // namespace pcc::shard

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Returns the sharding that both `a` and `b` are slices of: per factor, the
/// axes with which both begin. A dim that is whole in one of them is whole.
/// Returns nothing if that is `a` or `b` itself, or if they differ in more than
/// axes: in factors, partial sums or views.
///
///   [8@dp+tp, -] and [8@dp+cp, -]:   [8@dp, -]
static std::optional<dist::Sharding> commonSource(const dist::Sharding &a,
                                                  const dist::Sharding &b) {
  if (dist::isPartial(a) || dist::isPartial(b) || dist::hasView(a) ||
      dist::hasView(b))
    return std::nullopt;
  dist::Sharding common = a;
  for (auto [dim, other] : llvm::zip_equal(common.dims, b.dims)) {
    if (dim.isWhole() || other.isWhole()) {
      dim = {};
      continue;
    }
    if (dim.factors.size() != other.factors.size())
      return std::nullopt;
    for (auto [factor, as] : llvm::zip_equal(dim.factors, other.factors)) {
      if (factor.size != as.size)
        return std::nullopt;
      auto end = std::mismatch(factor.axes.begin(), factor.axes.end(),
                               as.axes.begin(), as.axes.end())
                     .first;
      factor.axes.erase(end, factor.axes.end());
    }
  }
  common = dist::canonical(common);
  if (dist::samePlacement(common, a) || dist::samePlacement(common, b))
    return std::nullopt;
  return common;
}

namespace {
/// Inserts reshards in front of the first use, one per value, stage and
/// sharding. If a value is needed in several shardings, a reshard may start
/// from the result of another one, since a slice of a gathered value costs
/// nothing. It may also start from a sharding that no use needs but several
/// needed ones are slices of.
class ReshardInserter {
public:
  ReshardInserter(func::FuncOp function, const dist::Mesh &mesh,
                  plan::Prices prices)
      : function(function), planner(mesh, std::move(prices)) {}

  /// Inserts all reshards of the function. Returns their number.
  unsigned run() {
    for (Operation &op : function.front().without_terminator())
      if (auto recorded = readShardedOp(&op))
        for (OpOperand &operand : op.getOpOperands())
          require(operand,
                  recorded->operandSharding(operand.getOperandNumber()));
    for (OpOperand &operand : function.front().getTerminator()->getOpOperands())
      if (auto wanted = function.getResultAttrOfType<dist::ShardingAttr>(
              operand.getOperandNumber(), dist::shardingName))
        require(operand, wanted.getSharding());
    for (auto &[source, needs] : allNeeds)
      insert(source.first, source.second, needs);
    return numInserted;
  }

private:
  /// A sharding in which uses need a value, and these uses. A sharding without
  /// uses is only a source for others.
  struct Need {
    dist::ShardingAttr to;
    SmallVector<OpOperand *, 2> uses;
  };

  /// Records that `operand` must have the sharding `wanted`, if it has another.
  void require(OpOperand &operand, const dist::Sharding &wanted) {
    dist::ShardingAttr from = dist::shardingOf(operand.get());
    if (!from || dist::samePlacement(from.getSharding(), wanted))
      return;
    auto to = dist::ShardingAttr::get(function.getContext(), wanted);
    SmallVector<Need> &needs = allNeeds[{operand.get(), stageOfUse(operand)}];
    auto it = llvm::find_if(needs, [&](Need &need) { return need.to == to; });
    if (it == needs.end()) {
      needs.push_back({to, {}});
      it = std::prev(needs.end());
    }
    it->uses.push_back(&operand);
  }

  /// Inserts the reshards for all needs of a value on one stage, in front of
  /// the first use, in the cheapest order.
  void insert(Value value, Attribute stage, SmallVector<Need> &needs) {
    OpBuilder builder(needs.front().uses.front()->getOwner());
    plan::ReshardOrder order = cheapestReshardOrder(value, needs);
    for (const dist::Sharding &source : commonSources(needs)) {
      SmallVector<Need> more = needs;
      more.push_back(
          {dist::ShardingAttr::get(function.getContext(), source), {}});
      if (plan::ReshardOrder longer = cheapestReshardOrder(value, more);
          longer.cost < order.cost) {
        order = std::move(longer);
        needs = more;
      }
    }
    SmallVector<Value> made{value};
    for (auto [need, source] : order.steps) {
      Value reshard = makeReshard(builder, made[source], needs[need].to, stage,
                                  reasonFor(value, needs[need], needs));
      for (OpOperand *use : needs[need].uses)
        use->set(reshard);
      made.push_back(reshard);
    }
  }

  /// Returns the shardings that are common sources of two needs.
  static std::vector<dist::Sharding> commonSources(ArrayRef<Need> needs) {
    std::vector<dist::Sharding> sources;
    for (size_t i = 0; i < needs.size() && needs.size() <= mostOrdered; ++i)
      for (size_t j = i + 1; j < needs.size(); ++j)
        if (auto common = commonSource(needs[i].to.getSharding(),
                                       needs[j].to.getSharding());
            common && !llvm::is_contained(sources, *common))
          sources.push_back(*common);
    return sources;
  }

  /// Maximum number of needs of a value whose cheapest order is searched. More
  /// needs are met in the order of uses.
  static constexpr size_t mostOrdered = 5;

  /// Returns the cheapest order in which `needs` can be made from `value` and
  /// from each other.
  plan::ReshardOrder cheapestReshardOrder(Value value, ArrayRef<Need> needs) {
    SmallVector<dist::ShardingAttr> forms{dist::shardingOf(value)};
    for (const Need &need : needs)
      forms.push_back(need.to);
    std::vector<std::vector<plan::Cost>> reform(forms.size());
    for (size_t from = 0; from < forms.size(); ++from)
      for (const Need &need : needs)
        reform[from].push_back(priceOf(planner, graph::tensorType(value),
                                       forms[from].getSharding(),
                                       need.to.getSharding()));
    return plan::cheapestReshardOrder(reform, mostOrdered);
  }

  /// Returns the location that names the uses for which a reshard is inserted.
  /// A reshard without uses of its own is made for the uses of all needs.
  static Location reasonFor(Value value, const Need &need,
                            ArrayRef<Need> needs) {
    SmallVector<dist::Endpoint> places;
    for (const Need &other : need.uses.empty() ? needs : ArrayRef(need))
      for (OpOperand *use : other.uses)
        places.push_back(endpointOf(*use));
    return reshardLocation(value, places);
  }

  /// Inserts one reshard of `source` to `to` on `stage`.
  Value makeReshard(OpBuilder &builder, Value source, dist::ShardingAttr to,
                    Attribute stage, Location reason) {
    dist::ShardingAttr from = dist::shardingOf(source);
    auto reshard =
        dist::ReshardOp::create(builder, reason, source.getType(), source, from,
                                to, DenseI64ArrayAttr());
    dist::setSharding(reshard, to.getSharding());
    reshard->setAttr(pipe::stageName, stage);
    LDBG() << "reshard " << from << " to " << to;
    ++numInserted;
    return reshard;
  }

  /// Returns the stage on which a value is resharded for `operand`: the stage
  /// of the user. A value that a transfer sends is resharded on the sending
  /// stage, and a function result on the stage of the op that makes it.
  static Attribute stageOfUse(OpOperand &operand) {
    Operation *user = operand.getOwner();
    if (auto transfer = dyn_cast<pipe::TransferOp>(user))
      return transfer.getFromAttr();
    if (isa<func::ReturnOp>(user))
      user = operand.get().getDefiningOp();
    return Builder(operand.get().getContext())
        .getI64IntegerAttr(user ? pipe::stageOf(user) : 0);
  }

  func::FuncOp function;
  plan::ReshardPlanner planner;
  /// Per value and stage: what uses need.
  llvm::MapVector<std::pair<Value, Attribute>, SmallVector<Need>> allNeeds;
  unsigned numInserted = 0;
};

struct InsertReshards : pcc::shard::impl::InsertReshardsBase<InsertReshards> {
  void runOnOperation() override {
    auto module = getOperation()->getParentOfType<ModuleOp>();
    const dist::Mesh mesh = dist::meshOf(module);
    numReshards += ReshardInserter(getOperation(), mesh,
                                   plan::pricesOf(dist::clusterOf(module),
                                                  dist::targetOf(module), mesh))
                       .run();
    remarkOnShardings(getOperation());
  }
};
} // namespace
