//===- VerifyScheduled.cpp - the gate of phase 6-schedule -----------------===//
//
// Proves that the action tables can run: every table is a valid schedule, every
// send has its receive, every action has its function, and no two ranks wait
// for each other forever.
//
//===----------------------------------------------------------------------===//

#include "dialects/diagnostics/EmitStatus.h"
#include "dialects/dist/ParameterPlacement.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/6-schedule/Passes.h"
#include "passes/6-schedule/PortCheck.h"
#include "passes/plan/schedule/DeadlockCheck.h"
#include "passes/plan/schedule/ScheduleCheck.h"
#include "status/Suggestions.h"
#include "llvm/Support/DebugLog.h"

#include <map>
#include <set>
#include <tuple>

#define DEBUG_TYPE "verify-scheduled"

namespace pcc::schedule {
#define GEN_PASS_DEF_VERIFYSCHEDULED
#include "passes/6-schedule/Passes.h.inc"
} // namespace pcc::schedule

using namespace mlir;
using namespace pcc;

namespace {
struct VerifyScheduled
    : pcc::schedule::impl::VerifyScheduledBase<VerifyScheduled> {
  /// Reads the pipeline schedule from the `pipe.actions` ops of the module.
  /// Each of these ops lists the actions of one rank along the pipeline axis of
  /// the mesh. An action is a text such as "1F0": stage 1 runs the forward pass
  /// (F) of microbatch 0. Emits an error and fails if the positions are not
  /// numbered from 0, if a stage does not exist or is not at exactly one
  /// position, or if a text is not an action.
  FailureOr<plan::ActionTable> readTable() {
    plan::ActionTable table;
    table.numStages =
        static_cast<int>(pipe::countOf(getOperation(), pipe::stagesName));
    table.numMicrobatches =
        static_cast<int>(pipe::countOf(getOperation(), pipe::microbatchesName));
    table.positionOfStage.assign(table.numStages, -1);
    for (auto op : getOperation().getOps<pipe::ActionsOp>())
      if (failed(readStages(op, table)) || failed(readActions(op, table)))
        return failure();
    for (int stage = 0; stage < table.numStages; ++stage)
      if (table.positionOfStage[stage] < 0)
        return getOperation().emitError() << "no 'pipe.actions' runs stage "
                                          << stage << " of " << table.numStages,
               failure();
    return table;
  }

  /// Sets the position of the stages that `op` lists in `table`, which has the
  /// rows of the positions in front of `op`.
  static LogicalResult readStages(pipe::ActionsOp op,
                                  plan::ActionTable &table) {
    const int position = table.numPositions();
    if (static_cast<int64_t>(op.getPosition()) != position)
      return op.emitOpError("is of position ")
             << op.getPosition() << ", expected " << position;
    for (int64_t stage : op.getStages()) {
      if (stage < 0 || stage >= table.numStages)
        return op.emitOpError("runs stage ")
               << stage << " of " << table.numStages;
      if (table.positionOfStage[stage] >= 0)
        return op.emitOpError("runs stage ")
               << stage << ", which position " << table.positionOfStage[stage]
               << " runs";
      table.positionOfStage[stage] = position;
    }
    return success();
  }

  /// Appends the actions of `op` to `table`, as the row of the next position.
  static LogicalResult readActions(pipe::ActionsOp op,
                                   plan::ActionTable &table) {
    auto &actions = table.positions.emplace_back();
    for (StringAttr text : op.getTable().getAsRange<StringAttr>()) {
      auto action = plan::parseAction(text.getValue().str());
      if (!action)
        return op.emitOpError("has '")
               << text.getValue() << "' in its table, which is not an action";
      actions.push_back(*action);
    }
    return success();
  }

  /// Emits an error at the `pipe.actions` of `position`, or at the module for
  /// position -1.
  InFlightDiagnostic emitErrorAt(int position) {
    for (auto op : getOperation().getOps<pipe::ActionsOp>())
      if (static_cast<int64_t>(op.getPosition()) == position)
        return op.emitError();
    return getOperation().emitError();
  }

  /// Converts `send`, an op of `function`, to a plan::Transfer: the sending
  /// stage, the receiving stage, and the pass (forward, backward or weight
  /// update) in which the value is sent.
  static plan::Transfer transferOf(pipe::SendOp send, func::FuncOp function) {
    const plan::SendPart kind =
        plan::sendPartOf(pipe::actionOf(function).str());
    return {static_cast<int>(pipe::stageOf(function)),
            static_cast<int>(send.getTo()), kind.kind, kind.part};
  }

  /// Sends by the name of their value, the sending and the receiving stage.
  using Sends = std::map<std::tuple<StringRef, int64_t, int64_t>, pipe::SendOp>;

  /// Returns all sends of the module. Emits an error unless each send has
  /// exactly one receive of equal name and type on the target stage.
  FailureOr<std::vector<plan::Transfer>> readTransfers() {
    std::vector<plan::Transfer> transfers;
    Sends sent;
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (auto send : function.getOps<pipe::SendOp>()) {
        transfers.push_back(transferOf(send, function));
        auto [first, isNew] = sent.try_emplace(
            {send.getValue(), pipe::stageOf(function), send.getTo()}, send);
        if (!isNew)
          return refuseSecond(send, first->second), failure();
      }
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (auto receive : function.getOps<pipe::ReceiveOp>()) {
        auto it = sent.find(
            {receive.getValue(), receive.getFrom(), pipe::stageOf(function)});
        if (it == sent.end())
          return refuseReceive(receive, sent), failure();
        if (it->second.getInput().getType() != receive.getType())
          return receive.emitOpError("waits for '")
                     << receive.getValue() << "' as " << receive.getType()
                     << ", which stage " << receive.getFrom() << " sends as "
                     << it->second.getInput().getType(),
                 failure();
        sent.erase(it);
      }
    if (!sent.empty())
      return sent.begin()->second.emitOpError("sends '")
                 << sent.begin()->second.getValue()
                 << "', which is never received",
             failure();
    return transfers;
  }

  /// Emits an error about `receive`, whose value is not among `sent`.
  static void refuseReceive(pipe::ReceiveOp receive, const Sends &sent) {
    std::vector<std::string> names;
    for (const auto &[key, send] : sent)
      names.push_back(std::get<0>(key).str());
    receive.emitOpError("waits for '")
        << receive.getValue() << "', which stage " << receive.getFrom()
        << " does not send to this stage"
        << didYouMean(receive.getValue(), names);
  }

  /// Emits an error about `send`, which sends what `first` sends.
  static void refuseSecond(pipe::SendOp send, pipe::SendOp first) {
    InFlightDiagnostic error = send.emitOpError("sends '")
                               << send.getValue() << "' to stage "
                               << send.getTo() << " a second time";
    error.attachNote(first.getLoc()) << "the first time is here";
  }

  /// Checks that each action in `table` has exactly one function, and that each
  /// function belongs to an action. Actions that differ only in the microbatch,
  /// such as "1F0" and "1F1", share one function. An action that is no forward
  /// or backward computation, such as an optimizer update, may occur only once
  /// per stage. Checks the arguments of all functions with checkHeld(). Emits
  /// an error and fails at the first violation.
  LogicalResult checkFunctions(const plan::ActionTable &table) {
    std::set<std::pair<int64_t, std::string>> run;
    for (const auto &row : table.positions)
      for (const plan::Action &action : row)
        if (!run.insert({action.stage, plan::printKind(action)}).second &&
            !plan::isCompute(action.kind))
          return emitErrorAt(table.positionOfStage[action.stage])
                 << "stage " << action.stage << " runs "
                 << plan::printKind(action) << " more than once";
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!run.erase({pipe::stageOf(function), pipe::actionOf(function).str()}))
        return function.emitOpError("is the function of stage ")
               << pipe::stageOf(function) << " for action "
               << pipe::actionOf(function)
               << ", which is not in the table or has another function";
      for (BlockArgument argument : function.getArguments())
        if (failed(checkHeld(argument)))
          return failure();
    }
    if (!run.empty())
      return emitErrorAt(table.positionOfStage[run.begin()->first])
             << "stage " << run.begin()->first << " has no function for "
             << run.begin()->second;
    return success();
  }

  /// Checks the attribute `pipe.held` of `argument`. The attribute must name a
  /// function of the same stage, and one of its results with the type of
  /// `argument`. Only an argument with a name, which is an input of the model,
  /// may have no `pipe.held`. Otherwise emits an error and fails.
  static LogicalResult checkHeld(BlockArgument argument) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto held = pipe::heldOf(argument);
    if (!held && !function.getArgAttr(argument.getArgNumber(), graph::nameName))
      return emitError(argument.getLoc())
             << "argument " << argument.getArgNumber() << " of @"
             << function.getName() << " has neither '" << graph::nameName
             << "', as an input of the model, nor '" << pipe::heldName
             << "', as a value that the stage holds";
    if (!held)
      return success();
    FunctionOpInterface maker = pipe::makerOf(argument);
    if (maker && pipe::stageOf(maker) == pipe::stageOf(function) &&
        held->result < maker.getNumResults() &&
        maker.getResultTypes()[held->result] == argument.getType())
      return success();
    return function.emitOpError("takes result ")
           << held->result << " of @" << held->by << " as "
           << argument.getType() << ", which stage " << pipe::stageOf(function)
           << " does not compute";
  }

  /// Checks that each write to a parameter has a target. A rank stores one copy
  /// of a parameter for each sharding in which the stages of the rank read the
  /// parameter. The rank must therefore have a copy in the sharding of the
  /// write. A parameter that no stage reads, such as a sum for a later step, is
  /// stored in the sharding of the write, so this write is valid. Emits an
  /// error and fails at the first write without a target.
  LogicalResult checkWrites(const plan::ActionTable &table) {
    std::set<std::tuple<int, StringRef, std::string>> copies;
    std::set<StringRef> read;
    const auto copyOf = [&](Operation *op, StringRef name,
                            dist::ShardingAttr as, Value value) {
      const auto stage = pipe::stageOf(op->getParentOfType<func::FuncOp>());
      return std::tuple(
          table.positionOfStage[stage], name,
          dist::placementKey(as, graph::tensorType(value).getRank()));
    };
    getOperation().walk([&](graph::GetParameterOp get) {
      read.insert(get.getParameter());
      copies.insert(copyOf(get, get.getParameter(),
                           dist::shardingOf(get.getResult()), get.getResult()));
    });
    const auto hasCopy = [&](graph::SetParameterOp set) {
      auto as = set->getAttrOfType<dist::ShardingAttr>(dist::placementName);
      return !read.count(set.getParameter()) ||
             copies.count(copyOf(set, set.getParameter(), as, set.getValue()));
    };
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (auto set : function.getOps<graph::SetParameterOp>())
        if (!hasCopy(set))
          return set.emitOpError("writes '")
                 << set.getParameter()
                 << "' in a sharding in which no stage of "
                 << "its ranks reads it; see '" << dist::placementName << "'";
    return success();
  }

  /// Checks the actions, the functions and the messages of the pipeline
  /// schedule. Simulates all ranks to find deadlocks. Emits an error and fails
  /// at the first check that does not hold.
  LogicalResult check() {
    auto table = readTable();
    if (failed(table))
      return failure();
    auto transfers = readTransfers();
    if (failed(transfers) || failed(schedule::checkPorts(getOperation())))
      return failure();
    for (const plan::ScheduleClaim &claim : plan::checkSchedule(*table))
      return emitErrorAt(claim.position)
             << "the actions are no valid schedule: " << claim.text;
    if (failed(checkFunctions(*table)) || failed(checkWrites(*table)))
      return failure();
    auto lowered = plan::insertMessages(*table, *transfers);
    if (!lowered)
      return emitStatus(
          getOperation(),
          lowered.status().prefixed("the messages cannot be ordered: "));
    plan::ReplayResult replayed = plan::replay(*lowered);
    if (!replayed.terminates())
      return getOperation().emitError()
             << "ranks would wait for each other forever: " << replayed.error;
    numMessages += transfers->size();
    LDBG() << "replayed " << transfers->size() << " transfers";
    return success();
  }

  void runOnOperation() override {
    if (failed(check()))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
