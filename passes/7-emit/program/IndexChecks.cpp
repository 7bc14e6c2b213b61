//===- IndexChecks.cpp - inputs of the model that index a table -----------===//
//
// Every gather is traced back from its indices to an input of the model. If the
// rows of the table are split over ranks, 5-localize has put ops between the
// two: indices become relative to the first row of the rank, and indices of
// other ranks are masked:
//
//   global = select(input < 0, input + size, input)
//   gather(table, select(mine, global - first, 0))
//
// The trace passes these ops. The constant `size` is the number of rows of the
// whole table. A slice or mask of the model itself means that the model leaves
// out elements of the input, which may then have any value.
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

/// If `value` is a constant whose elements are all equal, returns this element.
/// Otherwise returns std::nullopt.
static std::optional<int64_t> splatInteger(Value value) {
  DenseIntElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<APInt>().getSExtValue();
}

namespace {
/// Facts about the read of a table. They are collected on the way from the
/// indices back to the input of the model.
struct Passed {
  /// Number of rows of the whole table, which an op on the way adds to negative
  /// indices. std::nullopt if there is no such op.
  std::optional<int64_t> size;
  /// Value of input elements that the model skips, so that they do not read the
  /// table. std::nullopt if the model skips no value.
  std::optional<int64_t> ignored;
  /// Whether every element of the input is used as an index. False if an op on
  /// the way skips elements.
  bool allUsed = true;
};

/// SSA value of a stage function, or of a kernel. If the value is in a kernel,
/// `caller` is the op that launches the kernel. If it is in a stage function,
/// `caller` is null.
struct TracedValue {
  Value value;
  rank::LaunchOp caller;
};

/// Follows the indices of a gather back to the input of the model that contains
/// the indices.
class IndexTrace {
public:
  explicit IndexTrace(const SymbolTable &symbols) : symbols(symbols) {}

  /// Follows the indices in `place` (an SSA value) back to a function argument,
  /// through casts, layout ops, slices, masks, collectives and index
  /// arithmetic. Returns this argument. Returns null if another kind of op
  /// computes the indices. Adds facts about the ops on the way to `passed`.
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
    if (op && (graph::laysOutOperand(op) || isa<graph::CastOp>(op)))
      return find({op->getOperand(0), caller}, passed);
    if (auto add = dyn_cast_or_null<graph::AddOp>(op)) {
      // Index arithmetic adds the number of rows of the table to negative
      // indices: `input + size`. So a constant addend is the number of rows.
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

  /// Returns whether a collective only moves whole tensors between ranks: it
  /// neither reduces elements nor selects rows.
  static bool moves(dist::CollectiveOp collective) {
    return collective.getFrom().getSharding().partials.empty() &&
           collective.getTo().getSharding().partials.empty() &&
           collective.getRows().empty();
  }

  /// Follows `place`, an SSA value, back across function boundaries:
  ///
  ///   argument of a kernel    → operand of the kernel's launch
  ///   result of a launch      → value that the kernel yields
  ///   argument of a function  → result of another function
  ///
  /// Returns the value at the end: the result of an op, or an argument that no
  /// other function provides. Returns null for an argument of a kernel whose
  /// launch is unknown.
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

  /// If the SSA value `place` is a constant whose elements are all equal,
  /// returns this element. Otherwise returns std::nullopt.
  std::optional<int64_t> splatAt(TracedValue place) const {
    Value value = makerOf(place).value;
    return value ? splatInteger(value) : std::nullopt;
  }

  /// Returns the value in the body of a kernel that becomes `result`, a result
  /// of the kernel's launch.
  Value yielded(OpResult result) const {
    auto launch = cast<rank::LaunchOp>(result.getOwner());
    return symbols.lookup<rank::KernelOp>(launch.getKernel())
        .getYield()
        .getOperand(result.getResultNumber());
  }

  /// Returns whether the SSA value `place` is the global index of the first row
  /// of the rank's shard of a table. This is the case if a dist.global_index op
  /// computes `place`.
  bool isFirstRow(TracedValue place) const {
    auto [value, caller] = makerOf(place);
    Operation *op = value ? value.getDefiningOp() : nullptr;
    if (isa_and_present<graph::ReshapeOp, graph::CastOp, graph::SliceOp>(op))
      return isFirstRow({op->getOperand(0), caller});
    return isa_and_present<dist::GlobalIndexOp>(op);
  }

  /// Returns whether the SSA value `place` contains indices relative to the
  /// first row of the rank's shard of a table. Phase 5-localize computes such
  /// indices.
  bool isOffset(TracedValue place) const {
    auto [value, caller] = makerOf(place);
    auto sub = value ? value.getDefiningOp<graph::SubOp>() : graph::SubOp();
    return sub && isFirstRow({sub.getRhs(), caller});
  }

  /// If `condition` is a comparison x == v with a constant v, returns v.
  /// Otherwise returns std::nullopt.
  std::optional<int64_t> comparedWith(TracedValue condition) const {
    auto [value, caller] = makerOf(condition);
    auto compare =
        value ? value.getDefiningOp<graph::CompareOp>() : graph::CompareOp();
    if (!compare || compare.getPredicate() != graph::Predicate::Equal)
      return std::nullopt;
    return splatAt({compare.getRhs(), caller});
  }

  /// Returns the function argument from which the elements of `select` come;
  /// null if `select` has none of these three forms:
  ///
  ///   select(condition, x, 0)                  mask of 5-localize or the model
  ///   select(input == ignored, 0, input)       ignored value
  ///   select(input < 0, input + size, input)   negative index
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

/// Collects the reads of tables by inputs in one stage function and in the
/// kernels that it launches.
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
  /// Appends `op` to `uses` if it is a gather whose indices come from an input.
  ///
  ///   op of the stage function   `user` is `op` itself, `caller` is null
  ///   op of a kernel             `user` and `caller` are the kernel's launch
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
    // Prefer the node name of the gather. A launch has the node name of the
    // last op of the kernel, which may belong to another ONNX node than the
    // gather.
    std::string node = graph::nodeName(op->getLoc()).str();
    if (node.empty())
      node = graph::nodeName(user->getLoc()).str();
    uses.push_back({input, user, bound, passed.ignored, passed.allUsed,
                    tableName(data, caller, node), node});
  }

  /// Returns the name of the table `data` for error messages. If `data` is a
  /// weight, this is the quoted name of the weight. Otherwise it is a phrase
  /// with `node`, the name of the ONNX node that reads the table.
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
