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

/// Returns the string in `attribute`. Returns an empty string if `attribute` is
/// null or is not a StringAttr.
static std::string textOf(Attribute attribute) {
  auto text = dyn_cast_or_null<StringAttr>(attribute);
  return text ? text.str() : "";
}

/// Returns the name of `value` in the ONNX model; empty if there is none. The
/// result of a reshard or of a transfer between stages has the name of its
/// operand, because the ONNX model does not contain these ops.
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
  // An annotated model states one sharding per weight, which holds for all
  // pipeline stages. If the stages store a weight in different shardings, the
  // model must not state any of these shardings. Remove the shardings of such a
  // weight from `weightShardings` (shardings of stored weights) and from `uses`
  // (shardings in which nodes read values).
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

/// Records one of these shardings under `name`:
///
/// - If the only reader of `value` is a reshard (an op that changes the
///   sharding), the sharding after this reshard.
/// - If `value` is partial and only reshards read it, the sharding after the
///   first of these reshards.
/// - In all other cases, and for each weight, the sharding of `value` itself.
///
/// If the sharding to record is partial, records nothing and increments
/// `partial`.
void DecidedShardings::readResult(Value value, const std::string &name) {
  auto sharding = shardingOf(value);
  if (!sharding)
    return;
  const bool isPartial = dist::isPartial(*sharding);
  dist::ReshardOp first;
  unsigned numReshards = 0, numOthers = 0;
  for (Operation *user : value.getUsers())
    if (auto reshard = dyn_cast<dist::ReshardOp>(user)) {
      // This reshard is a halo exchange: its result also has elements of
      // neighbor ranks. The sharding of this result must not become the
      // sharding of `value`.
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
  // For a weight, record its stored sharding, not the sharding after a reshard.
  // If stages store the weight in different shardings, add the weight to
  // `ambiguous`.
  if (isWeight) {
    sharding = shardingOf(value);
    auto [known, isNew] = weightShardings.insert({name, *sharding});
    if (!isNew && known->second != *sharding)
      ambiguous.insert(name);
  }
  const int64_t stage = isWeight ? 0 : pipe::stageOf(value.getDefiningOp());
  enter(values, name, StagedSharding{*sharding, stage});
}
