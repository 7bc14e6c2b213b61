//===- ReaderSteps.cpp - communications that readers of a value need ------===//

#include "passes/explain/ReaderSteps.h"
#include "dialects/graph/TensorBytes.h"
#include "dialects/pipe/PipeDialect.h"
#include "runtime/base/QuantityText.h"
#include "llvm/ADT/SetVector.h"

#include <map>

using namespace mlir;
using namespace pcc;
using namespace pcc::explain;

std::vector<dist::PricedStep> ReaderSteps::of(dist::ReshardOp reshard) {
  const auto type = graph::tensorType(reshard.getInput());
  const plan::ReshardPlan &plan = planner.plan(
      reshard.getFrom().getSharding(), reshard.getTo().getSharding(),
      dist::shapeOf(type.getShape()), graph::elementBytes(type));
  std::vector<dist::PricedStep> steps;
  for (const plan::ReshardStep &step : plan.steps)
    if (dist::communicates(step.kind))
      steps.push_back(shard::pricedStep(step, mesh));
  return steps;
}

/// Returns whether each rank along `axis` has a partial result of `value`, such
/// as one term of a sum.
static bool isPartialAlong(Value value, StringRef axis) {
  dist::ShardingAttr sharding = dist::shardingOf(value);
  return sharding &&
         dist::holdsAxis(dist::partialAxes(sharding.getSharding()), axis);
}

/// Returns whether `axis` splits `value`, or makes it partial.
static bool isDividedBy(Value value, StringRef axis) {
  dist::ShardingAttr sharding = dist::shardingOf(value);
  return sharding &&
         dist::holdsAxis(dist::axesUsed(sharding.getSharding()), axis);
}

/// Returns the reshards that follow `values`, each once: those of `values` and
/// of their copies, and those of results that are partial along `axis`.
static llvm::SetVector<dist::ReshardOp> reshardsAfter(ArrayRef<Value> values,
                                                      StringRef axis) {
  llvm::SetVector<dist::ReshardOp> reshards;
  llvm::SetVector<Value> reached(values.begin(), values.end());
  for (size_t i = 0; i < reached.size(); ++i)
    for (Operation *reader : reached[i].getUsers()) {
      if (auto reshard = dyn_cast<dist::ReshardOp>(reader))
        reshards.insert(reshard);
      const bool copies = isa<dist::ReshardOp, pipe::TransferOp>(reader);
      for (Value result : reader->getResults())
        if (copies ? isDividedBy(result, axis) : isPartialAlong(result, axis))
          reached.insert(result);
    }
  return reshards;
}

std::vector<dist::PricedStep> ReaderSteps::ofReaders(ArrayRef<Value> values,
                                                     StringRef axis) {
  std::vector<dist::PricedStep> steps;
  for (dist::ReshardOp reshard : reshardsAfter(values, axis))
    llvm::copy_if(of(reshard), std::back_inserter(steps),
                  [&](const dist::PricedStep &step) {
                    return llvm::is_contained(step.axes, axis);
                  });
  return steps;
}

std::string explain::countedText(const std::vector<dist::PricedStep> &steps) {
  std::map<std::string, int> counts;
  for (const dist::PricedStep &step : steps)
    ++counts[step.kind + " " + runtime::bytesText(step.receivedBytes)];
  std::string text;
  for (const auto &[what, count] : counts)
    text += (text.empty() ? "" : ", ") +
            (count > 1 ? std::to_string(count) + " x " : "") + what;
  return text;
}
