//===- WeightPrefetches.cpp - prefetch of all-gathers of sharded weights --===//

#include "passes/7-emit/program/WeightPrefetches.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/rank/RankDialect.h"
#include "passes/7-emit/program/ModelFacts.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Appends to `makers` the ops that compute `value` from weights and constants.
/// The ops are in execution order. Example: a cast of a weight. Returns true if
/// each of these ops is a reshape or a kernel call, and `value` depends only on
/// weights and constants. Otherwise returns false. `makers` may then contain
/// only some of the ops.
static bool collectMakers(Value value, std::vector<Operation *> &makers) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (op->hasTrait<graph::IsStored>() || llvm::is_contained(makers, op))
    return true;
  if (!isa<graph::ReshapeOp, rank::LaunchOp>(op))
    return false;
  for (Value operand : op->getOperands())
    if (!collectMakers(operand, makers))
      return false;
  makers.push_back(op);
  return true;
}

namespace {
/// Finds the all-gathers of weights that can start before their use, in
/// functions that run once per microbatch.
class PrefetchFinder {
public:
  explicit PrefetchFinder(ModelFacts &facts) : facts(facts), groups(facts) {}

  std::vector<Prefetch> run() {
    for (const auto &functions : facts.functions)
      for (func::FuncOp function : functions)
        if (!pipe::runsOnce(function))
          for (auto gather : function.getOps<dist::CollectiveOp>())
            collect(gather);
    return std::move(found);
  }

private:
  /// Appends `gather` to `found` if three conditions hold:
  ///
  ///   - It is an all-gather of all elements, not of selected rows.
  ///   - Its group has at least two ranks.
  ///   - Its input depends only on weights and constants.
  void collect(dist::CollectiveOp gather) {
    if (gather.getKind() != dist::CollectiveKind::AllGather ||
        !gather.getRows().empty() || facts.groupOf(gather) < 0)
      return;
    Prefetch prefetch{gather, {}, -1};
    if (!collectMakers(gather.getInput(), prefetch.makers))
      return;
    prefetch.group = groups.of(facts.groupOf(gather));
    found.push_back(std::move(prefetch));
  }

  ModelFacts &facts;
  OverlapGroups groups;
  std::vector<Prefetch> found;
};
} // namespace

std::vector<Prefetch> emit::findPrefetches(ModelFacts &facts) {
  return PrefetchFinder(facts).run();
}
