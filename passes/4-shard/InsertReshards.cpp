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
/// communication. Each dim keeps the leading mesh axes that `a` and `b` share.
/// For example, [8@dp+tp, -] and [8@dp+cp, -] give [8@dp, -]. Here 8@dp+tp is a
/// dim of size 8 that dp and tp split, and `-` is a dim that no axis splits.
/// Returns std::nullopt if the result would equal `a` or `b`, or if both split
/// a dim that they divide into different factors. Also returns std::nullopt if
/// `a` or `b` is partial (ranks still have to reduce it) or has a view (ranks
/// read elements of other ranks, such as a halo).
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
/// Inserts reshards. A reshard is an op that changes the sharding of a tensor.
/// A reshard is inserted where an op needs an operand in another sharding than
/// the operand has.
///
/// Several ops of one pipeline stage may need a value in the same sharding. All
/// these ops then read one reshard, which is inserted before the ops.
///
/// A reshard may read the result of another reshard. For example, one op needs
/// each rank to have all of x, and another op needs each rank to have half of
/// the rows of x. The first reshard gathers x. The second reshard slices the
/// result of the first, without communication.
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
  /// A sharding to which a value must be changed (`to`), and the operands that
  /// read the value in this sharding (`uses`). If `uses` is empty, no op needs
  /// the value in this sharding. The sharding is then an intermediate step:
  /// other shardings of the value are made from it.
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

  /// Inserts all reshards (changes of sharding) of `value` on the pipeline
  /// stage `stage`, before the first op that needs one. `needs` lists the new
  /// shardings and the operands that then read them. A reshard reads `value` or
  /// the result of another reshard, so that the total cost is small. For this,
  /// the function may add intermediate shardings to `needs`. For example,
  /// [-, 8@dp] (the axis dp splits 8 columns) must become [8@dp+tp, -] for one
  /// op and [8@dp+cp, -] for another. One all-to-all to [8@dp, -] is then
  /// enough, because ranks can slice both shardings from it without
  /// communication.
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

  /// Returns intermediate shardings that may make the reshards (changes of
  /// sharding) of one value cheaper. From each of them, ranks can slice two
  /// shardings in `needs` without communication. For example, [8@dp+tp, -] and
  /// [8@dp+cp, -] are slices of [8@dp, -], where 8@dp+tp is a dim of size 8
  /// that the mesh axes dp and tp split. Returns an empty list if `needs` has
  /// `mostOrdered` elements or more. With one more sharding, there are too many
  /// orders to try them all.
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

  /// Returns the MLIR location of the reshard (change of sharding) of `value`
  /// to `need.to`. The location lists the operands for which the reshard is
  /// made, so that `pcc explain` can print them. These are the operands in
  /// `need.uses`. If `need.uses` is empty, only other reshards of `value` read
  /// the result. The location then lists the operands of all `needs`.
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

  /// Returns the pipeline stage of the reshard that `operand` needs. A reshard
  /// is an op that changes the sharding of a tensor. The stage depends on the
  /// op that has `operand`:
  ///
  ///   op that has `operand`                   stage of the reshard
  ///   pipe.transfer, which sends the value    stage that sends
  ///   from one stage to another
  ///   return of the function                  stage of the op that computes
  ///                                           the value
  ///   any other op                            stage of this op
  ///
  /// Returns stage 0 if the function returns one of its arguments.
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
