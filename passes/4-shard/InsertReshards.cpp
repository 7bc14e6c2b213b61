//===- InsertReshards.cpp - insertion of reshards -------------------------===//

#include "dialects/dist/DistDialect.h"
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

/// Returns a sharding `common` from which `a` and `b` can both be sliced,
/// without communication:
///
///   a        [8@dp+tp, -]
///   b        [8@dp+cp, -]
///   common   [8@dp, -]
///
/// For each dim, `common` keeps the leading axes that `a` and `b` share.
/// Returns std::nullopt in these cases:
///
/// - `common` would equal `a` or `b`.
/// - A dim has different factors (parts of a dim) in `a` and `b`.
/// - `a` or `b` is partial (still to be reduced) or has a view (halo).
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
/// Inserts a reshard (change of sharding) where an op needs an operand in
/// another sharding. All ops of one stage that need a value in the same
/// sharding read the same reshard, which lies before the first of them. A
/// reshard may read the result of another one: if a value is gathered anyway, a
/// slice of the gathered value costs no communication.
class ReshardInserter {
public:
  ReshardInserter(func::FuncOp function, const dist::Mesh &mesh,
                  plan::Prices prices)
      : function(function), planner(mesh, std::move(prices)) {}

  /// Inserts all reshards that the function needs. Returns their number.
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
  /// A sharding in which a value is needed, and the operands that need it.
  /// Without operands, it is only the source of other reshards (changes of
  /// sharding).
  struct Need {
    dist::ShardingAttr to;
    SmallVector<OpOperand *, 2> uses;
  };

  /// Records in `allNeeds` that `operand` is needed in the sharding `wanted`.
  /// Does nothing if the operand has that sharding.
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

  /// Inserts the reshards of one value on one stage, in the cheapest order,
  /// before the first use. Then makes the uses read the reshards.
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

  /// Returns shardings from which two of the needed shardings can both be
  /// sliced without communication. A reshard to such a sharding may make the
  /// other reshards cheaper. Returns none if `needs` has mostOrdered or more
  /// elements, because only orders of up to mostOrdered reshards are compared.
  static std::vector<dist::Sharding> commonSources(ArrayRef<Need> needs) {
    std::vector<dist::Sharding> sources;
    for (size_t i = 0; i < needs.size() && needs.size() < mostOrdered; ++i)
      for (size_t j = i + 1; j < needs.size(); ++j)
        if (auto common = commonSource(needs[i].to.getSharding(),
                                       needs[j].to.getSharding());
            common && !llvm::is_contained(sources, *common))
          sources.push_back(*common);
    return sources;
  }

  /// Limit for the search of the cheapest order of reshards (changes of
  /// sharding) of one value. If the value is needed in up to 5 shardings, all
  /// orders are tried. Otherwise the reshards keep the order in which ops need
  /// them.
  static constexpr size_t mostOrdered = 5;

  /// Returns the cheapest order of reshards (changes of sharding) that create
  /// all needed shardings. Each reshard starts from `value` or from the result
  /// of another reshard.
  plan::ReshardOrder cheapestReshardOrder(Value value, ArrayRef<Need> needs) {
    SmallVector<dist::ShardingAttr> forms{dist::shardingOf(value)};
    for (const Need &need : needs)
      forms.push_back(need.to);
    std::vector<std::vector<plan::Cost>> reform(forms.size());
    for (size_t from = 0; from < forms.size(); ++from) {
      const dist::Sharding source = forms[from].getSharding();
      if (from > 0 && !mayBeSource(source, forms.size()))
        continue;
      for (const Need &need : needs)
        reform[from].push_back(priceOf(planner, graph::tensorType(value),
                                       source, need.to.getSharding()));
    }
    return plan::cheapestReshardOrder(reform, mostOrdered);
  }

  /// Returns the location of the reshard (change of sharding) that `need` asks
  /// for. The location names the operands that read the reshard. If only other
  /// reshards read it, the location names the operands of all `needs`.
  static Location reasonFor(Value value, const Need &need,
                            ArrayRef<Need> needs) {
    SmallVector<dist::Endpoint> places;
    for (const Need &other : need.uses.empty() ? needs : ArrayRef(need))
      for (OpOperand *use : other.uses)
        places.push_back(endpointOf(*use));
    return reshardLocation(value, places);
  }

  /// Inserts one reshard of `source` to the sharding `to` and returns its
  /// result.
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

  /// Returns the stage on which a value is resharded for `operand`:
  ///
  ///   reader            stage
  ///   transfer          the sending stage
  ///   function result   stage of the op that produces the value
  ///   other op          stage of that op
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
  /// By value and stage: the shardings in which uses need the value.
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
