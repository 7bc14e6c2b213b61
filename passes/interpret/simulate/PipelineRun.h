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

/// Executes a partitioned model on simulated ranks. The model is a module after
/// the compiler phase 6-schedule. This phase makes the functions of each
/// pipeline stage, such as the forward pass of the stage. It also makes the
/// schedule of the pipeline.
///
/// A rank runs one or more stages. All ranks that run the same stages form a
/// pipeline position. The schedule has a list of actions for each position. An
/// action executes one function, usually for one microbatch. Some functions,
/// such as a weight update, run only once per step. A position executes its
/// actions in order. If an action needs a value that another stage has not sent
/// yet, the position waits. A stage that sends a value never waits.
class PipelineRun {
public:
  /// Creates an object that can execute the functions of `module`. The member
  /// function run() executes them. The constructor does not read the elements
  /// of weights: they are read when an op needs them. `numerics` is the
  /// precision of the results of ops:
  ///
  ///  - Numerics::Exact: all floats stay f64.
  ///  - Numerics::Model: each float is rounded to its element type, such as
  ///    bf16.
  ///
  /// There is one exception: a constant that the compiler can compute is
  /// rounded to its element type in both cases.
  PipelineRun(mlir::ModuleOp module, graph::Numerics numerics);

  /// Executes one step of training or inference, with all its microbatches.
  /// `inputs` has the global tensor of each model input, by name. `listener`
  /// gets outputs, op results and new parameter values. Ops read the weights
  /// that earlier calls of run() have written. A weight that no call has
  /// written has its value in the model. Returns an error if the module has no
  /// function for an action, if an op cannot be executed, or if stages wait for
  /// each other forever (deadlock).
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

  /// Reads the pipeline schedule from the module, and stores it in the member
  /// `positions`. This member gets one entry per pipeline position. A pipeline
  /// position is a group of ranks that run the same pipeline stages. The entry
  /// contains the list of the actions that these ranks execute in one step. An
  /// action is, for example, the forward pass of one stage on one microbatch.
  /// In each entry, Position::next is 0, because no action has been executed
  /// yet.
  ///
  /// Returns an error if the text of an action in the module cannot be parsed,
  /// or if the module has no function for an action.
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
  /// one stage on one microbatch. All ranks that run the same stages form a
  /// pipeline position. `position` is the pipeline position that executes the
  /// action.
  Status runAction(const Position &position, const plan::Action &action);
  /// Returns the value of one argument of `function`, as one tensor per rank.
  /// `argument` is the index of the argument, counted from 0. `ranks` has the
  /// mesh of the ranks and the number of the current microbatch. There are two
  /// cases:
  ///
  ///  - The argument is an input of the model. Each rank gets its shard of the
  ///    global input tensor.
  ///  - The argument is a value that a function of the same stage has returned.
  ///    For example, the backward pass takes an activation of the forward pass.
  ///    Each rank gets the tensor that it has stored for this value.
  RankTensors takeArgument(mlir::func::FuncOp function, unsigned argument,
                           const SimulatedRanks &ranks);
  /// Returns one argument of the function `taker`, as one tensor per rank. The
  /// argument is the result `from.result` of the function `from.by` in the same
  /// stage. For example, the backward pass takes an activation of the forward
  /// pass. `ranks.microbatch` is the microbatch for which `taker` is executed.
  /// If `from.by` is `taker` itself, the argument is a sum over the earlier
  /// microbatches, such as the gradient of a weight. For the first microbatch,
  /// this argument is zero.
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
  /// Returns four callbacks for one execution of a function. The function calls
  /// two of them to send values to other pipeline stages and to receive values
  /// from other stages. It calls the other two to read and to write parameters.
  ///
  /// The function belongs to the stage `stage`, and it processes the microbatch
  /// number `microbatch`. A rank can run several stages, and these stages
  /// together are a pipeline position. `position` is the pipeline position that
  /// runs `stage`.
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
  /// Map with values of parameters of the model, such as weights. The value of
  /// a parameter is one tensor per rank of a pipeline position. A pipeline
  /// position is a group of ranks that run the same pipeline stages. A key of
  /// the map has three parts:
  ///
  ///  - The number of the pipeline position, counted from 0.
  ///  - The symbol name of the parameter.
  ///  - The sharding of the parameter, as the text that dist::placementKey()
  ///    returns. Two stages of a pipeline position may need the parameter in
  ///    different shardings. In this case, the map has one entry for each of
  ///    these shardings.
  using Written =
      std::map<std::tuple<int64_t, std::string, std::string>, RankTensors>;
  /// Two maps with new values of the model's parameters, such as weights. A
  /// training step writes new values. One call of run() executes one step.
  ///
  ///  - `written` has the values that earlier steps have written. Ops that read
  ///    a parameter read the value in this map. If the map has no value for the
  ///    parameter, they read the value in the model.
  ///  - `pending` has the values that the current step has written. No op of
  ///    the current step reads these values. When the step has been executed
  ///    without an error, run() moves the values to `written`.
  Written written, pending;
  std::vector<Position> positions;
  /// Messages that have been sent and not yet received.
  std::map<MessageKey, RankTensors> inFlight;
  const Inputs *inputs = nullptr;
  PipelineListener listener;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_PIPELINERUN_H
