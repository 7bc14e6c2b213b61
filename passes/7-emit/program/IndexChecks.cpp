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
#include "dialects/pipe/PipeDialect.h"
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
  std::optional<int64_t> size;    ///< of the whole table
  std::optional<int64_t> ignored; ///< elements of this value index nothing
  bool allUsed = true;            ///< no element of the input was left out
};

/// A value, and the launch in whose kernel it is, or null.
struct TracedValue {
  Value value;
  rank::LaunchOp caller;
};

/// Follows one index tensor back to an input of the stage function.
class IndexTrace {
public:
  explicit IndexTrace(const SymbolTable &symbols) : symbols(symbols) {}

  /// The input; null if the values are computed.
  BlockArgument find(TracedValue place, Passed &passed) const {
    auto [value, caller] = makerOf(place);
    if (auto argument = dyn_cast_or_null<BlockArgument>(value))
      return argument;
    Operation *op = value ? value.getDefiningOp() : nullptr;
    if (auto collective = dyn_cast_or_null<dist::CollectiveOp>(op))
      return moves(collective) ? find({collective.getInput(), caller}, passed)
                               : BlockArgument();
    if (isa_and_present<graph::SliceOp>(op))
      passed.allUsed &= op->getResultTypes() == op->getOperandTypes();
    if (isa_and_present<graph::ReshapeOp, graph::CastOp, graph::TransposeOp,
                        graph::SliceOp, graph::BroadcastOp>(op))
      return find({op->getOperand(0), caller}, passed);
    if (auto add = dyn_cast_or_null<graph::AddOp>(op)) {
      passed.size = splatAt({add.getRhs(), caller});
      return passed.size ? find({add.getLhs(), caller}, passed)
                         : BlockArgument();
    }
    if (auto sub = dyn_cast_or_null<graph::SubOp>(op))
      return isFirstRow({sub.getRhs(), caller})
                 ? find({sub.getLhs(), caller}, passed)
                 : BlockArgument();
    if (auto select = dyn_cast_or_null<graph::SelectOp>(op))
      return findInSelect(select, caller, passed);
    return {};
  }

private:
  static bool isOfFunction(BlockArgument argument) {
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  }

  /// Whether ranks give each other all elements as they are.
  static bool moves(dist::CollectiveOp collective) {
    return collective.getFrom().getSharding().partials.empty() &&
           collective.getTo().getSharding().partials.empty() &&
           collective.getRows().empty();
  }

  /// What a function takes of another, and a kernel of its caller, is followed
  /// to what makes it: an op, or an argument of the function; null if a kernel
  /// is looked at by itself.
  TracedValue makerOf(TracedValue place) const {
    while (true) {
      auto argument = dyn_cast<BlockArgument>(place.value);
      if (argument && !isOfFunction(argument)) {
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

  std::optional<int64_t> splatAt(TracedValue place) const {
    Value value = makerOf(place).value;
    return value ? splatInteger(value) : std::nullopt;
  }

  /// What a launch's result is in its kernel.
  Value yielded(OpResult result) const {
    auto launch = cast<rank::LaunchOp>(result.getOwner());
    return symbols.lookup<rank::KernelOp>(launch.getKernel())
        .getYield()
        .getOperand(result.getResultNumber());
  }

  /// A rank's first row comes from dist.global_index.
  bool isFirstRow(TracedValue place) const {
    auto [value, caller] = makerOf(place);
    Operation *op = value ? value.getDefiningOp() : nullptr;
    if (isa_and_present<graph::ReshapeOp, graph::CastOp, graph::SliceOp>(op))
      return isFirstRow({op->getOperand(0), caller});
    return isa_and_present<dist::GlobalIndexOp>(op);
  }

  /// Whether 5-localize made it: indices that count from a rank's first row.
  bool isOffset(TracedValue place) const {
    auto [value, caller] = makerOf(place);
    auto sub = value ? value.getDefiningOp<graph::SubOp>() : graph::SubOp();
    return sub && isFirstRow({sub.getRhs(), caller});
  }

  /// The value that elements have where `condition` holds: x == value.
  std::optional<int64_t> comparedWith(TracedValue condition) const {
    auto [value, caller] = makerOf(condition);
    auto compare =
        value ? value.getDefiningOp<graph::CompareOp>() : graph::CompareOp();
    if (!compare || compare.getPredicate() != graph::Predicate::Equal)
      return std::nullopt;
    return splatAt({compare.getRhs(), caller});
  }

  /// select(input < 0, input + size, input), select(input == ignored, 0, input)
  /// or a masked index.
  BlockArgument findInSelect(graph::SelectOp select, rank::LaunchOp caller,
                             Passed &passed) const {
    const TracedValue onTrue{select.getOnTrue(), caller};
    const TracedValue onFalse{select.getOnFalse(), caller};
    if (splatAt(onFalse) == 0) {
      passed.allUsed &= isOffset(onTrue);
      return find(onTrue, passed);
    }
    if (splatAt(onTrue) == 0) {
      passed.ignored = comparedWith({select.getCondition(), caller});
      return passed.ignored ? find(onFalse, passed) : BlockArgument();
    }
    Passed wrapping;
    BlockArgument wrapped = find(onTrue, wrapping);
    BlockArgument plain = find(onFalse, passed);
    if (!wrapped || wrapped != plain || !wrapping.size)
      return {};
    passed.size = wrapping.size;
    return plain;
  }

  const SymbolTable &symbols;
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
    BlockArgument input = IndexTrace(symbols).find({indices, caller}, passed);
    if (!input)
      return;
    const int64_t bound =
        passed.size.value_or(graph::tensorType(data).getDimSize(dim));
    if (!known
             .insert({input.getAsOpaquePointer(), bound, passed.ignored,
                      passed.allUsed})
             .second)
      return;
    // A kernel is called after its last op.
    std::string node = graph::nodeName(op->getLoc()).str();
    if (node.empty())
      node = graph::nodeName(user->getLoc()).str();
    uses.push_back({input, user, bound, passed.ignored, passed.allUsed,
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
  llvm::SmallSet<
      std::tuple<const void *, int64_t, std::optional<int64_t>, bool>, 4>
      known;
};
} // namespace

std::vector<IndexUse> emit::findIndexUses(func::FuncOp stage) {
  return IndexUseFinder(stage->getParentOfType<ModuleOp>()).run(stage);
}
