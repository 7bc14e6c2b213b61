//===- DecidedShardings.cpp - decided shardings by ONNX names -------------===//

#include "passes/annotate/DecidedShardings.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"

using namespace mlir;
using namespace pcc;

/// Returns the sharding of `value`, without the mesh axis `mb`, which counts
/// microbatches. Returns nullopt if `value` has no sharding.
static std::optional<dist::Sharding> shardingOf(Value value) {
  dist::ShardingAttr sharding = dist::shardingOf(value);
  return sharding ? std::optional(dist::withoutTime(sharding.getSharding()))
                  : std::nullopt;
}

/// Returns the string in `attribute`; empty if `attribute` is null or no
/// StringAttr.
static std::string textOf(Attribute attribute) {
  auto text = dyn_cast_or_null<StringAttr>(attribute);
  return text ? text.str() : "";
}

/// Returns the name of `value` in the ONNX model; empty if it has none. The
/// result of a reshard or a transfer has the name of the op's operand.
static std::string nameOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_present<dist::ReshardOp, pipe::TransferOp>(op)) {
    value = op->getOperand(0);
    op = value.getDefiningOp();
  }
  if (auto get = dyn_cast_or_null<graph::GetParameterOp>(op))
    return get.getParameter().str();
  if (op)
    return op->getNumResults() == 1 ? textOf(op->getAttr(graph::nameName)) : "";
  auto argument = cast<BlockArgument>(value);
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return textOf(function.getArgAttr(argument.getArgNumber(), graph::nameName));
}

DecidedShardings::DecidedShardings(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    readSignature(function);
    for (Operation &op : function.front().without_terminator())
      readOp(&op);
  }
  // Remove all entries of weights whose sharding differs between stages.
  // Annotations of a weight hold for all stages.
  for (const std::string &name : ambiguous)
    weightShardings.erase(name);
  for (auto &[use, place] : uses)
    if (ambiguous.count(use.second))
      place.reset();
}

void DecidedShardings::readSignature(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    auto sharding = shardingOf(argument);
    std::string name = nameOf(argument);
    if (!sharding || name.empty())
      continue;
    inputShardings[name] = *sharding;
    enter(values, name, StagedSharding{*sharding, 0});
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto sharding = function.getResultAttrOfType<dist::ShardingAttr>(
            i, dist::shardingName))
      outputShardings[textOf(function.getResultAttr(i, graph::nameName))] =
          dist::withoutTime(sharding.getSharding());
}

void DecidedShardings::readOp(Operation *op) {
  if (isa<dist::ReshardOp, pipe::TransferOp>(op))
    return;
  const int64_t stage = pipe::stageOf(op);
  const std::string node = graph::nodeName(op->getLoc()).str();
  if (!node.empty() && op->getNumOperands() > 0) {
    enter(stages, node, stage);
    for (Value operand : op->getOperands()) {
      auto sharding = shardingOf(operand);
      if (std::string name = nameOf(operand);
          sharding && !name.empty() && !dist::hasView(*sharding))
        enter(uses, {node, name}, StagedSharding{*sharding, stage});
    }
  }
  for (Value result : op->getResults())
    if (std::string name = nameOf(result); !name.empty())
      readResult(result, name);
}

/// Records the sharding of `value` under `name`:
///  - A partial sum that only reshards read: the sharding after the first of
///    these reshards.
///  - A partial sum with any other reader: no sharding. `partial` counts it.
///  - Another value, read only by one reshard: the sharding after the reshard.
///  - Another value, in all other cases: its own sharding.
void DecidedShardings::readResult(Value value, const std::string &name) {
  auto sharding = shardingOf(value);
  if (!sharding)
    return;
  const bool isPartial = dist::isPartial(*sharding);
  dist::ReshardOp first;
  unsigned numReshards = 0, numOthers = 0;
  for (Operation *user : value.getUsers())
    if (auto reshard = dyn_cast<dist::ReshardOp>(user)) {
      // Skip a windowed read (halo exchange). Its result also contains elements
      // of neighbor ranks, so its sharding does not describe `value`.
      if (dist::hasView(reshard.getTo().getSharding())) {
        ++numOthers;
        continue;
      }
      ++numReshards;
      if (!first || reshard->isBeforeInBlock(first))
        first = reshard;
    } else {
      ++numOthers;
    }
  if (isPartial && numOthers > 0)
    return void(++partial);
  if (first && numOthers == 0 && (isPartial || numReshards == 1))
    sharding = dist::withoutTime(first.getTo().getSharding());
  if (dist::isPartial(*sharding))
    return void(++partial);
  const bool isWeight = isa<graph::GetParameterOp>(value.getDefiningOp());
  // Record a weight in the sharding in which ranks store it. Two stages may
  // store the same weight in different shardings.
  if (isWeight) {
    sharding = shardingOf(value);
    auto [known, isNew] = weightShardings.insert({name, *sharding});
    if (!isNew && known->second != *sharding)
      ambiguous.insert(name);
  }
  const int64_t stage = isWeight ? 0 : pipe::stageOf(value.getDefiningOp());
  enter(values, name, StagedSharding{*sharding, stage});
}
