//===- IndexChecks.cpp - which inputs are used as indices -----------------===//
//
// A table that is split over ranks is read with indices that count from the
// rank's first row; the way back to the input then passes what 5-localize has
// put there:
//
//   global = select(input < 0, input + size, input)
//   gather(table, select(mine, global - first, 0))
//
// The constant that is added tells the size of the whole table.
//
//===----------------------------------------------------------------------===//

#include "passes/7-emit/program/IndexChecks.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/IR/Matchers.h"
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
/// Follows one index tensor back to an input of the stage function.
class IndexTrace {
public:
  /// `caller` launches the kernel whose body holds the value, or is null.
  IndexTrace(const SymbolTable &symbols, rank::LaunchOp caller)
      : symbols(symbols), caller(caller) {}

  /// The input; null if the values are computed. Sets `size` where a whole
  /// table's size was met on the way.
  BlockArgument find(Value value, std::optional<int64_t> &size) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (isa<func::FuncOp>(argument.getOwner()->getParentOp()))
        return argument;
      return caller ? findOutside(argument, size) : BlockArgument();
    }
    Operation *op = value.getDefiningOp();
    if (isa<graph::ReshapeOp, graph::CastOp, graph::TransposeOp, graph::SliceOp,
            graph::BroadcastOp>(op))
      return find(op->getOperand(0), size);
    if (auto launch = dyn_cast<rank::LaunchOp>(op))
      return IndexTrace(symbols, launch)
          .find(yielded(cast<OpResult>(value)), size);
    if (auto add = dyn_cast<graph::AddOp>(op)) {
      if (auto added = splatInteger(add.getRhs())) {
        size = added;
        return find(add.getLhs(), size);
      }
      return {};
    }
    if (auto sub = dyn_cast<graph::SubOp>(op))
      return isFirstRow(sub.getRhs()) ? find(sub.getLhs(), size)
                                      : BlockArgument();
    if (auto select = dyn_cast<graph::SelectOp>(op))
      return findInSelect(select, size);
    return {};
  }

private:
  BlockArgument findOutside(BlockArgument argument,
                            std::optional<int64_t> &size) {
    return IndexTrace(symbols, nullptr)
        .find(caller.getOperand(argument.getArgNumber()), size);
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

  /// select(input < 0, input + size, input), or a masked index.
  BlockArgument findInSelect(graph::SelectOp select,
                             std::optional<int64_t> &size) {
    if (splatInteger(select.getOnFalse()) == 0)
      return find(select.getOnTrue(), size);
    std::optional<int64_t> added;
    BlockArgument wrapped = find(select.getOnTrue(), added);
    BlockArgument plain = find(select.getOnFalse(), size);
    if (!wrapped || wrapped != plain || !added)
      return {};
    size = added;
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
    std::optional<int64_t> size;
    BlockArgument input = IndexTrace(symbols, caller).find(indices, size);
    if (!input)
      return;
    const int64_t bound =
        size.value_or(cast<RankedTensorType>(data.getType()).getDimSize(dim));
    if (!known.insert({input.getArgNumber(), bound}).second)
      return;
    // A kernel is called after its last op.
    std::string node = graph::nodeName(op->getLoc()).str();
    if (node.empty())
      node = graph::nodeName(user->getLoc()).str();
    uses.push_back({input, user, bound, tableName(data, caller, node), node});
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
  llvm::SmallSet<std::pair<unsigned, int64_t>, 4> known;
};
} // namespace

std::vector<IndexUse> emit::findIndexUses(func::FuncOp stage) {
  return IndexUseFinder(stage->getParentOfType<ModuleOp>()).run(stage);
}
