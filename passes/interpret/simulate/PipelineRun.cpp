//===- PipelineRun.cpp - execution of action tables -----------------------===//

#include "passes/interpret/simulate/PipelineRun.h"
#include "dialects/dist/ParameterPlacement.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/interpret/simulate/ShardIndices.h"

#include <set>

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;
using graph::HostTensor;

PipelineRun::PipelineRun(ModuleOp module, graph::Numerics numerics)
    : module(module), numerics(numerics), mesh(dist::meshOf(module)),
      weights(module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(pipe::stageName))
      functions[{pipe::stageOf(function), pipe::actionOf(function).str()}] =
          function;
}

func::FuncOp PipelineRun::functionOf(const plan::Action &action) const {
  auto it = functions.find({action.stage, plan::printKind(action)});
  return it == functions.end() ? func::FuncOp() : it->second;
}

Status PipelineRun::readTables() {
  positions.clear();
  for (auto op : module.getOps<pipe::ActionsOp>()) {
    Position &position = positions.emplace_back();
    position.number = op.getPosition();
    for (StringAttr text : op.getTable().getAsRange<StringAttr>()) {
      auto action = plan::parseAction(text.getValue().str());
      if (!action || !functionOf(*action))
        return Status::error(Defect, "action '" + text.str() +
                                         "' cannot be interpreted");
      position.actions.push_back(*action);
    }
  }
  return Status::success();
}

/// Returns the number of the microbatch to which the messages of `action`
/// belong. An action sends messages to other stages, and receives messages from
/// other stages. For example, the action 2F3 is the forward pass of stage 2 on
/// microbatch 3. Its messages belong to microbatch 3, so the function returns
/// 3.
///
/// An action that updates the weights runs once per step, for all microbatches
/// together. For such an action, the function returns 0.
static int64_t microbatchOf(const plan::Action &action) {
  return action.kind == plan::ActionKind::Update ? 0 : action.microbatch;
}

bool PipelineRun::isReady(const plan::Action &action) {
  return llvm::all_of(functionOf(action).getOps<pipe::ReceiveOp>(),
                      [&](pipe::ReceiveOp receive) {
                        return inFlight.contains(
                            {receive.getValue().str(), receive.getFrom(),
                             action.stage, microbatchOf(action)});
                      });
}

/// Returns a text for the sharding in which `get` reads a parameter. `get` is
/// an op that loads the value of a parameter. A rank may store several copies
/// of a parameter, because its pipeline stages may need the parameter in
/// different shardings. For example, one stage needs the rows split over the
/// ranks, and another stage needs the columns split. The text tells which copy
/// `get` reads.
static std::string placementOf(graph::GetParameterOp get) {
  return dist::placementKey(dist::shardingOf(get.getResult()),
                            graph::tensorType(get.getResult()).getRank());
}

/// Returns a text for the sharding in which `set` writes a parameter. `set` is
/// an op that stores the new value of a parameter in a training step. A rank
/// may store several copies of a parameter, because its pipeline stages may
/// need the parameter in different shardings. For example, one stage needs the
/// rows split over the ranks, and another stage needs the columns split. The
/// text tells which copy `set` writes.
static std::string placementOf(graph::SetParameterOp set) {
  return dist::placementKey(
      set->getAttrOfType<dist::ShardingAttr>(dist::placementName),
      graph::tensorType(set.getValue()).getRank());
}

/// Returns four callbacks for one execution of a function of the stage `stage`.
/// `position` is the pipeline position (the stages that one rank runs) that
/// runs this stage. `microbatch` is the number of the microbatch that the
/// function processes.
///
///  - The callback `send` stores a message in the map `inFlight`.
///  - The callback `receive` takes a message out of the map `inFlight`.
///  - The callback `read` returns the value of a parameter from the map
///    `written`.
///  - The callback `write` stores the new value of a parameter in the map
///    `pending`, and also passes the value to `listener.onWrite`.
///
/// After all microbatches of a training step, run() moves the new values from
/// `pending` to `written`. Therefore all microbatches of a step read the values
/// that the parameters had before the step.
BoundaryHooks PipelineRun::hooksOf(const Position &position, int64_t stage,
                                   int64_t microbatch) {
  BoundaryHooks hooks;
  hooks.send = [=, this](pipe::SendOp send, const RankTensors &tensors) {
    inFlight[{send.getValue().str(), stage, send.getTo(), microbatch}] =
        tensors;
  };
  hooks.receive = [=, this](pipe::ReceiveOp receive) {
    auto node = inFlight.extract(MessageKey{
        receive.getValue().str(), receive.getFrom(), stage, microbatch});
    return node.empty() ? RankTensors() : std::move(node.mapped());
  };
  const int64_t number = position.number;
  hooks.read = [=, this](graph::GetParameterOp get) {
    auto it =
        written.find({number, get.getParameter().str(), placementOf(get)});
    return it == written.end() ? RankTensors() : it->second;
  };
  hooks.write = [=, this](graph::SetParameterOp set,
                          const RankTensors &tensors) {
    pending[{number, set.getParameter().str(), placementOf(set)}] = tensors;
    const SimulatedRanks ranks{mesh, 0};
    if (listener.onWrite)
      listener.onWrite(set.getParameter(),
                       {set.getValue(), dist::shardingOf(set.getValue()), ranks,
                        number * ranks.size(), tensors});
  };
  return hooks;
}

/// Returns the value of one argument of the function `taker`, as one tensor per
/// rank. `argument` is the index of the argument, counted from 0.
/// `ranks.microbatch` is the number of the microbatch for which `taker` is
/// executed. The value is a result of a function of the same pipeline stage.
/// `from.by` is the name of this function, and `from.result` is the index of
/// the result.
///
/// The member `held` is a map with the results of functions. A key has three
/// parts: the name of a function, the index of a result, and the number of a
/// microbatch. The number is -1 if the result belongs to all microbatches, such
/// as a gathered weight or a sum over the microbatches. takeHeld() looks for
/// two keys, one after the other:
///
///   1. {from.by, from.result, -1}
///   2. {from.by, from.result, m}: m is ranks.microbatch. There is one
///      exception: if `taker` runs once per step, such as an update of weights,
///      m is the number of the last microbatch.
///
/// If the map has neither key, there are two cases:
///
///  - `from.by` is the name of `taker` itself. Then `taker` computes a sum over
///    the microbatches, such as the gradient of a weight. Each execution of
///    `taker` takes the sum over the earlier microbatches as this argument, and
///    returns the sum that includes its own microbatch. In the first execution,
///    there are no earlier microbatches. Therefore takeHeld() returns zeros.
///  - In any other case, takeHeld() returns an empty list.
RankTensors PipelineRun::takeHeld(func::FuncOp taker, const pipe::Held &from,
                                  unsigned argument,
                                  const SimulatedRanks &ranks) {
  auto maker = module.lookupSymbol<func::FuncOp>(from.by);
  int64_t microbatch = pipe::runsOnce(taker) ? mesh.sizeOf(dist::timeAxis) - 1
                                             : ranks.microbatch;
  auto at = held.find({from.by.str(), from.result, -1});
  if (at == held.end())
    at = held.find(
        {from.by.str(), from.result, std::max<int64_t>(microbatch, 0)});
  if (at != held.end())
    return at->second;
  if (maker != taker)
    return {};
  auto type = graph::tensorType(taker.getArgument(argument));
  return RankTensors(ranks.size(),
                     std::make_shared<const HostTensor>(HostTensor::zeros(
                         dist::shapeOf(type.getShape()),
                         graph::kindOf(type.getElementType()))));
}

/// Stores the results of `function` in the map `held`. Other functions of the
/// same pipeline stage read the results from the map. For example, the backward
/// pass reads activations of the forward pass. results[i] has the tensors of
/// result i on all ranks. `microbatch` is the number of the microbatch that
/// `function` has processed.
///
/// A key of the map has three parts: the name of `function`, the index of the
/// result, and the number of a microbatch. For most results, the third part is
/// `microbatch`. For two kinds of results, the third part is -1:
///
///  - `function` runs once per step. For example, it gathers a weight that all
///    microbatches read.
///  - The result is a sum over the microbatches, such as the gradient of a
///    weight. `function` adds the summand of one microbatch to the sum of the
///    earlier microbatches. The new sum replaces the old sum in the map.
void PipelineRun::keepResults(func::FuncOp function,
                              const std::vector<RankTensors> &results,
                              int64_t microbatch) {
  std::set<unsigned> sums;
  for (BlockArgument argument : function.getArguments())
    if (pipe::isAccumulator(argument))
      sums.insert(pipe::heldOf(argument)->result);
  for (auto [i, tensors] : llvm::enumerate(results)) {
    const bool hasNone = pipe::runsOnce(function) || sums.contains(i);
    held[{function.getName().str(), static_cast<unsigned>(i),
          hasNone ? -1 : microbatch}] = tensors;
  }
}

RankTensors PipelineRun::takeArgument(func::FuncOp function, unsigned argument,
                                      const SimulatedRanks &ranks) {
  if (auto from = pipe::heldOf(function.getArgument(argument)))
    return takeHeld(function, *from, argument, ranks);
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

/// Executes one action of the pipeline schedule. All ranks that run the same
/// stages form a pipeline position. `position` is the pipeline position that
/// executes the action. Each action has a function in the module. For example,
/// the action 2F3 is the forward pass of stage 2 on microbatch 3, and its
/// function is the forward pass of stage 2. runAction() does these steps:
///
///   1. It gets the arguments of the function. An argument is an input of the
///      model or a stored result of an earlier action.
///   2. It executes the function on all ranks of the position.
///   3. It stores the results of the function in the map `held`. Later actions
///      of the stage use these results as arguments.
///   4. It passes each result that is an output of the model to the callback
///      `listener.onOutput`.
Status PipelineRun::runAction(const Position &position,
                              const plan::Action &action) {
  func::FuncOp function = functionOf(action);
  const bool updates = action.kind == plan::ActionKind::Update;
  SimulatedRanks ranks{mesh, updates ? 0 : std::max(action.microbatch, 0)};
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
                  hooksOf(position, action.stage, microbatchOf(action)),
                  onResult);
  auto results = run.run(std::move(arguments));
  if (!results)
    return results.status().prefixed("action " + plan::print(action) + ": ");
  keepResults(function, *results, ranks.microbatch);
  Operation *terminator = function.front().getTerminator();
  for (auto [i, tensors] : llvm::enumerate(*results))
    if (auto name =
            function.getResultAttrOfType<StringAttr>(i, graph::nameName);
        name && listener.onOutput)
      listener.onOutput(name.getValue(),
                        told(terminator->getOperand(i),
                             function.getResultAttrOfType<dist::ShardingAttr>(
                                 i, dist::shardingName),
                             tensors));
  return Status::success();
}

/// Executes the actions of all pipeline positions. A pipeline position is the
/// set of stages that one rank runs. An action is, for example, the forward
/// pass of one stage on one microbatch. The function goes through the positions
/// again and again. At each position, the function executes actions in order
/// until an action needs a message that has not been sent yet.
///
/// The loop ends when no position can execute another action. If some actions
/// have not been executed, they wait for each other (deadlock), and the
/// function returns an error.
Status PipelineRun::run(const Inputs &wholeInputs, PipelineListener told) {
  inputs = &wholeInputs;
  listener = std::move(told);
  PCC_RETURN_IF_ERROR(readTables());
  held.clear();
  for (bool progress = true; progress;) {
    progress = false;
    for (Position &position : positions)
      while (position.next < position.actions.size() &&
             isReady(position.actions[position.next])) {
        PCC_RETURN_IF_ERROR(
            runAction(position, position.actions[position.next++]));
        progress = true;
      }
  }
  for (const Position &position : positions)
    if (position.next < position.actions.size())
      return Status::error(Defect,
                           "position " + std::to_string(position.number) +
                               " waits forever before action " +
                               plan::print(position.actions[position.next]));
  for (auto &[parameter, tensors] : pending)
    written[parameter] = std::move(tensors);
  pending.clear();
  return Status::success();
}
