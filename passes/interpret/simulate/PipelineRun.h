//===- PipelineRun.h - execution of action tables on simulated ranks ------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_PIPELINERUN_H
#define PCC_PASSES_INTERPRET_SIMULATE_PIPELINERUN_H

#include "passes/interpret/elements/Inputs.h"
#include "passes/interpret/simulate/FunctionRun.h"
#include "passes/interpret/simulate/StageValue.h"
#include "passes/plan/schedule/ActionTable.h"

namespace pcc::interpret {

/// Callbacks that receive values while a pipeline is executed. Each callback
/// may be null. The tensors of a StageValue are valid during the call only.
struct PipelineListener {
  /// Called when a function of the module has computed an output of the model.
  /// The arguments are the name and the value of the output. Most functions are
  /// executed once per microbatch, and then the callback is called once per
  /// microbatch. Some functions are executed once for all microbatches. For an
  /// output of such a function, the callback is called once.
  std::function<void(llvm::StringRef, const StageValue &)> onOutput;
  /// Called with every result of every op.
  std::function<void(const StageValue &)> onResult;
  /// Callback for each graph.set_parameter. Gets the parameter's symbol name
  /// and new value.
  std::function<void(llvm::StringRef, const StageValue &)> onWrite;
};

/// Executes a module after phase 6-schedule on simulated ranks. Each pipeline
/// position (the stages that one rank runs) has a list of actions. An action
/// is, for example, the forward pass of one stage on one microbatch. A position
/// executes its actions in order. An action waits for the values that it
/// receives; a send never waits.
class PipelineRun {
public:
  /// Prepares the execution of `module`. Reads no weights: run() reads them
  /// when an op needs them.
  PipelineRun(mlir::ModuleOp module, graph::Numerics numerics);

  /// Executes one training or inference step with all microbatches. `inputs`
  /// holds the global input tensors by name. A weight has the value that an
  /// earlier call wrote; if none did, it has its value in the model. Errors:
  ///  - The module has no function for an action of the schedule.
  ///  - An op cannot be executed.
  ///  - All stages wait for messages (deadlock).
  Status run(const Inputs &inputs, PipelineListener listener);

private:
  /// Action list of one pipeline position (the stages that one rank runs), and
  /// the progress of its execution.
  struct Position {
    int64_t number = 0;
    std::vector<plan::Action> actions;
    /// Index in `actions` of the next action to execute.
    size_t next = 0;
  };
  /// Key of a message between stages: name of the value, sending stage,
  /// receiving stage, microbatch.
  using MessageKey = std::tuple<std::string, int64_t, int64_t, int64_t>;

  /// Reads the actions (such as the forward pass of a stage) of each pipeline
  /// position from the module. A position is the stages that one rank runs.
  /// Each position starts at its first action.
  Status readTables();
  /// Returns the function of the module that executes `action`; null if there
  /// is none.
  mlir::func::FuncOp functionOf(const plan::Action &action) const;
  /// Returns whether `action` can start: other stages have sent all values that
  /// its function receives.
  bool isReady(const plan::Action &action);
  /// Executes one action on all ranks that run the stage of the action.
  Status runAction(const Position &position, const plan::Action &action);
  /// Returns the value of a function's argument on all ranks: shards of a model
  /// input, or a value that another function of the stage has computed.
  RankTensors takeArgument(mlir::func::FuncOp function, unsigned argument,
                           const SimulatedRanks &ranks);
  /// Returns the value of one argument of the function `taker`, as one tensor
  /// per rank. `argument` is the number of the argument, counted from 0. The
  /// value is a result that a function of the same stage has returned before.
  /// `from` contains the name of this function and the number of the result.
  /// `ranks` holds the number of the microbatch for which `taker` is executed.
  ///
  /// The function that `from` names may be `taker` itself. In this case, the
  /// argument is a sum over the earlier microbatches, and it is zero in the
  /// first microbatch.
  RankTensors takeHeld(mlir::func::FuncOp taker, const pipe::Held &from,
                       unsigned argument, const SimulatedRanks &ranks);
  /// Stores the results of `function` for one microbatch in the member `held`.
  /// Other functions of the same stage take them as arguments.
  void keepResults(mlir::func::FuncOp function,
                   const std::vector<RankTensors> &results, int64_t microbatch);
  /// Returns the callbacks for one execution of a function of the stage
  /// `stage`. The function uses them to send and receive messages, and to read
  /// and write parameters.
  BoundaryHooks hooksOf(const Position &position, int64_t stage,
                        int64_t microbatch);

  mlir::ModuleOp module;
  graph::Numerics numerics;
  dist::Mesh mesh;
  WeightSource weights;
  /// Functions of the module. The key is the number of a stage and a kind of
  /// action, such as "F" (forward) or "B" (backward).
  std::map<std::pair<int64_t, std::string>, mlir::func::FuncOp> functions;
  /// Results of the functions that this step has executed. The key is the
  /// symbol name of the function, the index of the result, and the microbatch.
  /// Microbatch -1 marks a result for all microbatches, such as a gathered
  /// weight.
  std::map<std::tuple<std::string, unsigned, int64_t>, RankTensors> held;
  /// Values of parameters. The key is a pipeline position (the stages that one
  /// rank runs), the parameter's symbol name and the text of its sharding
  /// (dist::placementKey). One position may store a parameter in several
  /// shardings.
  using Written =
      std::map<std::tuple<int64_t, std::string, std::string>, RankTensors>;
  /// `written` holds the values of parameters that earlier calls of run() have
  /// written. `pending` holds the values that the current call of run() writes.
  /// During a call, all functions read `written`. At the end of a successful
  /// call, the values of `pending` replace those in `written`.
  Written written, pending;
  std::vector<Position> positions;
  /// Messages that have been sent and not yet received.
  std::map<MessageKey, RankTensors> inFlight;
  const Inputs *inputs = nullptr;
  PipelineListener listener;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_PIPELINERUN_H
