//===- StoredWeights.cpp - weights that every axis divides ----------------===//

#include "passes/4-shard/StoredWeights.h"
#include "passes/4-shard/Presets.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// A scale or a bias is not worth a call of its own.
static bool hasTwoDims(RankedTensorType type) {
  return llvm::count_if(type.getShape(),
                        [](int64_t size) { return size > 1; }) >= 2;
}

static graph::ParameterOp parameterOf(graph::GetParameterOp get) {
  return SymbolTable::lookupNearestSymbolFrom<graph::ParameterOp>(
      get, get.getParameterAttr());
}

StoredWeights::StoredWeights(const ShardedGraph &graph)
    : weights(hasPreset(graph.function, {"fsdp", "zero3"})),
      gradients(weights || hasPreset(graph.function, {"zero2"})),
      states(gradients || hasPreset(graph.function, {"zero1"})) {
  auto module = graph.function->getParentOfType<ModuleOp>();
  if (auto asked = module->getAttrOfType<ArrayAttr>(dividedName))
    for (auto name : asked.getAsRange<StringAttr>())
      names.insert(name.getValue());
  for (unsigned i = 0; i < graph.ops.size(); ++i)
    if (graph.ops[i].op && !graph.seedOf(i) && isDivided(graph.ops[i].op))
      divided.insert(i);
}

bool StoredWeights::isDivided(Operation *op) const {
  if (isa<graph::AccumulateOp>(op))
    return gradients && hasTwoDims(graph::tensorType(op->getResult(0)));
  auto get = dyn_cast<graph::GetParameterOp>(op);
  if (!get)
    return false;
  graph::ParameterOp parameter = parameterOf(get);
  const bool isState = parameter && parameter.getStateOf();
  return ((isState ? states : weights) &&
          hasTwoDims(graph::tensorType(get.getResult()))) ||
         names.contains(get.getParameter());
}
