//===- StoredWeights.cpp - weights, gradients and states stored in shards -===//

#include "passes/4-shard/policy/StoredWeights.h"
#include "dialects/dist/DistDialect.h"
#include "passes/4-shard/policy/Presets.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::shard;

/// Returns whether at least two dims have more than one element. The presets
/// for ZeRO and FSDP divide only these tensors among ranks. All other tensors
/// are small, and each of them would need an all-gather of its own.
static bool hasTwoDims(RankedTensorType type) {
  return llvm::count_if(type.getShape(),
                        [](int64_t size) { return size > 1; }) >= 2;
}

/// Returns whether `op` is a cast to a narrower type. `op` may be null.
static bool isNarrowing(Operation *op) {
  auto cast = dyn_cast_if_present<graph::CastOp>(op);
  return cast && graph::tensorType(cast.getInput()).getElementTypeBitWidth() >
                     graph::tensorType(cast).getElementTypeBitWidth();
}

/// Returns whether each reader of the result of node `op` of the graph is a
/// cast to a narrower type, or belongs to the optimizer update.
static bool isReadNarrow(const ShardedGraph &graph, unsigned op) {
  return llvm::all_of(graph.users[op][0],
                      [&](const ShardedGraph::OperandEdge &edge) {
                        return isNarrowing(graph.ops[edge.user].op) ||
                               graph.runsOncePerStep(edge.user);
                      });
}

/// Returns the names of master weights in mixed-precision training: trained
/// parameters of two or more dims that the model reads only through casts to a
/// narrower type. They count as optimizer state.
static llvm::StringSet<> mastersOf(const ShardedGraph &graph,
                                   const SymbolTable &parameters) {
  llvm::StringSet<> masters, others;
  for (unsigned i = 0; i < graph.ops.size(); ++i) {
    auto get = dyn_cast_if_present<graph::GetParameterOp>(graph.ops[i].op);
    auto parameter =
        get ? parameters.lookup<graph::ParameterOp>(get.getParameter())
            : graph::ParameterOp();
    if (!parameter || !parameter.getTrained() ||
        !hasTwoDims(graph::tensorType(get.getResult())))
      continue;
    (isReadNarrow(graph, i) ? masters : others).insert(get.getParameter());
  }
  for (const auto &other : others)
    masters.erase(other.getKey());
  return masters;
}

StoredWeights::StoredWeights(const ShardedGraph &graph)
    : weights(hasPreset(graph.function, {"fsdp", "zero3"})),
      gradients(weights || hasPreset(graph.function, {"zero2"})),
      states(gradients || hasPreset(graph.function, {"zero1"})) {
  auto module = graph.function->getParentOfType<ModuleOp>();
  if (auto asked = module->getAttrOfType<ArrayAttr>(dist::dividedName))
    for (auto name : asked.getAsRange<StringAttr>())
      names.insert(name.getValue());
  const SymbolTable parameters(module);
  if (states)
    for (const auto &master : mastersOf(graph, parameters))
      names.insert(master.getKey());
  for (unsigned i = 0; i < graph.ops.size(); ++i)
    if (graph.ops[i].op && !graph.seedOf(i) &&
        isDivided(graph.ops[i].op, parameters))
      divided.insert(i);
}

/// Returns whether the result of `op` is one of several addends of a gradient,
/// because several ops use one weight. Ranks then reduce and divide only the
/// sum of the addends, not each addend. Always false with several microbatches.
static bool isOfOneUse(graph::AccumulateOp op) {
  const dist::Mesh mesh = dist::meshOf(op->getParentOfType<ModuleOp>());
  return mesh.sizeOf(std::string(dist::timeAxis)) <= 1 &&
         llvm::any_of(op->getUsers(), llvm::IsaPred<graph::AddOp>);
}

bool StoredWeights::isDivided(Operation *op,
                              const SymbolTable &parameters) const {
  if (auto accumulate = dyn_cast<graph::AccumulateOp>(op))
    return gradients && hasTwoDims(graph::tensorType(op->getResult(0))) &&
           !isOfOneUse(accumulate);
  auto get = dyn_cast<graph::GetParameterOp>(op);
  if (!get)
    return false;
  auto parameter = parameters.lookup<graph::ParameterOp>(get.getParameter());
  const bool isState = parameter && parameter.getStateOf();
  return ((isState ? states : weights) &&
          hasTwoDims(graph::tensorType(get.getResult()))) ||
         names.contains(get.getParameter());
}
