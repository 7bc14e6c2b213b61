//===- IndexInputs.cpp - inputs of the model that hold indices ------------===//
//
// Every graph.check_indices is traced back from its operand to an input of the
// model, through ops that move elements or mask them.
//
//===----------------------------------------------------------------------===//

#include "passes/7-emit/program/IndexInputs.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/rank/RankDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

namespace {
/// SSA value in a stage function or in the body of a kernel. If `value` is in a
/// stage function, `caller` is null. If `value` is in the body of a kernel,
/// `caller` is a launch of this kernel. A launch is an op of a stage function
/// that runs a kernel. The operands of the launch are the arguments of the
/// kernel.
struct TracedValue {
  Value value;
  rank::LaunchOp caller;
};

/// Finds the input of the model that contains the indices of a
/// graph.check_indices op. This op ends the run with an error if one of its
/// indices is out of range. The operand of the op can be an input of the model,
/// such as token ids. The operand can also be a value that other ops compute
/// from the input, such as a slice of the token ids.
class IndexTrace {
public:
  explicit IndexTrace(const SymbolTable &symbols) : symbols(symbols) {}

  /// Follows `place` (an SSA value) back to a function argument. Looks through
  /// casts, masks, collectives, and layout ops such as slices. Returns null if
  /// another kind of op computes the value.
  BlockArgument find(TracedValue place) const {
    auto [value, caller] = makerOf(place);
    if (auto argument = dyn_cast_or_null<BlockArgument>(value))
      return argument;
    Operation *op = value ? value.getDefiningOp() : nullptr;
    if (auto collective = dyn_cast_or_null<dist::CollectiveOp>(op))
      return find({collective.getInput(), caller});
    if (op && (graph::laysOutOperand(op) || isa<graph::CastOp>(op)))
      return find({op->getOperand(0), caller});
    // A graph.select op can mask the indices: the op keeps some indices, and
    // replaces all other indices by a constant. The indices can be the operand
    // onTrue or the operand onFalse. The constant is the other operand. Try
    // onTrue first. If onTrue does not come from a function argument, try
    // onFalse.
    if (auto select = dyn_cast_or_null<graph::SelectOp>(op)) {
      BlockArgument input = find({select.getOnTrue(), caller});
      return input ? input : find({select.getOnFalse(), caller});
    }
    return {};
  }

private:
  /// Traces a value back across kernels and functions, until none of these
  /// cases applies:
  ///
  /// - An argument of a kernel: goes on with the operand of the launch
  ///   `place.caller`. Returns null if there is no launch.
  /// - An argument of a function that takes a result of another function: goes
  ///   on with this result.
  /// - A result of a launch: goes on with the value that the kernel yields.
  TracedValue makerOf(TracedValue place) const {
    while (true) {
      auto argument = dyn_cast<BlockArgument>(place.value);
      if (argument && !isa<func::FuncOp>(argument.getOwner()->getParentOp())) {
        if (!place.caller)
          return {};
        place = {place.caller.getOperand(argument.getArgNumber()), nullptr};
      } else if (Value held = argument ? pipe::heldBy(argument) : Value()) {
        place = {held, nullptr};
      } else if (auto launch = place.value.getDefiningOp<rank::LaunchOp>()) {
        place = {yielded(cast<OpResult>(place.value)), launch};
      } else {
        return place;
      }
    }
  }

  /// Returns the value that a kernel yields for `result`. `result` is a result
  /// of a launch, which is an op that runs a kernel. A `yield` op ends the body
  /// of the kernel. The operands of the `yield` op are the results of the
  /// launch. Returns the operand that has the same index as `result`. Example:
  /// the body ends with `yield %x, %y`, and `result` is result 1 of the launch.
  /// Returns %y.
  Value yielded(OpResult result) const {
    auto launch = cast<rank::LaunchOp>(result.getOwner());
    return symbols.lookup<rank::KernelOp>(launch.getKernel())
        .getYield()
        .getOperand(result.getResultNumber());
  }

  const SymbolTable &symbols;
};
} // namespace

std::vector<IndexInput> emit::findIndexInputs(func::FuncOp stage) {
  const SymbolTable symbols(stage->getParentOfType<ModuleOp>());
  const IndexTrace trace(symbols);
  std::vector<IndexInput> inputs;
  for (auto check : stage.getOps<graph::CheckIndicesOp>())
    if (BlockArgument input = trace.find({check.getIndices(), nullptr}))
      inputs.push_back({input, *llvm::min_element(check.getSizes())});
  return inputs;
}
