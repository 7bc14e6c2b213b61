//===- StoredWeights.cpp - weights that every axis divides ----------------===//

#include "passes/4-shard/policy/StoredWeights.h"
#include "passes/4-shard/policy/Presets.h"

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

static bool isNarrowing(Operation *op) {
  auto cast = dyn_cast_if_present<graph::CastOp>(op);
  return cast && graph::tensorType(cast.getInput()).getElementTypeBitWidth() >
                     graph::tensorType(cast).getElementTypeBitWidth();
}

/// Whether all that reads an op's result casts it to a narrower type, or is
/// part of the update.
static bool isReadNarrow(const ShardedGraph &graph, unsigned op) {
  return llvm::all_of(graph.users[op][0],
                      [&](const ShardedGraph::OperandEdge &edge) {
                        return isNarrowing(graph.ops[edge.user].op) ||
                               graph.runsOncePerStep(edge.user);
                      });
}

/// Weights of two or more dims of which the model uses nothing but what casts
/// to a narrower type make. They are state of the optimizer like the rest of
/// it: what is gathered is narrow.
static llvm::StringSet<> mastersOf(const ShardedGraph &graph) {
  llvm::StringSet<> masters, others;
  for (unsigned i = 0; i < graph.ops.size(); ++i) {
    auto get = dyn_cast_if_present<graph::GetParameterOp>(graph.ops[i].op);
    graph::ParameterOp parameter = get ? parameterOf(get) : nullptr;
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
  if (auto asked = module->getAttrOfType<ArrayAttr>(dividedName))
    for (auto name : asked.getAsRange<StringAttr>())
      names.insert(name.getValue());
  if (states)
    for (const auto &master : mastersOf(graph))
      names.insert(master.getKey());
  for (unsigned i = 0; i < graph.ops.size(); ++i)
    if (graph.ops[i].op && !graph.seedOf(i) && isDivided(graph.ops[i].op))
      divided.insert(i);
}

/// Whether the gradient of one use of a weight is all that is known of it
/// before the update adds those of others. With one microbatch nothing
/// accumulates: sums over ranks pass that addition, as they do where gradients
/// are not divided, and are reduced once.
static bool isOfOneUse(graph::AccumulateOp op) {
  const dist::Mesh mesh = dist::meshOf(op->getParentOfType<ModuleOp>());
  return mesh.sizeOf(std::string(dist::timeAxis)) <= 1 &&
         llvm::any_of(op->getUsers(), llvm::IsaPred<graph::AddOp>);
}

bool StoredWeights::isDivided(Operation *op) const {
  if (auto accumulate = dyn_cast<graph::AccumulateOp>(op))
    return gradients && hasTwoDims(graph::tensorType(op->getResult(0))) &&
           !isOfOneUse(accumulate);
  auto get = dyn_cast<graph::GetParameterOp>(op);
  if (!get)
    return false;
  graph::ParameterOp parameter = parameterOf(get);
  const bool isState = parameter && parameter.getStateOf();
  return ((isState ? states : weights) &&
          hasTwoDims(graph::tensorType(get.getResult()))) ||
         names.contains(get.getParameter());
}
