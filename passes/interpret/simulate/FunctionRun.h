//===- FunctionRun.h - execution of one function on all ranks -------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_FUNCTIONRUN_H
#define PCC_PASSES_INTERPRET_SIMULATE_FUNCTIONRUN_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/reference/Evaluator.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/interpret/elements/WeightSource.h"
#include "passes/interpret/simulate/RandomRounding.h"
#include "passes/interpret/simulate/RankTensors.h"
#include "passes/interpret/simulate/SimulatedRanks.h"
#include "status/StatusOr.h"

namespace pcc::interpret {

/// Callbacks for ops that exchange values between a function and the rest of
/// the pipeline. `send` or `receive` may be null if the function has no
/// pipe.send or pipe.receive. If `read` is null, graph.get_parameter returns
/// the initial value of the parameter, such as the value in the files of the
/// model. If `write` is null, graph.set_parameter does nothing.
struct BoundaryHooks {
  /// Callback for each pipe.send (an op that sends a value to another stage).
  /// Gets the value's tensors on all ranks.
  std::function<void(pipe::SendOp, const RankTensors &)> send;
  /// Callback for each pipe.receive (an op that receives a value from another
  /// stage). Returns the value's tensors, one per rank. Returns an empty list
  /// if the other stage has not sent the value.
  std::function<RankTensors(pipe::ReceiveOp)> receive;
  /// Callback for each graph.get_parameter, an op that reads a parameter of the
  /// model, such as a weight. If an earlier training step has written a new
  /// value of the parameter, the callback returns the new value, as one tensor
  /// per rank. If no earlier training step has written the parameter, the
  /// callback returns an empty list. In this case, the op reads the initial
  /// value of the parameter, such as the value in the files of the model.
  std::function<RankTensors(graph::GetParameterOp)> read;
  /// Called for each graph.set_parameter, with the written value on all ranks.
  std::function<void(graph::SetParameterOp, const RankTensors &)> write;
};

/// Callback that gets every result of every op, on all ranks, as soon as it has
/// been computed.
using OnResult = std::function<void(mlir::OpResult, const RankTensors &)>;

/// Executes one function on all ranks of a stage, op by op. Values are freed
/// after their last use. An object can execute its function once.
class FunctionRun {
public:
  /// Prepares the execution of `function` on `ranks`. `weights` must exist
  /// until run() has returned. `numerics` tells whether op results stay f64 or
  /// are rounded to their element types. `onResult` may be null.
  FunctionRun(mlir::func::FuncOp function, SimulatedRanks ranks,
              WeightSource &weights, graph::Numerics numerics,
              BoundaryHooks hooks = {}, OnResult onResult = {});

  /// Makes run() add random rounding errors to the results of ops that combine
  /// many elements, such as a matrix product or a softmax. run() multiplies
  /// each element of the result by 1 + e or by 1 − e, chosen at random. The
  /// number e is the size of one rounding error. The object `random` generates
  /// the errors, and must outlive this object. addErrors() must be called
  /// before run().
  void addErrors(RandomRounding &random) { rounding = &random; }

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
  /// Executes one op on all ranks and returns its results. Error messages do
  /// not name the op; run() adds the name.
  Results step(mlir::Operation *op);
  /// Returns whether the compiler can fold `op` to a constant.
  bool folds(mlir::Operation *op);
  /// Executes `op`, an op of the graph dialect, on all ranks. Several ranks may
  /// point to the same tensor objects. For example, all ranks point to one
  /// tensor object for a replicated weight. If two ranks point to the same
  /// objects for all operands, the function executes `op` only once for the two
  /// ranks, and both ranks point to the same results.
  Results evaluateOp(mlir::Operation *op);
  /// Returns the parameter that `op`, a graph.get_parameter, reads, as one
  /// tensor per rank. If an earlier training step has written the parameter,
  /// returns the new value. Otherwise, cuts the tensor in `weights` into
  /// shards.
  Results readWeight(mlir::Operation *op);
  /// Executes a graph.set_parameter: passes the parameter's new value to the
  /// callback BoundaryHooks::write.
  Results writeWeight(mlir::Operation *op);
  /// Executes a collective on all ranks by calling evaluateCollective().
  Results runCollective(mlir::Operation *op);
  /// Executes a dist.global_index. Element i of the result on a rank is the
  /// global index along one dim for the local index i. If the local index i is
  /// padding, element i is the size of the dim. Example: for a dim of size 3,
  /// the results on two ranks are {0, 1} and {2, 3}. Here, 3 marks padding.
  Results globalIndex(mlir::Operation *op);
  /// Executes a pipe.send: passes its operand on all ranks to the callback
  /// BoundaryHooks::send.
  Results send(mlir::Operation *op);
  /// Executes a pipe.receive: returns the value that another stage has sent.
  /// Returns an error if the value has not been sent.
  Results receive(mlir::Operation *op);
  /// Executes a dist.pin, dist.reshard or pipe.transfer. These ops do not
  /// change the elements of a tensor: they change only its sharding or the
  /// pipeline stage that uses it. If there is only one rank, the rank holds the
  /// whole tensor, and the function returns the operand of `op`. If there are
  /// several ranks, the function returns an error, because the compiler removes
  /// all of these ops before a function can run on several ranks.
  Results passThrough(mlir::Operation *op);
  /// Skips a graph.check_indices, an op that checks the range of indices and
  /// has no results.
  Results leaveOut(mlir::Operation *op);

  mlir::func::FuncOp function;
  SimulatedRanks ranks;
  WeightSource &weights;
  graph::Numerics numerics;
  BoundaryHooks hooks;
  OnResult onResult;
  /// Random errors that are added to results; null if there are none.
  RandomRounding *rounding = nullptr;
  /// Tensors of all values that later ops still use.
  llvm::DenseMap<mlir::Value, RankTensors> values;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_FUNCTIONRUN_H
