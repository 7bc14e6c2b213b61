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
  /// Prepares the execution of `function`. The parameters are:
  ///
  ///  - `ranks`: the simulated ranks that execute the function.
  ///  - `weights`: reads the weights of the model from files. This object must
  ///    exist until run() has returned.
  ///  - `numerics`: tells whether op results are rounded to their element
  ///    types or stay f64.
  ///  - `hooks`: callbacks that exchange values with other pipeline stages,
  ///    and that read and write parameters.
  ///  - `onResult`: callback that is called with each op result. It may be
  ///    null.
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
  /// Returns the precision of the results of `op`. Numerics::Model means that
  /// each result is rounded to its element type, such as bf16. Numerics::Exact
  /// means that floats stay f64. If the compiler can fold `op` to a constant,
  /// the result is Numerics::Model, because the compiler rounds this constant.
  /// Otherwise, the result is the precision that the constructor got. If `op`
  /// is a constant or can be folded, the function adds the results of `op` to
  /// the member `constants`. Later calls look up their operands there, so call
  /// the function for each op in order.
  graph::Numerics numericsOf(mlir::Operation *op);
  /// Executes `op`, an op of the graph dialect, on all ranks. Several ranks may
  /// point to the same tensor objects. For example, all ranks point to one
  /// tensor object for a replicated weight. If two ranks point to the same
  /// objects for all operands, the function executes `op` only once for the two
  /// ranks, and both ranks point to the same results.
  Results evaluateOp(mlir::Operation *op);
  /// Returns the value of the parameter that `op` reads, as one tensor per
  /// rank. `op` is a graph.get_parameter. A parameter is, for example, a weight
  /// of the model. There are two cases:
  ///
  ///  - An earlier training step has written a new value of the parameter. The
  ///    function returns this new value.
  ///  - No earlier training step has written the parameter. The function reads
  ///    the global tensor of the parameter from the member `weights`, and cuts
  ///    out the shard of each rank.
  Results readWeight(mlir::Operation *op);
  /// Executes a graph.set_parameter: passes the parameter's new value to the
  /// callback BoundaryHooks::write.
  Results writeWeight(mlir::Operation *op);
  /// Executes a collective on all ranks by calling evaluateCollective().
  Results runCollective(mlir::Operation *op);
  /// Executes a dist.global_index. The result on each rank is a list of
  /// integers for one dim of a tensor. Entry i is the global index of the
  /// element with the local index i. If the rank has no element with the local
  /// index i, for example because i lies in the unused end of a buffer, entry i
  /// is the size of the dim.
  ///
  /// Example: a dim of size 3 is split over 2 ranks, and each rank has a buffer
  /// for 2 elements. The result is {0, 1} on rank 0 and {2, 3} on rank 1. The
  /// number 3 is the size of the dim, because the second place of the buffer is
  /// unused.
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
  /// Constants, and results of ops that the compiler folds to constants.
  llvm::DenseSet<mlir::Value> constants;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_FUNCTIONRUN_H
