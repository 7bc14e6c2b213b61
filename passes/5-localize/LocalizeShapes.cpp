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
/// Converts one function from global types (shapes of whole tensors) to local
/// types (shapes of one rank's shard). Converts ops in program order: the
/// operands of an op have local types already, and its results still have
/// global types.
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
    // Remove the attributes `dist.split`, `dist.through` and `dist.windows`.
    // They refer by number to loop dims, operands and windows of an op's
    // sharding rule. The rule depends on the shapes of the op. The shapes are
    // now local, so the numbers do not fit any more.
    for (Operation &op : function.front())
      for (StringRef name :
           {dist::splitName, dist::throughName, dist::windowsName})
        op.removeDiscardableAttr(name);
    finishSignature();
    return success();
  }

  unsigned numLocal = 0, numMasks = 0;

private:
  /// Changes the type of `value` from its global type to its local type. A
  /// global type has the shape of the whole tensor. A local type has the shape
  /// of one rank's shard, which depends on the sharding of `value`. Example: 2
  /// ranks split dim 0 of a tensor [8, 4]. The local type has the shape [4, 4].
  /// A value without a sharding keeps its type. The function stores the global
  /// type in the map `globals`.
  void shrink(Value value) {
    auto type = graph::tensorType(value);
    globals[value] = type;
    auto sharding = dist::shardingOf(value);
    auto local =
        sharding ? dist::localType(type, sharding.getSharding()) : type;
    numLocal += local != type;
    value.setType(local);
  }

  /// Returns the global type of `value`, which has the shape of the whole
  /// tensor. Example: 2 ranks split dim 0 of a tensor [8, 4]. After the
  /// conversion, `value` has the shape [4, 4] of one rank's shard. The function
  /// returns the type with the shape [8, 4]. It returns the same type before
  /// the conversion of `value`.
  RankedTensorType globalType(Value value) const {
    auto type = globals.lookup(value);
    return type ? type : graph::tensorType(value);
  }

  /// Converts one op to local shapes. Replaces padding in dims that the op
  /// reduces. Then calls the function in `localizers` for this kind of op, if
  /// there is one. If this function returns a value, the value replaces the
  /// result of the op. Otherwise, the results of the op get their local types.
  /// Fails if the sharding attributes of the op are not valid.
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

  /// Replaces the result of `op` by `replacement` in all ops that read the
  /// result. There is one exception: the op that computes `replacement` may
  /// read the result, and it continues to do so. For example, `replacement` is
  /// a slice of the result, which is then whole on every rank. Erases `op` if
  /// no op reads its result any more.
  /// Always returns success.
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
    else if (sharding)
      dist::setSharding(
          result, dist::Sharding::whole(graph::tensorType(result).getRank()));
    return success();
  }

  /// Collects the global types, the sharding rule and the split loop indices of
  /// `op`. Emits an error and fails if `dist.split` or `dist.windows` does not
  /// fit the rule.
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
      return op->emitOpError("has no 'dist.split' that fits its sharding "
                             "rule; every op has one after 4-shard"),
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

  /// Replaces padding by the neutral element (0 for a sum) in dims that the op
  /// reduces. A rank has padding if ranks split a dim unevenly: with 5 elements
  /// on 2 ranks, rank 1 has 2 elements and 1 element of padding. Skips a dim
  /// that the op reads at given indices (`needsOffset` of the loop dim),
  /// because a valid index never refers to padding.
  void maskPadding(LocalOp &local) {
    const bool readsAtIndices = local.op->hasTrait<graph::IsIndexing>();
    for (auto [f, factor] : llvm::enumerate(local.rule.factors)) {
      if (!isReduction(factor.kind) || !dist::isPadded(local.splits[f]) ||
          (readsAtIndices && factor.needsOffset))
        continue;
      for (OpOperand &operand : local.op->getOpOperands())
        maskOperand(local, operand, f);
    }
  }

  /// Replaces the padding in a value by 0. The op `set` writes this value to a
  /// weight. A rank has padding if ranks split a dim unevenly: of 5 elements on
  /// 2 ranks, rank 1 has 2 elements and 1 element of padding. Ops that later
  /// sum over the weight rely on the 0.
  void maskWritten(LocalOp &local, graph::SetParameterOp set) {
    for (auto [f, factor] : llvm::enumerate(local.rule.factors))
      if (dist::isPadded(local.splits[f]))
        maskOperand(local, set.getValueMutable(), f);
  }

  /// Stores the sharding of a value as an attribute of the op `set`. `set`
  /// writes this value to a weight. A rank may run several pipeline stages. If
  /// these stages read a weight with different shardings, the rank stores one
  /// copy of the weight for each sharding. The attribute tells a later pass
  /// which copy `set` writes.
  static void recordPlacement(graph::SetParameterOp set) {
    if (dist::ShardingAttr sharding = dist::shardingOf(set.getValue()))
      set->setAttr(
          dist::placementName,
          dist::ShardingAttr::get(set.getContext(),
                                  dist::placement(sharding.getSharding())));
  }

  /// Replaces the padding of `operand` by the neutral element of a reduction,
  /// such as 0 for a sum. Changes only the dims over which loop dim `factor` of
  /// the op runs.
  void maskOperand(LocalOp &local, OpOperand &operand, int factor) {
    // A rank has padding if ranks split a dim unevenly: of 5 elements on 2
    // ranks, rank 1 has 2 elements and 1 element of padding. The padding of a
    // weight is always 0. A sum stays the same if it includes 0, so the padding
    // need not be replaced.
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

  /// Replaces padding in `value` by the neutral element of a reduction.
  /// `factors` lists the loop dims that make up the dim `dim` of `value`,
  /// outermost first. An element is padding if its global index along loop dim
  /// `factor`, one of `factors`, is not less than the size of this loop dim.
  /// For example, 2 ranks split a loop dim of size 5, and each rank has 3
  /// indices. On rank 1, the last one has the global index 5 and is padding.
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

  /// Updates the signature of the function after the conversion of all ops.
  /// Each argument and each result gets its local type, which has the shape of
  /// one rank's shard. Also stores the global type of each argument and each
  /// result in the attribute `dist.global`. A global type has the shape of the
  /// whole tensor. The runtime needs the global types, because a user of the
  /// program passes whole tensors.
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
