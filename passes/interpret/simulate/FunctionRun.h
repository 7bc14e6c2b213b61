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

namespace pcc::interpret {

/// Callbacks for values that enter or leave a function while it runs. `send`
/// and `receive` must be set if the function has such ops; `read` and `write`
/// may be null.
struct BoundaryHooks {
  /// Takes the operand of a send, on all ranks.
  std::function<void(pipe::SendOp, const RankTensors &)> send;
  /// Returns the value that a receive waits for, or an empty list if it has not
  /// been sent.
  std::function<RankTensors(pipe::ReceiveOp)> receive;
  /// Returns the value that an earlier step wrote to a parameter, or an empty
  /// list if none did. The weight is then read from the WeightSource.
  std::function<RankTensors(graph::GetParameterOp)> read;
  /// Takes the value that the function writes to a parameter.
  std::function<void(graph::SetParameterOp, const RankTensors &)> write;
};

/// Callback that is called with every result as soon as it has been computed.
using OnResult = std::function<void(mlir::OpResult, const RankTensors &)>;

/// Executes one function on all ranks of a stage. Every op is executed on all
/// ranks before the next op begins, so a collective finds the operands of its
/// whole group. Values are freed after their last use. An object executes its
/// function once.
class FunctionRun {
public:
  /// Prepares the execution of `function`. `weights` must outlive this object.
  /// `onResult` may be null.
  FunctionRun(mlir::func::FuncOp function, SimulatedRanks ranks,
              WeightSource &weights, graph::Numerics numerics,
              BoundaryHooks hooks = {}, OnResult onResult = {});

  /// Executes the function and returns its results. `arguments` has the tensors
  /// of every argument, on all ranks. On failure `error` holds a message that
  /// names the op and its ONNX node.
  llvm::FailureOr<std::vector<RankTensors>>
  run(std::vector<RankTensors> arguments, std::string &error);

private:
  using Handler = llvm::FailureOr<llvm::SmallVector<RankTensors>> (
      FunctionRun::*)(mlir::Operation *, std::string &);
  using Results = llvm::FailureOr<llvm::SmallVector<RankTensors>>;

  /// Returns the table, by op name, of the ops that a member function of this
  /// class executes. All other ops are executed by evaluateOp().
  static const llvm::StringMap<Handler> &handlers();
  /// Executes one op on all ranks and returns its results. Like all functions
  /// below, it fails with a message that does not name the op.
  Results step(mlir::Operation *op, std::string &error);
  /// Returns the precision in which `op` is evaluated.
  graph::Numerics numericsOf(mlir::Operation *op);
  /// Evaluates a graph op, once for ranks whose operands are the same tensors.
  Results evaluateOp(mlir::Operation *op, std::string &error);
  /// Returns the value that an earlier step wrote to a parameter; if there is
  /// none, reads the weight and gives each rank its shard.
  Results readWeight(mlir::Operation *op, std::string &error);
  /// Passes the new value of a parameter to BoundaryHooks::write.
  Results writeWeight(mlir::Operation *op, std::string &error);
  /// Executes a collective, see evaluateCollective().
  Results runCollective(mlir::Operation *op, std::string &error);
  /// Computes the global index of every local element of a dim. Padding and
  /// holes get the size of the dim.
  Results globalIndex(mlir::Operation *op, std::string &error);
  /// Passes the operand to BoundaryHooks::send.
  Results send(mlir::Operation *op, std::string &error);
  /// Takes the result from BoundaryHooks::receive. Fails if it is not there.
  Results receive(mlir::Operation *op, std::string &error);
  /// Returns the operand as the result of a pin, reshard or transfer, which are
  /// identities on one rank. Fails with several ranks, where they are gone.
  Results passThrough(mlir::Operation *op, std::string &error);

  mlir::func::FuncOp function;
  SimulatedRanks ranks;
  WeightSource &weights;
  graph::Numerics numerics;
  BoundaryHooks hooks;
  OnResult onResult;
  /// Tensors of all values that still have uses.
  llvm::DenseMap<mlir::Value, RankTensors> values;
  /// Constants, and results of ops that fold to constants.
  llvm::DenseSet<mlir::Value> constants;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_FUNCTIONRUN_H
