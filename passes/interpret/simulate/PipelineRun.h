//===- PipelineRun.h - execution of action tables on simulated ranks ------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_PIPELINERUN_H
#define PCC_PASSES_INTERPRET_SIMULATE_PIPELINERUN_H

#include "passes/interpret/elements/Inputs.h"
#include "passes/interpret/simulate/FunctionRun.h"
#include "passes/interpret/simulate/StageValue.h"
#include "passes/plan/schedule/ActionTable.h"

namespace pcc::interpret {

/// Callbacks that receive values while a pipeline runs. Each may be null. The
/// tensors of a StageValue are valid only during the call.
struct PipelineListener {
  /// Called with the name and value of a model output, once per microbatch, or
  /// once per step if the output is computed once per step.
  std::function<void(llvm::StringRef, const StageValue &)> onOutput;
  /// Called with every result of every op.
  std::function<void(const StageValue &)> onResult;
  /// Called with the symbol name of a parameter and the value written to it.
  std::function<void(llvm::StringRef, const StageValue &)> onWrite;
};

/// Executes a module after `6-schedule` on simulated ranks. Each pipeline
/// position executes its action table in order. An action waits until all
/// values that it receives have been sent. Messages are unbounded, so sends
/// never wait.
class PipelineRun {
public:
  /// Prepares the execution of `module`, without reading any weight.
  PipelineRun(mlir::ModuleOp module, graph::Numerics numerics);

  /// Executes one step. `inputs` are the global input tensors by name. Weights
  /// are those that earlier steps of this object wrote, or else the model's.
  /// Fails with a message in `error` if an action has no function, if an op
  /// cannot be executed, or if no position can proceed (deadlock).
  mlir::LogicalResult run(const Inputs &inputs, PipelineListener listener,
                          std::string &error);

private:
  /// Progress of one pipeline position.
  struct Position {
    int64_t number = 0;
    std::vector<plan::Action> actions;
    /// Index of the next action.
    size_t next = 0;
  };
  /// Key of a message between stages: name of the value, sending stage,
  /// receiving stage, microbatch.
  using MessageKey = std::tuple<std::string, int64_t, int64_t, int64_t>;

  /// Reads the action tables of all positions and sets all positions to their
  /// first action.
  mlir::LogicalResult readTables(std::string &error);
  /// Returns the function that executes `action`; null if there is none.
  mlir::func::FuncOp functionOf(const plan::Action &action) const;
  /// Returns whether all values that `action` receives have been sent.
  bool isReady(const plan::Action &action);
  /// Executes one action on all ranks of its position.
  mlir::LogicalResult runAction(const Position &position,
                                const plan::Action &action, std::string &error);
  /// Returns the value of a function argument on all ranks: shards of an input,
  /// or a value that another function of the stage computed.
  RankTensors takeArgument(mlir::func::FuncOp function, unsigned argument,
                           const SimulatedRanks &ranks);
  /// Returns the value of an argument that has `pipe.held`, `from` being its
  /// contents.
  RankTensors takeHeld(mlir::func::FuncOp taker, const pipe::Held &from,
                       unsigned argument, const SimulatedRanks &ranks);
  /// Records the results of a function for other functions of the stage.
  void keepResults(mlir::func::FuncOp function,
                   const std::vector<RankTensors> &results, int64_t microbatch);
  /// Returns the callbacks that connect a function to messages and parameters.
  BoundaryHooks hooksOf(const Position &position, int64_t stage,
                        int64_t microbatch);

  mlir::ModuleOp module;
  graph::Numerics numerics;
  dist::Mesh mesh;
  WeightSource weights;
  /// Functions of the stages, by stage and kind of action.
  std::map<std::pair<int64_t, std::string>, mlir::func::FuncOp> functions;
  /// Results of functions in this step, for other functions of their stage. The
  /// key is: symbol name of the function, index of the result, microbatch. The
  /// microbatch is -1 for results that all microbatches share.
  std::map<std::tuple<std::string, unsigned, int64_t>, RankTensors> held;
  /// Values of parameters by position, parameter and placement, since the
  /// stages of a position may keep copies in several placements
  /// (placementKey()).
  using Written =
      std::map<std::tuple<int64_t, std::string, std::string>, RankTensors>;
  /// Parameters after the steps before, which this step reads, and parameters
  /// that this step has written, which the next step will read.
  Written written, pending;
  std::vector<Position> positions;
  /// Messages that have been sent and not yet received.
  std::map<MessageKey, RankTensors> inFlight;
  const Inputs *inputs = nullptr;
  PipelineListener listener;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_PIPELINERUN_H
