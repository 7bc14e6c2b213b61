//===- InsertIndexChecks.cpp - checks of indices before ops that read them ===//

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/5-localize/IntegerRange.h"
#include "passes/5-localize/Passes.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "insert-index-checks"

namespace pcc::localize {
#define GEN_PASS_DEF_INSERTINDEXCHECKS
#include "passes/5-localize/Passes.h.inc"
} // namespace pcc::localize

using namespace mlir;
using namespace pcc;
using namespace pcc::localize;

/// Returns whether all elements of `value` are the constant `number`.
static bool isNumber(Value value, int64_t number) {
  DenseIntElementsAttr elements;
  return matchPattern(value, m_Constant(&elements)) && elements.isSplat() &&
         elements.getSplatValue<APInt>().getSExtValue() == number;
}

/// Follows `value` backwards through ops that only move, reshard or cast
/// elements. Returns the value before these ops.
static Value withoutMoves(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!graph::laysOutOperand(op) &&
        !isa<graph::CastOp, dist::ReshardOp, dist::PinOp, pipe::TransferOp>(op))
      return value;
    value = op->getOperand(0);
  }
  return value;
}

/// Returns the tensor from which the indices `value` were computed. Follows
/// `value` backwards through two kinds of ops:
///
/// - ops that only move, reshard or cast elements, such as a transpose;
/// - selects that replace some indices by 0. For example, a loss ignores labels
///   of -100 and computes `label == -100 ? 0 : label`.
static Value originOf(Value value) {
  Value origin = withoutMoves(value);
  while (auto select = origin.getDefiningOp<graph::SelectOp>()) {
    const bool masksTrue = isNumber(select.getOnTrue(), 0);
    if (!masksTrue && !isNumber(select.getOnFalse(), 0))
      break;
    origin = withoutMoves(masksTrue ? select.getOnFalse() : select.getOnTrue());
  }
  return origin;
}

/// Returns the attribute `name` of the op or argument that defines `value`;
/// null if there is none.
static Attribute attributeOf(Value value, StringRef name) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return cast<func::FuncOp>(argument.getOwner()->getParentOp())
        .getArgAttr(argument.getArgNumber(), name);
  return value.getDefiningOp()->getAttr(name);
}

namespace {
/// Indices that an op reads, and their valid range.
struct Access {
  Operation *reader;
  Value indices;
  SmallVector<int64_t> sizes;
  bool fromZero;

  /// Returns the smallest valid index into a dim of `size` elements.
  int64_t lowOf(int64_t size) const { return fromZero ? 0 : -size; }
};

/// Pass `--insert-index-checks`: adds a graph.check_indices before ops whose
/// indices may be out of range.
struct InsertIndexChecks
    : pcc::localize::impl::InsertIndexChecksBase<InsertIndexChecks> {
  void runOnOperation() override {
    for (Operation &op : getOperation().front().without_terminator())
      if (auto indexed = dyn_cast<graph::IndexedOpInterface>(op))
        visit(accessOf(indexed));
  }

private:
  /// Returns the indices that `op` reads, and their valid range. Labels of a
  /// loss must not be negative. Indices are labels if they come from an input
  /// with the attribute `graph.labels`. They are also labels if they come from
  /// the select `x < 0 ? x - numClasses : x`, which the import of an ONNX loss
  /// creates to make negative labels x invalid. In this case, returns x. Other
  /// indices may be negative, and then count from the end.
  static Access accessOf(graph::IndexedOpInterface op) {
    Access access{op, op.getIndices(), op.getIndexedSizes(), false};
    auto select = withoutMoves(access.indices).getDefiningOp<graph::SelectOp>();
    auto sub = select ? select.getOnTrue().getDefiningOp<graph::SubOp>()
                      : graph::SubOp();
    if (sub && access.sizes.size() == 1 &&
        sub.getLhs() == select.getOnFalse() &&
        isNumber(sub.getRhs(), access.sizes.front())) {
      access.indices = select.getOnFalse();
      access.fromZero = true;
    }
    access.fromZero |=
        attributeOf(originOf(access.indices), graph::labelsName) != nullptr;
    return access;
  }

  bool isInRange(const Access &access) {
    const bool isTuple = access.sizes.size() > 1;
    for (auto [i, size] : llvm::enumerate(access.sizes)) {
      const auto range = ranges.of(
          access.indices, isTuple ? std::optional<int64_t>(i) : std::nullopt);
      if (!range || range->low < access.lowOf(size) || range->high >= size)
        return false;
    }
    return true;
  }

  /// Inserts an op that ends the run with an error if an index is out of range.
  /// Inserts none if there are no indices, if all are provably valid, or if the
  /// same check exists.
  void visit(const Access &access) {
    if (graph::tensorType(access.indices).getNumElements() == 0 ||
        isInRange(access) ||
        !known
             .insert({withoutReshards(access.indices).getAsOpaquePointer(),
                      std::vector<int64_t>(access.sizes.begin(),
                                           access.sizes.end()),
                      access.fromZero})
             .second)
      return;
    LDBG() << "checking indices of " << *access.reader;
    insert(access);
    ++numChecks;
  }

  static Value withoutReshards(Value value) {
    while (isa_and_present<dist::ReshardOp, pipe::TransferOp>(
        value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    return value;
  }

  /// Inserts an op that checks the indices right before the op that reads them.
  /// The check has the stage of the reading op and the sharding of the indices.
  static void insert(const Access &access) {
    OpBuilder b(access.reader);
    auto check = graph::CheckIndicesOp::create(
        b, access.reader->getLoc(), access.indices,
        b.getDenseI64ArrayAttr(access.sizes), b.getStringAttr(tableOf(access)),
        access.fromZero ? b.getUnitAttr() : UnitAttr());
    if (std::string name = nameOf(access); !name.empty())
      check->setAttr(graph::nameName, b.getStringAttr(name));
    if (Attribute stage = access.reader->getAttr(pipe::stageName))
      check->setAttr(pipe::stageName, stage);
    auto sharding = dist::shardingOf(access.indices);
    if (!sharding)
      return;
    dist::Sharding split;
    const auto rule = check.getShardingRule();
    split.dims.resize(rule.factors.size());
    for (auto [dim, factors] : llvm::enumerate(rule.operands[0]))
      for (int factor : factors)
        split.dims[factor] = sharding.getSharding().dims[dim];
    check->setAttr(dist::splitName,
                   dist::ShardingAttr::get(b.getContext(), split));
  }

  /// Returns a name for the indices of `access` in an error message: the model
  /// input, ONNX value or ONNX node from which they come. Returns an empty
  /// string if none has a name.
  static std::string nameOf(const Access &access) {
    const Value origin = originOf(access.indices);
    SmallVector<Value> named{access.indices, withoutMoves(access.indices)};
    named.insert(isa<BlockArgument>(origin) ? named.begin() : named.end(),
                 origin);
    for (Value value : named)
      if (auto name =
              dyn_cast_or_null<StringAttr>(attributeOf(value, graph::nameName)))
        return name.str();
    Operation *maker = origin.getDefiningOp();
    return maker ? graph::nodeName(maker->getLoc()).str() : std::string();
  }

  /// Returns a phrase for an error message that names the indexed tensor, such
  /// as: the table of "Gather_3"
  static std::string tableOf(const Access &access) {
    if (access.fromZero)
      return "the classes of the loss";
    const Value data = withoutReshards(access.reader->getOperand(0));
    if (auto get = data.getDefiningOp<graph::GetParameterOp>())
      return "'" + get.getParameter().str() + "'";
    return "the table of '" + graph::nodeName(access.reader->getLoc()).str() +
           "'";
  }

  IntegerRanges ranges;
  /// Keys of all checks inserted so far. A check with a key in this set is not
  /// inserted again. A key consists of:
  ///
  /// - the tensor of indices, before reshards and transfers
  /// - the sizes of the dims into which the indices point
  /// - whether negative indices are invalid
  llvm::SmallSet<std::tuple<const void *, std::vector<int64_t>, bool>, 4> known;
};
} // namespace
