//===- StoredWeights.cpp - weights that every axis divides ----------------===//

#include "passes/4-shard/StoredWeights.h"
#include "passes/4-shard/Presets.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// A scale or a bias is not worth a call of its own.
static bool hasTwoDims(RankedTensorType type) {
  return llvm::count_if(type.getShape(),
                        [](int64_t size) { return size > 1; }) >= 2;
}

StoredWeights::StoredWeights(const ShardedGraph &graph) {
  const bool all = hasPreset(graph.function, {"fsdp", "zero3"});
  auto module = graph.function->getParentOfType<ModuleOp>();
  llvm::StringSet<> names;
  if (auto asked = module->getAttrOfType<ArrayAttr>(dividedName))
    for (auto name : asked.getAsRange<StringAttr>())
      names.insert(name.getValue());
  for (unsigned i = 0; i < graph.ops.size(); ++i)
    if (auto get = dyn_cast_or_null<graph::GetParameterOp>(graph.ops[i].op);
        get && !graph.seedOf(i) &&
        ((all && hasTwoDims(graph::tensorType(get.getResult()))) ||
         names.contains(get.getParameter())))
      divided.insert(i);
}
