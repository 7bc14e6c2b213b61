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
/// `send` and `receive` must be set if the function has such ops. `read` and
/// `write` may be null.
struct BoundaryHooks {
  /// Called with each send and its operand on all ranks.
  std::function<void(pipe::SendOp, const RankTensors &)> send;
  /// Returns the value for a receive on all ranks; an empty list if it has not
  /// been sent yet.
  std::function<RankTensors(pipe::ReceiveOp)> receive;
  /// Returns the value on all ranks that an earlier step wrote to a parameter.
  /// If it returns an empty list, the weight is read from the WeightSource.
  std::function<RankTensors(graph::GetParameterOp)> read;
  /// Called with each write of a parameter and the written value on all ranks.
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

  /// Executes the function and returns the tensors of each result on all ranks.
  /// `arguments` holds those of each argument. The message of an error names
  /// the op and its ONNX node.
  StatusOr<std::vector<RankTensors>> run(std::vector<RankTensors> arguments);

private:
  using Results = StatusOr<llvm::SmallVector<RankTensors>>;
  using Handler = Results (FunctionRun::*)(mlir::Operation *);

  /// Returns the table of ops that a member function of this class executes, by
  /// op name. evaluateOp() executes all other ops.
  static const llvm::StringMap<Handler> &handlers();
  /// Executes one op on all ranks and returns its results. The error messages
  /// of this function and of the private functions that it calls do not name
  /// the op; run() adds the name.
  Results step(mlir::Operation *op);
  /// Returns whether `op` is evaluated in f64 or with rounding to the model's
  /// types.
  graph::Numerics numericsOf(mlir::Operation *op);
  /// Evaluates a graph op on all ranks. Ranks whose operands are the same
  /// tensor objects share one evaluation.
  Results evaluateOp(mlir::Operation *op);
  /// Returns the value that an earlier step wrote to a parameter. If there is
  /// none, reads the weight and cuts each rank's shard out of it.
  Results readWeight(mlir::Operation *op);
  /// Passes the new value of a parameter to the callback BoundaryHooks::write.
  Results writeWeight(mlir::Operation *op);
  /// Executes a collective, as evaluateCollective() describes.
  Results runCollective(mlir::Operation *op);
  /// Computes the global indices of a rank's elements along one dim. Local
  /// elements that are padding or holes (reads outside of the tensor) get the
  /// size of the dim as index.
  Results globalIndex(mlir::Operation *op);
  /// Passes the operand of a send to the callback BoundaryHooks::send.
  Results send(mlir::Operation *op);
  /// Returns the value that the callback BoundaryHooks::receive returns.
  /// Returns an error if the value has not been sent.
  Results receive(mlir::Operation *op);
  /// Returns the operand as the result of a pin, reshard or transfer: on one
  /// rank these do nothing. Returns an error with several ranks, because phase
  /// 5-localize has replaced these ops.
  Results passThrough(mlir::Operation *op);

  mlir::func::FuncOp function;
  SimulatedRanks ranks;
  WeightSource &weights;
  graph::Numerics numerics;
  BoundaryHooks hooks;
  OnResult onResult;
  /// Tensors of all values that later ops still use.
  llvm::DenseMap<mlir::Value, RankTensors> values;
  /// Constants, and results of ops that compilation folds to constants.
  llvm::DenseSet<mlir::Value> constants;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_FUNCTIONRUN_H
