//===- LocalizeShapes.cpp - conversion of global shapes to local shapes ---===//

#include "dialects/dist/DistDialect.h"
#include "dialects/dist/ParameterPlacement.h"
#include "dialects/graph/ScalarAttr.h"
#include "dialects/graph/SignatureAttrs.h"
#include "passes/5-localize/LocalOp.h"
#include "passes/5-localize/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "localize-shapes"

namespace pcc::localize {
#define GEN_PASS_DEF_LOCALIZESHAPES
#include "passes/5-localize/Passes.h.inc"
} // namespace pcc::localize

using namespace mlir;
using namespace pcc;
using namespace pcc::localize;
using graph::ShardingRule;

dist::DimSharding
LocalOp::dimSharding(const ShardingRule::DimFactors &dim) const {
  dist::DimSharding sharding;
  for (int factor : dim)
    if (splits[factor].factors.empty())
      sharding.factors.push_back({rule.factors[factor].size, {}});
    else
      llvm::append_range(sharding.factors, splits[factor].factors);
  return sharding;
}

const ShardingRule::Window *LocalOp::windowOf(int operand, size_t dim) const {
  auto used = op->getAttrOfType<DenseI64ArrayAttr>(dist::windowsName);
  for (int64_t i : used ? used.asArrayRef() : ArrayRef<int64_t>())
    if (const ShardingRule::Window &window = rule.windows[i];
        window.operand == operand && window.dim == static_cast<int>(dim))
      return &window;
  return nullptr;
}

Localizers::Localizers() {
  addLayoutLocalizers(*this);
  addGlobalIndexLocalizers(*this);
  addScatterLocalizers(*this);
  addHaloLocalizers(*this);
}

namespace {
/// Converts one function to local shapes, op by op in program order. Invariant:
/// values before the current op have local types, all others global types.
class FunctionLocalizer {
public:
  explicit FunctionLocalizer(func::FuncOp function) : function(function) {}

  LogicalResult run() {
    for (Value argument : function.getArguments())
      shrink(argument);
    for (Operation &op :
         llvm::make_early_inc_range(function.front().without_terminator()))
      if (failed(localize(&op)))
        return failure();
    // Remove the attributes that refer to sharding rules on global shapes.
    for (Operation &op : function.front())
      for (StringRef name :
           {dist::splitName, dist::throughName, dist::windowsName})
        op.removeDiscardableAttr(name);
    finishSignature();
    return success();
  }

  unsigned numLocal = 0, numMasks = 0;

private:
  /// Gives `value` the local type under its sharding. Records the global type
  /// in `globals`.
  void shrink(Value value) {
    auto type = graph::tensorType(value);
    globals[value] = type;
    auto sharding = dist::shardingOf(value);
    auto local =
        sharding ? dist::localType(type, sharding.getSharding()) : type;
    numLocal += local != type;
    value.setType(local);
  }

  /// Returns the global type of `value`, even if `value` has its local type
  /// already.
  RankedTensorType globalType(Value value) const {
    auto type = globals.lookup(value);
    return type ? type : graph::tensorType(value);
  }

  /// Converts one op to local shapes. Masks padding in dims that the op
  /// reduces, calls the op's localizer (function that adapts this kind of op),
  /// and sets the result types.
  LogicalResult localize(Operation *op) {
    if (auto reshard = dyn_cast<dist::ReshardOp>(op))
      reshard.setShape(globalType(reshard.getInput()).getShape());
    FailureOr<LocalOp> local = describe(op);
    if (failed(local))
      return failure();
    Value replacement;
    if (auto set = dyn_cast<graph::SetParameterOp>(op)) {
      recordPlacement(set);
      maskWritten(*local, set);
    }
    if (isa<graph::CheckIndicesOp>(op))
      maskPadding(*local);
    if (local->rule.results.size()) {
      maskPadding(*local);
      if (auto adapt = localizers.find(op)) {
        LocalBuilder builder(op);
        replacement = adapt(*local, builder);
      }
    }
    if (replacement)
      return replace(op, replacement);
    for (Value result : op->getResults())
      shrink(result);
    return success();
  }

  /// Makes all readers of the op's result read `replacement`, except the op
  /// that computes `replacement` from this result. Erases `op` if it has no
  /// readers.
  LogicalResult replace(Operation *op, Value replacement) {
    Value result = op->getResult(0);
    globals[replacement] = globalType(result);
    dist::ShardingAttr sharding = dist::shardingOf(result);
    ++numLocal;
    Operation *maker = replacement.getDefiningOp();
    result.replaceUsesWithIf(
        replacement, [&](OpOperand &use) { return use.getOwner() != maker; });
    if (sharding)
      dist::setSharding(replacement, sharding.getSharding());
    if (op->use_empty())
      op->erase();
    return success();
  }

  /// Returns `op` with its sharding rule, the splits of the rule's factors, and
  /// the global types. Fails if `dist.split` does not fit the rule.
  FailureOr<LocalOp> describe(Operation *op) {
    LocalOp local{op, {}, {}, {}, {}};
    for (Value operand : op->getOperands())
      local.operandTypes.push_back(globalType(operand));
    for (Value result : op->getResults())
      local.resultTypes.push_back(graph::tensorType(result));
    auto split = op->getAttrOfType<dist::ShardingAttr>(dist::splitName);
    if (!isa<graph::ShardingRuleOpInterface>(op))
      return local;
    SmallVector<Type> localTypes(op->getOperandTypes());
    for (auto [operand, type] :
         llvm::zip_equal(op->getOperands(), local.operandTypes))
      operand.setType(type);
    local.rule = cast<graph::ShardingRuleOpInterface>(op).getShardingRule();
    for (auto [operand, type] : llvm::zip_equal(op->getOperands(), localTypes))
      operand.setType(type);
    if (!split || split.getSharding().rank() != local.rule.factors.size())
      return op->emitOpError("has no 'dist.split' that fits its rule; phase "
                             "'4-shard' must give it one"),
             failure();
    if (auto windows = op->getAttrOfType<DenseI64ArrayAttr>(dist::windowsName))
      for (int64_t window : windows.asArrayRef())
        if (window >= static_cast<int64_t>(local.rule.windows.size()))
          return op->emitOpError("reads through window ")
                     << window << ", but its rule has "
                     << local.rule.windows.size(),
                 failure();
    llvm::append_range(local.splits, split.getSharding().dims);
    return local;
  }

  /// Masks the padding in dims that the op reduces, for example by 0 for a sum,
  /// so that padding does not change the result. Skips dims with `needsOffset`,
  /// in which ranks need their global indices. In these dims, the function that
  /// adapts the op to local shapes handles the padding.
  void maskPadding(LocalOp &local) {
    for (auto [f, factor] : llvm::enumerate(local.rule.factors)) {
      if (!isReduction(factor.kind) || !dist::isPadded(local.splits[f]) ||
          factor.needsOffset)
        continue;
      for (OpOperand &operand : local.op->getOpOperands())
        maskOperand(local, operand, f);
    }
  }

  /// Sets the padding of the value that `set` writes to a weight to 0. Later
  /// ops may rely on this.
  void maskWritten(LocalOp &local, graph::SetParameterOp set) {
    for (auto [f, factor] : llvm::enumerate(local.rule.factors))
      if (dist::isPadded(local.splits[f]))
        maskOperand(local, set.getValueMutable(), f);
  }

  /// Records the sharding of the value that `set` writes to a weight, as an
  /// attribute of `set`. If a rank has several copies of the weight, the
  /// attribute tells which copy `set` writes.
  static void recordPlacement(graph::SetParameterOp set) {
    if (dist::ShardingAttr sharding = dist::shardingOf(set.getValue()))
      set->setAttr(
          dist::placementName,
          dist::ShardingAttr::get(set.getContext(),
                                  dist::placement(sharding.getSharding())));
  }

  /// Masks the padding of `operand` along each dim that contains factor number
  /// `factor` of the sharding rule.
  void maskOperand(LocalOp &local, OpOperand &operand, int factor) {
    // A loaded weight has 0 in its padding, so a sum needs no mask.
    if (operand.get().getDefiningOp<graph::GetParameterOp>() &&
        local.rule.factors[factor].kind == graph::FactorKind::Sum)
      return;
    for (auto [dim, factors] :
         llvm::enumerate(local.rule.operands[operand.getOperandNumber()]))
      if (llvm::is_contained(factors, factor)) {
        LocalBuilder builder(local.op);
        dist::ShardingAttr sharding = dist::shardingOf(operand.get());
        operand.set(
            masked(builder, local, operand.get(), dim, factors, factor));
        if (sharding)
          dist::setSharding(operand.get(), sharding.getSharding());
        ++numMasks;
      }
  }

  /// Replaces padding in dim `dim` of `value` by the neutral element of a
  /// reduction, such as 0 for a sum. `factors` are the loop indices of the
  /// sharding rule that make up the dim. Replaces only the padding of `factor`,
  /// one of these.
  Value masked(LocalBuilder &builder, const LocalOp &local, Value value,
               int64_t dim, const ShardingRule::DimFactors &factors,
               int factor) {
    int64_t size = local.rule.factors[factor].size;
    SmallVector<int64_t> spread(factors.size(), 1), whole;
    for (auto [i, other] : llvm::enumerate(factors)) {
      whole.push_back(local.localSize(other));
      if (other == factor)
        spread[i] = whole.back();
    }
    Value index = builder.reshape(
        builder.globalIndex(local.dimSharding({factor}), size), spread);
    auto type = RankedTensorType::get(whole, builder.getI64Type());
    if (index.getType() != type)
      index = builder.make<graph::BroadcastOp>(type, index);
    index = builder.reshape(index, {ShapedType::getNumElements(whole)});
    auto valueType = graph::tensorType(value);
    Value real = builder.compare(graph::Predicate::Less,
                                 builder.along(index, dim, valueType.getRank()),
                                 builder.scalar(builder.getI64Type(), size));
    Value neutral =
        builder.scalar(valueType.getElementType(),
                       graph::neutralOf(local.rule.factors[factor].kind));
    return builder.make<graph::SelectOp>(real, value, neutral);
  }

  /// Sets the function's type to its local types. Records the global types as
  /// `dist.global`, because callers of the program pass whole tensors.
  void finishSignature() {
    graph::SignatureAttrs attributes(function);
    for (auto [i, argument] : llvm::enumerate(function.getArguments()))
      attributes.setArg(i, dist::globalName,
                        TypeAttr::get(globalType(argument)));
    Operation *terminator = function.front().getTerminator();
    for (auto [i, result] : llvm::enumerate(terminator->getOperands()))
      attributes.setResult(i, dist::globalName,
                           TypeAttr::get(globalType(result)));
    attributes.write();
    function.setType(FunctionType::get(function.getContext(),
                                       function.front().getArgumentTypes(),
                                       terminator->getOperandTypes()));
  }

  func::FuncOp function;
  Localizers localizers;
  DenseMap<Value, RankedTensorType> globals;
};

struct LocalizeShapes
    : pcc::localize::impl::LocalizeShapesBase<LocalizeShapes> {
  void runOnOperation() override {
    FunctionLocalizer localizer(getOperation());
    if (failed(localizer.run()))
      return signalPassFailure();
    numLocal += localizer.numLocal;
    numMasks += localizer.numMasks;
    LDBG() << localizer.numMasks << " masks of padding";
  }
};
} // namespace
