//===- PipelineRun.h - the action tables of all positions -----------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_PIPELINERUN_H
#define PCC_PASSES_INTERPRET_SIMULATE_PIPELINERUN_H

#include "passes/interpret/elements/Inputs.h"
#include "passes/interpret/simulate/FunctionRun.h"
#include "passes/interpret/simulate/StageValue.h"
#include "passes/plan/schedule/ActionTable.h"

namespace pcc::interpret {

/// What a run tells while it goes on; either may be empty.
struct PipelineListener {
  /// An output of the model, by its name.
  std::function<void(llvm::StringRef, const StageValue &)> onOutput;
  /// The result of an op.
  std::function<void(const StageValue &)> onResult;
  /// What a step writes to a parameter.
  std::function<void(llvm::StringRef, const StageValue &)> onWrite;
};

/// Executes a module after 6-schedule: every position goes through its actions
/// in order, and waits where what an action receives has not been sent.
class PipelineRun {
public:
  PipelineRun(mlir::ModuleOp module, graph::Numerics numerics);

  /// Runs one step on whole inputs by name, with the weights that the steps
  /// before have written. Fails with an error if an action is none that can be
  /// interpreted, or if positions wait for each other.
  mlir::LogicalResult run(const Inputs &inputs, PipelineListener listener,
                          std::string &error);

private:
  struct Position {
    int64_t number = 0;
    std::vector<plan::Action> actions;
    size_t next = 0;
  };
  /// What travels: value, from, to, microbatch.
  using MessageKey = std::tuple<std::string, int64_t, int64_t, int64_t>;

  mlir::LogicalResult readTables(std::string &error);
  mlir::func::FuncOp functionOf(const plan::Action &action) const;
  bool isReady(const plan::Action &action);
  mlir::LogicalResult runAction(const Position &position,
                                const plan::Action &action, std::string &error);
  RankTensors takeArgument(mlir::func::FuncOp function, unsigned argument,
                           const SimulatedRanks &ranks);
  RankTensors takeHeld(mlir::func::FuncOp taker, const pipe::Held &from,
                       unsigned argument, const SimulatedRanks &ranks);
  void keepResults(mlir::func::FuncOp function,
                   const std::vector<RankTensors> &results, int64_t microbatch);
  BoundaryHooks hooksOf(const Position &position, int64_t stage,
                        int64_t microbatch);

  mlir::ModuleOp module;
  graph::Numerics numerics;
  dist::Mesh mesh;
  WeightSource weights;
  /// By stage and by what runs them.
  std::map<std::pair<int64_t, std::string>, mlir::func::FuncOp> functions;
  /// What functions gave to others of their stage in this step: by function,
  /// result, and microbatch or -1.
  std::map<std::tuple<std::string, unsigned, int64_t>, RankTensors> held;
  /// Parameters as steps have written them, by position and placement; and in
  /// this step.
  using Written =
      std::map<std::tuple<int64_t, std::string, std::string>, RankTensors>;
  Written written, pending;
  std::vector<Position> positions;
  std::map<MessageKey, RankTensors> inFlight;
  const Inputs *inputs = nullptr;
  PipelineListener listener;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_PIPELINERUN_H
