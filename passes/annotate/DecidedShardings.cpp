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

/// Returns the name of `value` in the ONNX model. Returns an empty string if
/// `value` has no name there.
///
/// The compiler inserts two kinds of ops that do not exist in the ONNX model. A
/// reshard changes the sharding of a tensor. A transfer sends a tensor to
/// another pipeline stage. For the result of such an op, the function returns
/// the name of the operand of the op.
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

/// Adds the sharding and the pipeline stage of `value`, the result of an op, to
/// the map `values` under its ONNX name `name`. The sharding is:
///  - for a weight: its own sharding, which `weightShardings` gets, too.
///  - for a partial sum (each rank holds one term): the sharding of the
///    complete sum. If an op reads the terms, only increments `partial`.
///  - for a value whose only reader is a reshard (an op that changes the
///    sharding): the sharding of the result of the reshard.
///  - for any other value: its own sharding. Without one, adds nothing.
void DecidedShardings::readResult(Value value, const std::string &name) {
  auto sharding = shardingOf(value);
  if (!sharding)
    return;
  const bool isPartial = dist::isPartial(*sharding);
  dist::ReshardOp first;
  unsigned numReshards = 0, numOthers = 0;
  for (Operation *user : value.getUsers())
    if (auto reshard = dyn_cast<dist::ReshardOp>(user)) {
      // `reshard` is an op that reads `value` and changes the sharding. There
      // are two kinds:
      //
      // - hasView() is true: `reshard` is a halo exchange. It gives each rank
      //   elements of neighbor ranks, in addition to the elements that the rank
      //   has of `value`. The function therefore must not use the sharding of
      //   the result as the sharding of `value`. `numOthers` counts this
      //   reader. `numOthers` also counts each reader that does not change the
      //   sharding.
      // - hasView() is false: the function may use the sharding of the result
      //   as the sharding of `value`. `numReshards` counts this reader.
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
  // Ranks store a weight in the sharding of `value`. Here, the variable
  // `sharding` may contain another sharding: if the reader of the weight
  // is a reshard, `sharding` is the sharding of the result of the reshard. (A
  // reshard is an op that changes the sharding of a tensor.) Set `sharding` to
  // the sharding of `value`.
  //
  // Several pipeline stages may store the same weight. This function is then
  // called once per stage. If two stages store the weight in different
  // shardings, add the name of the weight to the set `ambiguous`.
  if (isWeight) {
    sharding = shardingOf(value);
    auto [known, isNew] = weightShardings.insert({name, *sharding});
    if (!isNew && known->second != *sharding)
      ambiguous.insert(name);
  }
  const int64_t stage = isWeight ? 0 : pipe::stageOf(value.getDefiningOp());
  enter(values, name, StagedSharding{*sharding, stage});
}
