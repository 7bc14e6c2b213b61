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

/// Returns the microbatch to which the messages of `action` belong. A weight
/// update, which runs once per step, gives 0.
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

/// Returns the callbacks for one execution of a function of the stage `stage`.
/// `send` stores a message in the map `inFlight`, and `receive` takes it out.
/// `read` returns the value of a parameter in `written`, and `write` stores the
/// new value in `pending`. At the end of a step, run() moves the values to
/// `written`. Therefore all microbatches of a step read the values from before
/// the step.
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

/// Returns the value of argument number `argument` of the function `taker` on
/// all ranks. The value is a result of the function `from.by`, and the map
/// `held` contains the results of the functions that have run. If `held` has
/// one result for each microbatch, but `taker` runs once per step, returns the
/// result of the last microbatch.
///
/// If `held` does not contain the result yet, there are two cases. If `from.by`
/// is `taker` itself, the result is a sum over the microbatches, and the
/// function returns zeros. If it is another function, returns an empty list.
RankTensors PipelineRun::takeHeld(func::FuncOp taker, const pipe::Held &from,
                                  unsigned argument,
                                  const SimulatedRanks &ranks) {
  int64_t microbatch = pipe::runsOnce(taker) ? mesh.sizeOf(dist::timeAxis) - 1
                                             : ranks.microbatch;
  auto at = held.find({from.by.str(), from.result, -1});
  if (at == held.end())
    at = held.find(
        {from.by.str(), from.result, std::max<int64_t>(microbatch, 0)});
  if (at != held.end())
    return at->second;
  if (!pipe::isAccumulator(taker.getArgument(argument)))
    return {};
  auto type = graph::tensorType(taker.getArgument(argument));
  return RankTensors(ranks.size(),
                     std::make_shared<const HostTensor>(HostTensor::zeros(
                         dist::shapeOf(type.getShape()),
                         graph::kindOf(type.getElementType()))));
}

/// Stores the results of `function` in the map `held`, from which other
/// functions of the same stage take them. results[i] has the tensors of result
/// i on all ranks. The key contains `microbatch`, or -1 if the result belongs
/// to all microbatches: `function` runs once per step, or the result is a sum
/// over the microbatches, such as the gradient of a weight. The new sum
/// replaces the sum of the earlier microbatches.
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

/// Executes the function of one action, such as the forward pass of one stage
/// on one microbatch, on the ranks of `position`, which run this stage. Stores
/// the results in the map `held` for later actions of the stage. Passes model
/// outputs to `listener.onOutput`. The message of an error names the action.
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

/// Executes the actions of each pipeline rank in order, until an action needs a
/// message that has not been sent. Then goes on with the next pipeline rank. If
/// no pipeline rank can continue, and actions are left (deadlock), returns an
/// error.
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
