//===- PipelineRun.h - execution of action tables on simulated ranks ------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_PIPELINERUN_H
#define PCC_PASSES_INTERPRET_SIMULATE_PIPELINERUN_H

#include "passes/interpret/elements/Inputs.h"
#include "passes/interpret/simulate/FunctionRun.h"
#include "passes/interpret/simulate/StageValue.h"
#include "passes/plan/schedule/ActionTable.h"

namespace pcc::interpret {

/// Callbacks that receive tensors while the simulated ranks execute a pipeline.
/// Each callback may be null. A StageValue contains the tensors of one value,
/// such as an op result, on all ranks of a pipeline stage. A callback must not
/// use the StageValue after the callback has returned.
struct PipelineListener {
  /// Called when a function of the module has computed an output of the model.
  /// The arguments are the name and the value of the output. Most functions are
  /// executed once per microbatch, and then the callback is called once per
  /// microbatch. Some functions are executed once for all microbatches. For an
  /// output of such a function, the callback is called once.
  std::function<void(llvm::StringRef, const StageValue &)> onOutput;
  /// Called with every result of every op.
  std::function<void(const StageValue &)> onResult;
  /// Called when a graph.set_parameter has been executed. This op stores the
  /// new value of a parameter in a training step. The arguments of the callback
  /// are the symbol name of the parameter and the new value on all ranks of the
  /// stage.
  std::function<void(llvm::StringRef, const StageValue &)> onWrite;
};

/// Executes a partitioned model, a module after phase 6-schedule, on simulated
/// ranks. All ranks that run the same stages form a pipeline position. A
/// position executes its list of actions in order. An action executes one stage
/// function, usually for one microbatch. A position waits for a message that
/// has not been sent, but sends never wait.
class PipelineRun {
public:
  /// Prepares the execution of the functions of `module`. `numerics` is the
  /// precision of op results: Numerics::Exact keeps floats in f64, and
  /// Numerics::Model rounds them to their element types. The result of an op
  /// that the compiler can fold to a constant is always rounded.
  PipelineRun(mlir::ModuleOp module, graph::Numerics numerics);

  /// Executes one step of training or inference, with all its microbatches.
  /// `inputs` has global tensors. Ops read the parameters that earlier calls of
  /// run() have written. Returns an error if an op cannot be executed, or if
  /// stages wait for each other forever.
  Status run(const Inputs &inputs, PipelineListener listener);

private:
  /// One pipeline position. A pipeline position is a group of ranks that run
  /// the same pipeline stages. `number` is the number of the pipeline position,
  /// counted from 0. `actions` is the list of the actions that these ranks
  /// execute in one step, in order. An action is, for example, the forward pass
  /// of one stage on one microbatch. `next` is the number of actions that have
  /// been started in the current step.
  struct Position {
    int64_t number = 0;
    std::vector<plan::Action> actions;
    /// Index in `actions` of the next action to execute.
    size_t next = 0;
  };
  /// Key of a message between stages: name of the value, sending stage,
  /// receiving stage, microbatch.
  using MessageKey = std::tuple<std::string, int64_t, int64_t, int64_t>;

  /// Reads the actions of each pipeline rank from the module into `positions`.
  /// Returns an error if an action cannot be parsed, or if the module has no
  /// function for it.
  Status readTables();
  /// Returns the function of the module that must be executed for `action`. An
  /// action is an entry of the pipeline schedule. For example, the action 2F3
  /// is the forward pass of stage 2 on microbatch 3. For this action, the
  /// result is the function with the forward pass of stage 2. Returns null if
  /// the module has no such function.
  mlir::func::FuncOp functionOf(const plan::Action &action) const;
  /// Returns whether `action` can be executed now. An action is an entry of the
  /// pipeline schedule, such as the forward pass of one stage on one
  /// microbatch. The action can be executed if other stages have sent all
  /// values that the action receives.
  bool isReady(const plan::Action &action);
  /// Executes one action of the pipeline schedule, such as the forward pass of
  /// one stage on one microbatch. `position` describes the ranks that run this
  /// stage.
  Status runAction(const Position &position, const plan::Action &action);
  /// Returns argument number `argument` of `function`, as one tensor per rank.
  /// The argument is a model input, or a value that a function of the same
  /// stage has returned, such as an activation.
  RankTensors takeArgument(mlir::func::FuncOp function, unsigned argument,
                           const SimulatedRanks &ranks);
  /// Returns argument number `argument` of `taker`: the result `from.result` of
  /// the function `from.by` in the same stage. If `from.by` is `taker` itself,
  /// the argument is a sum over the earlier microbatches, such as a gradient.
  /// For the first microbatch, this sum is zero.
  RankTensors takeHeld(mlir::func::FuncOp taker, const pipe::Held &from,
                       unsigned argument, const SimulatedRanks &ranks);
  /// Stores the results of `function` in the member `held`. Later, these
  /// results are arguments of other functions of the same stage. For example,
  /// the backward pass takes the activations that the forward pass has
  /// returned. results[i] has the tensors of result i, one per rank.
  /// `microbatch` is the number of the microbatch for which `function` has been
  /// executed.
  void keepResults(mlir::func::FuncOp function,
                   const std::vector<RankTensors> &results, int64_t microbatch);
  /// Returns callbacks for one execution of a function of the stage `stage`.
  /// They send values to other stages, receive values, and read and write
  /// parameters. `position` describes the ranks that run the stage.
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
  /// Parameters, as one tensor per rank. The key has the pipeline rank, the
  /// name of the parameter, and its sharding as text (dist::placementKey()).
  /// Two stages of a pipeline rank may need a parameter in different shardings.
  using Written =
      std::map<std::tuple<int64_t, std::string, std::string>, RankTensors>;
  /// `written` has the parameters of earlier steps, which ops read. `pending`
  /// has the parameters that the current step has written, which no op of this
  /// step reads. run() moves them to `written` at the end of the step.
  Written written, pending;
  std::vector<Position> positions;
  /// Messages that have been sent and not yet received.
  std::map<MessageKey, RankTensors> inFlight;
  const Inputs *inputs = nullptr;
  PipelineListener listener;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_PIPELINERUN_H
