//===- IndexChecks.cpp - which inputs are used as indices -----------------===//
//
// A table that is split over ranks is read with indices that count from the
// rank's first row; the way back to the input then passes what 5-localize has
// put there:
//
//   global = select(input < 0, input + size, input)
//   gather(table, select(mine, global - first, 0))
//
// The constant that is added tells the size of the whole table. What the model
// itself leaves out of its indices, by a slice or a mask, may hold anything.
//
//===----------------------------------------------------------------------===//

#include "passes/7-emit/program/IndexChecks.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/IR/Matchers.h"
#include "passes/7-emit/program/ModelFacts.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

static std::optional<int64_t> splatInteger(Value value) {
  DenseIntElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<APInt>().getSExtValue();
}

namespace {
/// What was met between a table's indices and an input.
struct Passed {
  std::optional<int64_t> size; ///< of the whole table
  bool allUsed = true;         ///< no element of the input was left out
};

/// Follows one index tensor back to an input of the stage function.
class IndexTrace {
public:
  /// `caller` launches the kernel whose body holds the value, or is null.
  IndexTrace(const SymbolTable &symbols, rank::LaunchOp caller)
      : symbols(symbols), caller(caller) {}

  /// The input; null if the values are computed.
  BlockArgument find(Value value, Passed &passed) {
    value = asMade(value);
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (isOfFunction(argument))
        return argument;
      return caller ? findOutside(argument, passed) : BlockArgument();
    }
    Operation *op = value.getDefiningOp();
    if (isa<graph::SliceOp>(op))
      passed.allUsed &= op->getResultTypes() == op->getOperandTypes();
    if (isa<graph::ReshapeOp, graph::CastOp, graph::TransposeOp, graph::SliceOp,
            graph::BroadcastOp>(op))
      return find(op->getOperand(0), passed);
    if (auto launch = dyn_cast<rank::LaunchOp>(op))
      return IndexTrace(symbols, launch)
          .find(yielded(cast<OpResult>(value)), passed);
    if (auto add = dyn_cast<graph::AddOp>(op)) {
      if (auto added = splatInteger(add.getRhs())) {
        passed.size = added;
        return find(add.getLhs(), passed);
      }
      return {};
    }
    if (auto sub = dyn_cast<graph::SubOp>(op))
      return isFirstRow(sub.getRhs()) ? find(sub.getLhs(), passed)
                                      : BlockArgument();
    if (auto select = dyn_cast<graph::SelectOp>(op))
      return findInSelect(select, passed);
    return {};
  }

private:
  static bool isOfFunction(BlockArgument argument) {
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  }

  /// Where a stage takes what it has computed for all microbatches, that.
  static Value asMade(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    Value held =
        argument && isOfFunction(argument) ? heldBy(argument) : Value();
    return held ? held : value;
  }

  BlockArgument findOutside(BlockArgument argument, Passed &passed) {
    return IndexTrace(symbols, nullptr)
        .find(caller.getOperand(argument.getArgNumber()), passed);
  }

  /// What a launch's result is in its kernel.
  Value yielded(OpResult result) const {
    auto launch = cast<rank::LaunchOp>(result.getOwner());
    return symbols.lookup<rank::KernelOp>(launch.getKernel())
        .getYield()
        .getOperand(result.getResultNumber());
  }

  /// A rank's first row comes from dist.global_index.
  bool isFirstRow(Value value) {
    value = asMade(value);
    if (auto argument = dyn_cast<BlockArgument>(value))
      return caller &&
             IndexTrace(symbols, nullptr)
                 .isFirstRow(caller.getOperand(argument.getArgNumber()));
    Operation *op = value.getDefiningOp();
    if (auto launch = dyn_cast<rank::LaunchOp>(op))
      return IndexTrace(symbols, launch)
          .isFirstRow(yielded(cast<OpResult>(value)));
    if (isa<graph::ReshapeOp, graph::CastOp, graph::SliceOp>(op))
      return isFirstRow(op->getOperand(0));
    return isa<dist::GlobalIndexOp>(op);
  }

  /// Whether 5-localize made it: indices that count from a rank's first row.
  bool isOffset(Value value) {
    value = asMade(value);
    if (auto argument = dyn_cast<BlockArgument>(value))
      return caller &&
             IndexTrace(symbols, nullptr)
                 .isOffset(caller.getOperand(argument.getArgNumber()));
    Operation *op = value.getDefiningOp();
    if (auto launch = dyn_cast_or_null<rank::LaunchOp>(op))
      return IndexTrace(symbols, launch)
          .isOffset(yielded(cast<OpResult>(value)));
    auto sub = dyn_cast_or_null<graph::SubOp>(op);
    return sub && isFirstRow(sub.getRhs());
  }

  /// select(input < 0, input + size, input), or a masked index.
  BlockArgument findInSelect(graph::SelectOp select, Passed &passed) {
    if (splatInteger(select.getOnFalse()) == 0) {
      passed.allUsed &= isOffset(select.getOnTrue());
      return find(select.getOnTrue(), passed);
    }
    Passed wrapping;
    BlockArgument wrapped = find(select.getOnTrue(), wrapping);
    BlockArgument plain = find(select.getOnFalse(), passed);
    if (!wrapped || wrapped != plain || !wrapping.size)
      return {};
    passed.size = wrapping.size;
    return plain;
  }

  const SymbolTable &symbols;
  rank::LaunchOp caller;
};

/// Collects the uses of one stage.
class IndexUseFinder {
public:
  explicit IndexUseFinder(ModuleOp module) : symbols(module) {}

  std::vector<IndexUse> run(func::FuncOp stage) {
    for (Operation &op : stage.front()) {
      auto launch = dyn_cast<rank::LaunchOp>(op);
      if (!launch) {
        visit(&op, &op, {});
        continue;
      }
      auto kernel = symbols.lookup<rank::KernelOp>(launch.getKernel());
      for (Operation &inner : kernel.getBody().front())
        visit(&inner, &op, launch);
    }
    return std::move(uses);
  }

private:
  void visit(Operation *op, Operation *user, rank::LaunchOp caller) {
    if (auto gather = dyn_cast<graph::GatherOp>(op))
      add(gather.getData(), gather.getIndices(), gather.getDim(), op, user,
          caller);
    else if (auto elements = dyn_cast<graph::GatherElementsOp>(op))
      add(elements.getData(), elements.getIndices(), elements.getDim(), op,
          user, caller);
  }

  void add(Value data, Value indices, int64_t dim, Operation *op,
           Operation *user, rank::LaunchOp caller) {
    Passed passed;
    BlockArgument input = IndexTrace(symbols, caller).find(indices, passed);
    if (!input)
      return;
    const int64_t bound =
        passed.size.value_or(graph::tensorType(data).getDimSize(dim));
    if (!known.insert({input.getAsOpaquePointer(), bound, passed.allUsed})
             .second)
      return;
    // A kernel is called after its last op.
    std::string node = graph::nodeName(op->getLoc()).str();
    if (node.empty())
      node = graph::nodeName(user->getLoc()).str();
    uses.push_back({input, user, bound, passed.allUsed,
                    tableName(data, caller, node), node});
  }

  static std::string tableName(Value data, rank::LaunchOp caller,
                               const std::string &node) {
    if (auto argument = dyn_cast<BlockArgument>(data); argument && caller)
      data = caller.getOperand(argument.getArgNumber());
    if (auto get = data.getDefiningOp<graph::GetParameterOp>())
      return "\"" + get.getParameter().str() + "\"";
    return "the table of \"" + node + "\"";
  }

  SymbolTable symbols;
  std::vector<IndexUse> uses;
  llvm::SmallSet<std::tuple<const void *, int64_t, bool>, 4> known;
};
} // namespace

std::vector<IndexUse> emit::findIndexUses(func::FuncOp stage) {
  return IndexUseFinder(stage->getParentOfType<ModuleOp>()).run(stage);
}
