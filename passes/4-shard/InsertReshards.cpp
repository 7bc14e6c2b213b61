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

/// Returns a sharding from which ranks can slice both `a` and `b` without
/// communication. Each dim keeps the leading mesh axes that `a` and `b` share,
/// such as dp for dp+tp and dp+cp. Returns std::nullopt if there is no such
/// sharding, or if it would equal `a` or `b`.
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
/// Inserts reshards (ops that change the sharding of a tensor) where an op
/// needs an operand in another sharding. If several ops of one pipeline stage
/// need a value in the same sharding, they share one reshard. A reshard may
/// start from the result of another reshard: if x must be gathered anyway,
/// ranks can slice the gathered x without communication.
class ReshardInserter {
public:
  ReshardInserter(func::FuncOp function, const dist::Mesh &mesh,
                  plan::Prices prices)
      : function(function), planner(mesh, std::move(prices)) {}

  /// Inserts all reshards that the function needs. A reshard is an op that
  /// changes the sharding of a tensor. Returns the number of inserted reshards.
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
  /// A sharding `to` in which a value is needed, and the operands `uses` that
  /// read it. Without operands, the sharding is an intermediate step: other
  /// shardings of the value are made from it.
  struct Need {
    dist::ShardingAttr to;
    SmallVector<OpOperand *, 2> uses;
  };

  /// Records in `allNeeds` that `operand` is needed in the sharding `wanted`.
  /// Does nothing if the operand has that sharding, or has no sharding.
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

  /// Inserts the reshards of `value` on the pipeline stage `stage`, before the
  /// first op that needs one. Each reshard starts from `value` or from another
  /// reshard, so that the total cost is small. May add intermediate shardings
  /// to `needs`.
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

  /// Returns intermediate shardings that may make the reshards of one value
  /// cheaper. From each of them, ranks can slice two shardings in `needs`
  /// without communication. Returns none if `needs` has `mostOrdered` elements
  /// or more: with one more sharding, cheapestReshardOrder() would no longer
  /// try all orders.
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

  /// Largest number of shardings of one value for which all orders of the
  /// reshards are tried. Otherwise, the reshards keep the order in which ops
  /// need them.
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

  /// Returns the location of the reshard of `value` to `need.to`. The location
  /// lists the operands in `need.uses`, which `pcc explain` prints. For an
  /// intermediate sharding (no uses), it lists the operands of all `needs`.
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

  /// Returns the pipeline stage on which `operand` is resharded: the stage of
  /// the op that reads it, or the sending stage for a `pipe.transfer`. For an
  /// operand of the return, the result is the stage that computes the value, or
  /// 0 if the value is a function argument.
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
  /// Map from a value and a pipeline stage to a list of shardings. On this
  /// stage, ops need the value in these shardings. The sharding that the value
  /// has already is not in the list.
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
