//===- FunctionRun.h - execution of one function on all ranks -------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_FUNCTIONRUN_H
#define PCC_PASSES_INTERPRET_SIMULATE_FUNCTIONRUN_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/reference/Evaluator.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/interpret/elements/WeightSource.h"
#include "passes/interpret/simulate/RankTensors.h"
#include "passes/interpret/simulate/SimulatedRanks.h"
#include "status/StatusOr.h"

namespace pcc::interpret {

/// Callbacks for values that enter or leave a function while it is executed.
/// `send` must be set if the function contains a pipe.send, and `receive` if it
/// contains a pipe.receive. `read` and `write` may be null.
struct BoundaryHooks {
  /// Called for each pipe.send, with the tensors of its operand on all ranks.
  std::function<void(pipe::SendOp, const RankTensors &)> send;
  /// Returns the tensors that a receive yields, one per rank. Returns an empty
  /// list if the value has not been sent yet.
  std::function<RankTensors(pipe::ReceiveOp)> receive;
  /// Returns the value on all ranks that an earlier training step wrote to a
  /// parameter. If it returns an empty list, the weight is read from the
  /// WeightSource, which reads the model's files.
  std::function<RankTensors(graph::GetParameterOp)> read;
  /// Called for each graph.set_parameter, with the written value on all ranks.
  std::function<void(graph::SetParameterOp, const RankTensors &)> write;
};

/// Callback that gets every result of every op, on all ranks, as soon as it has
/// been computed.
using OnResult = std::function<void(mlir::OpResult, const RankTensors &)>;

/// Executes one function on all ranks of a stage. Each op is executed on all
/// ranks before the next op starts, so that a collective has the operands of
/// its whole group. Values are freed after their last use. An object can
/// execute its function once.
class FunctionRun {
public:
  /// Prepares the execution of `function`. `weights` must outlive this object.
  /// `onResult` may be null.
  FunctionRun(mlir::func::FuncOp function, SimulatedRanks ranks,
              WeightSource &weights, graph::Numerics numerics,
              BoundaryHooks hooks = {}, OnResult onResult = {});

  /// Executes the function and returns, for each result, its tensors on all
  /// ranks. `arguments` holds, for each argument, its tensors on all ranks. The
  /// message of an error names the op and its ONNX node.
  StatusOr<std::vector<RankTensors>> run(std::vector<RankTensors> arguments);

private:
  using Results = StatusOr<llvm::SmallVector<RankTensors>>;
  using Handler = Results (FunctionRun::*)(mlir::Operation *);

  /// Returns the table of ops with a special handler: op name → member function
  /// that executes the op. evaluateOp() executes all ops that are not in the
  /// table.
  static const llvm::StringMap<Handler> &handlers();
  /// Executes one op on all ranks and returns its results. The error messages
  /// of this function and of the private functions that it calls do not name
  /// the op; run() adds the name.
  Results step(mlir::Operation *op);
  /// Returns the precision in which `op` is evaluated: f64 throughout, or with
  /// results rounded to the model's types.
  graph::Numerics numericsOf(mlir::Operation *op);
  /// Evaluates a graph op on all ranks. Ranks whose operands are the same
  /// tensor objects share one evaluation.
  Results evaluateOp(mlir::Operation *op);
  /// Returns the parameter that the graph.get_parameter `op` reads, on all
  /// ranks. If an earlier training step wrote the parameter, returns the
  /// written value. Otherwise reads the weight and cuts each rank's shard out
  /// of it.
  Results readWeight(mlir::Operation *op);
  /// Passes the new value of a parameter to the callback BoundaryHooks::write.
  Results writeWeight(mlir::Operation *op);
  /// Executes a collective on all ranks by calling evaluateCollective().
  Results runCollective(mlir::Operation *op);
  /// Executes a dist.global_index: computes, on each rank, the global indices
  /// of its elements along one dim. Elements that are padding or holes (reads
  /// outside of the tensor) get the size of the dim as index.
  Results globalIndex(mlir::Operation *op);
  /// Passes the operand of a send to the callback BoundaryHooks::send.
  Results send(mlir::Operation *op);
  /// Returns the value that the callback BoundaryHooks::receive returns.
  /// Returns an error if the value has not been sent.
  Results receive(mlir::Operation *op);
  /// Returns the operand as the result of a pin, reshard or transfer. On a
  /// single rank, these ops change nothing. With several ranks, returns an
  /// error, because phase 5-localize should have removed these ops.
  Results passThrough(mlir::Operation *op);
  /// Does nothing: the op has no results, and only ends runs.
  Results leaveOut(mlir::Operation *op);

  mlir::func::FuncOp function;
  SimulatedRanks ranks;
  WeightSource &weights;
  graph::Numerics numerics;
  BoundaryHooks hooks;
  OnResult onResult;
  /// Tensors of all values that later ops still use.
  llvm::DenseMap<mlir::Value, RankTensors> values;
  /// Constants, and results of ops that the compiler folds to constants.
  llvm::DenseSet<mlir::Value> constants;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_FUNCTIONRUN_H
