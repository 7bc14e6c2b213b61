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
/// An SSA value of a stage function, or of the kernel that the op `caller`
/// launches. `caller` is null for a value of a stage function.
struct TracedValue {
  Value value;
  rank::LaunchOp caller;
};

/// Follows indices back to the input of the model from which they come.
class IndexTrace {
public:
  explicit IndexTrace(const SymbolTable &symbols) : symbols(symbols) {}

  /// Follows the value at `place` back to a function argument. Returns that
  /// argument, or null if another kind of op computes the indices.
  BlockArgument find(TracedValue place) const {
    auto [value, caller] = makerOf(place);
    if (auto argument = dyn_cast_or_null<BlockArgument>(value))
      return argument;
    Operation *op = value ? value.getDefiningOp() : nullptr;
    if (auto collective = dyn_cast_or_null<dist::CollectiveOp>(op))
      return find({collective.getInput(), caller});
    if (op && (graph::laysOutOperand(op) || isa<graph::CastOp>(op)))
      return find({op->getOperand(0), caller});
    // A mask selects an element of the input, or a constant.
    if (auto select = dyn_cast_or_null<graph::SelectOp>(op)) {
      BlockArgument input = find({select.getOnTrue(), caller});
      return input ? input : find({select.getOnFalse(), caller});
    }
    return {};
  }

private:
  /// Follows `place` back across function boundaries: from an argument of a
  /// kernel to the operand of its launch, from the result of a launch into the
  /// kernel, and from an argument of a function to the result of another
  /// function. Returns the value at the end: the result of an op, or an
  /// argument that no other function provides. Returns null for an argument of
  /// a kernel whose launch is unknown.
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

  /// Returns the value in the body of the kernel that a launch returns as
  /// `result`.
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
