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
  /// Called with the name and the value of a model output, once per microbatch.
  /// An output that is computed once per step is passed once.
  std::function<void(llvm::StringRef, const StageValue &)> onOutput;
  /// Called with every result of every op.
  std::function<void(const StageValue &)> onResult;
  /// Called with the symbol name of a parameter and the value that is written
  /// to it.
  std::function<void(llvm::StringRef, const StageValue &)> onWrite;
};

/// Executes a module after phase 6-schedule on simulated ranks. Each pipeline
/// position (the stages that one rank runs) executes its list of actions in
/// order. An action is, for instance, the forward pass of one stage on one
/// microbatch. An action waits until all values that it receives have been
/// sent. Sends never wait, because the number of messages in flight is not
/// limited.
class PipelineRun {
public:
  /// Prepares the execution of `module`. Reads no weights: run() reads them
  /// when an op needs them.
  PipelineRun(mlir::ModuleOp module, graph::Numerics numerics);

  /// Executes one training or inference step, with all microbatches. `inputs`
  /// are the global input tensors by name. Weights have the values that earlier
  /// calls of this function wrote, or else those of the model. Returns an error
  /// if an action has no function, if an op cannot be executed, or if all
  /// pipeline positions wait for each other (deadlock).
  Status run(const Inputs &inputs, PipelineListener listener);

private:
  /// Action list of one pipeline position (the stages that one rank runs), and
  /// the progress of its execution.
  struct Position {
    int64_t number = 0;
    std::vector<plan::Action> actions;
    /// Index of the next action to execute.
    size_t next = 0;
  };
  /// Key of a message between stages: name of the value, sending stage,
  /// receiving stage, microbatch.
  using MessageKey = std::tuple<std::string, int64_t, int64_t, int64_t>;

  /// Reads the action tables (lists of actions in order) of all pipeline
  /// positions. Each position starts at its first action.
  Status readTables();
  /// Returns the function of the module that executes `action`; null if there
  /// is none.
  mlir::func::FuncOp functionOf(const plan::Action &action) const;
  /// Returns whether all values that `action` receives have been sent.
  bool isReady(const plan::Action &action);
  /// Executes one action on all ranks of its pipeline position.
  Status runAction(const Position &position, const plan::Action &action);
  /// Returns the value of a function's argument on all ranks: shards of a model
  /// input, or a value that another function of the stage has computed.
  RankTensors takeArgument(mlir::func::FuncOp function, unsigned argument,
                           const SimulatedRanks &ranks);
  /// Returns, on all ranks, the value of argument number `argument` of the
  /// function `taker`. The value is a result of a function of the same stage.
  /// `from`, the attribute `pipe.held` of the argument, has the name of that
  /// function and the index of the result.
  RankTensors takeHeld(mlir::func::FuncOp taker, const pipe::Held &from,
                       unsigned argument, const SimulatedRanks &ranks);
  /// Stores the results of a function in `held`, so that other functions of its
  /// stage can use them as arguments.
  void keepResults(mlir::func::FuncOp function,
                   const std::vector<RankTensors> &results, int64_t microbatch);
  /// Returns the callbacks that let a function send and receive messages, and
  /// read and write parameters.
  BoundaryHooks hooksOf(const Position &position, int64_t stage,
                        int64_t microbatch);

  mlir::ModuleOp module;
  graph::Numerics numerics;
  dist::Mesh mesh;
  WeightSource weights;
  /// Functions of the stages. The key is the number of the stage and the kind
  /// of action that the function executes, such as "F" (forward) or "B"
  /// (backward).
  std::map<std::pair<int64_t, std::string>, mlir::func::FuncOp> functions;
  /// Results of functions in this step, for other functions of their stage. The
  /// key is the symbol name of the function, the index of the result and the
  /// microbatch, which is -1 for results that all microbatches share.
  std::map<std::tuple<std::string, unsigned, int64_t>, RankTensors> held;
  /// Values of parameters. The key is the pipeline position, the symbol name,
  /// and a text for the sharding (dist::placementKey). The stages of a position
  /// may keep copies of a parameter with different shardings.
  using Written =
      std::map<std::tuple<int64_t, std::string, std::string>, RankTensors>;
  /// `written`: parameters after the earlier steps, which this step reads.
  /// `pending`: parameters that this step has written, which the next step will
  /// read.
  Written written, pending;
  std::vector<Position> positions;
  /// Messages that have been sent and not yet received.
  std::map<MessageKey, RankTensors> inFlight;
  const Inputs *inputs = nullptr;
  PipelineListener listener;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_PIPELINERUN_H
