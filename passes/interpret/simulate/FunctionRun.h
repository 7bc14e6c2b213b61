//===- FunctionRun.h - a function on all ranks of a stage -----------------===//

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

/// What crosses the borders of a function while it runs.
struct BoundaryHooks {
  std::function<void(pipe::SendOp, const RankTensors &)> send;
  /// Empty if the value is not there.
  std::function<RankTensors(pipe::ReceiveOp)> receive;
  /// What an earlier step has written to a parameter; empty if none has.
  std::function<RankTensors(graph::GetParameterOp)> read;
  std::function<void(graph::SetParameterOp, const RankTensors &)> write;
};

/// Told of every result as soon as it is there.
using OnResult = std::function<void(mlir::OpResult, const RankTensors &)>;

/// Executes one function op by op, every op on all ranks before the next one: a
/// collective sees the operands of its whole group. A value is freed after its
/// last use.
class FunctionRun {
public:
  FunctionRun(mlir::func::FuncOp function, SimulatedRanks ranks,
              WeightSource &weights, graph::Numerics numerics,
              BoundaryHooks hooks = {}, OnResult onResult = {});

  /// The results, or failure with an error that names the node.
  llvm::FailureOr<std::vector<RankTensors>>
  run(std::vector<RankTensors> arguments, std::string &error);

private:
  using Handler = llvm::FailureOr<llvm::SmallVector<RankTensors>> (
      FunctionRun::*)(mlir::Operation *, std::string &);
  using Results = llvm::FailureOr<llvm::SmallVector<RankTensors>>;

  static const llvm::StringMap<Handler> &handlers();
  Results step(mlir::Operation *op, std::string &error);
  graph::Numerics numericsOf(mlir::Operation *op);
  Results evaluateOp(mlir::Operation *op, std::string &error);
  Results readWeight(mlir::Operation *op, std::string &error);
  Results writeWeight(mlir::Operation *op, std::string &error);
  Results runCollective(mlir::Operation *op, std::string &error);
  Results globalIndex(mlir::Operation *op, std::string &error);
  Results send(mlir::Operation *op, std::string &error);
  Results receive(mlir::Operation *op, std::string &error);
  Results passThrough(mlir::Operation *op, std::string &error);

  mlir::func::FuncOp function;
  SimulatedRanks ranks;
  WeightSource &weights;
  graph::Numerics numerics;
  BoundaryHooks hooks;
  OnResult onResult;
  llvm::DenseMap<mlir::Value, RankTensors> values;
  /// Constants, and what folds to one.
  llvm::DenseSet<mlir::Value> constants;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_FUNCTIONRUN_H
