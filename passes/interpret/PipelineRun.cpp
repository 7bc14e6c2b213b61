//===- PipelineRun.cpp - the action tables of all positions ---------------===//

#include "passes/interpret/PipelineRun.h"
#include "passes/interpret/Shard.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;
using graph::HostTensor;

PipelineRun::PipelineRun(ModuleOp module, graph::Numerics numerics)
    : module(module), numerics(numerics), mesh(dist::meshOf(module)),
      weights(module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(pipe::stageName))
      (function->hasAttr(pipe::sharedName) ? shared
                                           : stages)[pipe::stageOf(function)] =
          function;
}

/// Null if there is none.
func::FuncOp PipelineRun::functionOf(const plan::Action &action) const {
  if (action.kind == plan::ActionKind::Unshard)
    return shared.lookup(action.stage);
  return action.kind == plan::ActionKind::Forward ? stages.lookup(action.stage)
                                                  : func::FuncOp();
}

LogicalResult PipelineRun::readTables(std::string &error) {
  for (auto op : module.getOps<pipe::ActionsOp>()) {
    Position &position = positions.emplace_back();
    position.number = op.getPosition();
    for (StringAttr text : op.getTable().getAsRange<StringAttr>()) {
      auto action = plan::parseAction(text.getValue().str());
      if (!action || !functionOf(*action)) {
        error = "action '" + text.str() + "' cannot be interpreted";
        return failure();
      }
      position.actions.push_back(*action);
    }
  }
  return success();
}

bool PipelineRun::isReady(const plan::Action &action) {
  return llvm::all_of(functionOf(action).getOps<pipe::ReceiveOp>(),
                      [&](pipe::ReceiveOp receive) {
                        return underway.contains(
                            {receive.getValue().str(), receive.getFrom(),
                             action.stage, action.microbatch});
                      });
}

Mail PipelineRun::mailOf(int64_t stage, int64_t microbatch) {
  Mail mail;
  mail.send = [=, this](pipe::SendOp send, const RankTensors &tensors) {
    underway[{send.getValue().str(), stage, send.getTo(), microbatch}] =
        tensors;
  };
  mail.receive = [=, this](pipe::ReceiveOp receive) {
    auto node = underway.extract(MailKey{receive.getValue().str(),
                                         receive.getFrom(), stage, microbatch});
    return node.empty() ? RankTensors() : std::move(node.mapped());
  };
  return mail;
}

/// The rank's part of an input, or what its stage has computed for all
/// microbatches.
RankTensors PipelineRun::takeArgument(func::FuncOp function, unsigned argument,
                                      const Ranks &ranks) {
  if (auto number =
          function.getArgAttrOfType<IntegerAttr>(argument, pipe::sharedName))
    return held[pipe::stageOf(function)][number.getInt()];
  const HostTensor &whole = inputs->find(inputName(function, argument))->second;
  dist::Sharding sharding =
      shardingOf(function.getArgument(argument), whole.rank());
  std::vector<HostTensor> shards;
  for (int64_t rank = 0; rank < ranks.size(); ++rank)
    shards.push_back(takeShard(
        whole, localIndices(sharding, whole.shape, ranks.mesh, ranks.at(rank)),
        Padding::Poison));
  return shareEqual(std::move(shards));
}

LogicalResult PipelineRun::runAction(const Position &position,
                                     const plan::Action &action,
                                     std::string &error) {
  func::FuncOp function = functionOf(action);
  Ranks ranks{mesh, std::max(action.microbatch, 0)};
  std::vector<RankTensors> arguments;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    arguments.push_back(takeArgument(function, i, ranks));
  auto told = [&](Value value, dist::ShardingAttr sharding,
                  const RankTensors &tensors) {
    return StageValue{value, sharding ? sharding : dist::shardingOf(value),
                      ranks, position.number * ranks.size(), tensors};
  };
  OnResult onResult;
  if (listener.onResult)
    onResult = [&](OpResult result, const RankTensors &tensors) {
      listener.onResult(told(result, {}, tensors));
    };
  FunctionRun run(function, ranks, weights, numerics,
                  mailOf(action.stage, action.microbatch), onResult);
  auto results = run.run(std::move(arguments), error);
  if (failed(results)) {
    error = "action " + plan::print(action) + ": " + error;
    return failure();
  }
  if (action.kind == plan::ActionKind::Unshard) {
    held[action.stage] = std::move(*results);
    return success();
  }
  Operation *terminator = function.front().getTerminator();
  for (auto [i, tensors] : llvm::enumerate(*results))
    if (auto name = function.getResultAttrOfType<StringAttr>(i, "graph.name");
        listener.onOutput)
      listener.onOutput(name.getValue(),
                        told(terminator->getOperand(i),
                             function.getResultAttrOfType<dist::ShardingAttr>(
                                 i, dist::shardingName),
                             tensors));
  return success();
}

LogicalResult PipelineRun::run(const Inputs &wholeInputs, PipelineListener told,
                               std::string &error) {
  inputs = &wholeInputs;
  listener = std::move(told);
  if (failed(readTables(error)))
    return failure();
  for (bool progress = true; progress;) {
    progress = false;
    for (Position &position : positions)
      while (position.next < position.actions.size() &&
             isReady(position.actions[position.next])) {
        if (failed(
                runAction(position, position.actions[position.next++], error)))
          return failure();
        progress = true;
      }
  }
  for (const Position &position : positions)
    if (position.next < position.actions.size()) {
      error = "position " + std::to_string(position.number) +
              " waits forever before action " +
              plan::print(position.actions[position.next]);
      return failure();
    }
  return success();
}
