//===- WeightPrefetches.cpp - prefetch of all-gathers of sharded weights --===//

#include "passes/7-emit/program/WeightPrefetches.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/rank/RankDialect.h"
#include "passes/7-emit/program/ModelFacts.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Returns whether only graph.reshape and rank.launch ops compute `value`, from
/// weights and constants alone. A rank.launch executes a kernel, such as a
/// cast. Appends these ops to `makers`, in execution order. If `value` is a
/// weight or a constant itself, returns true and appends nothing. If the result
/// is false, `makers` may contain only some of the ops.
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
/// Finds all-gathers of weights that the ranks can start early. An early
/// all-gather communicates while the ranks execute ops that do not need the
/// weight. Each pipeline stage has several functions. The class searches only
/// the functions that run once per microbatch, such as the forward function.
/// The class does not search the functions that run once per training step,
/// such as the function that updates the weights.
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
  /// Appends `gather` to `found` if it is an all_gather between several ranks
  /// and if its input depends only on weights and constants. Excludes an
  /// all_gather with the operands `rows`, in which a rank sends only some rows
  /// of its shard.
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
