//===- GlobalIndexLocalizers.cpp - ops that need global indices -----------===//

#include "passes/5-localize/OwnedIndices.h"
#include <cmath>

using namespace mlir;
using namespace pcc;
using namespace pcc::localize;

/// Replaces an iota along a split dim by the global indices of this rank's
/// elements. Returns null if the dim is not split.
static Value localizeIota(LocalOp &local, LocalBuilder &builder) {
  auto iota = cast<graph::IotaOp>(local.op);
  const auto &dim = local.rule.results[0][iota.getDim()];
  if (!local.isSplit(dim))
    return {};
  RankedTensorType global = local.resultTypes[0];
  RankedTensorType type =
      dist::localType(global, dist::shardingOf(iota.getResult()).getSharding());
  Value index = builder.globalIndex(local.dimSharding(dim),
                                    global.getDimSize(iota.getDim()));
  index = builder.cast(builder.along(index, iota.getDim(), global.getRank()),
                       global.getElementType());
  return index.getType() == type
             ? index
             : builder.make<graph::BroadcastOp>(type, index);
}

/// Adapts a gather to local shapes if ranks split the gathered dim. Each rank
/// gathers only elements of its own shard, and sets all other elements of the
/// result to 0. A later collective adds the results of all ranks. Returns the
/// new result, or null if the op need not change.
static Value localizeGather(LocalOp &local, LocalBuilder &builder) {
  auto gather = cast<graph::GatherOp>(local.op);
  if (!local.rule.windows.empty())
    return localizeConstantGather(local, builder);
  int64_t dim = gather.getDim();
  const auto &factors = local.rule.operands[0][dim];
  if (!local.isSplit(factors))
    return {};
  Value data = gather.getData(), indices = gather.getIndices();
  OwnedIndices own(builder, local, indices, factors,
                   local.operandTypes[0].getDimSize(dim),
                   graph::tensorType(data).getDimSize(dim));
  Value rows = builder.make<graph::GatherOp>(data, own.orElse(builder, 0),
                                             builder.getI64IntegerAttr(dim));

  auto maskShape = llvm::to_vector(graph::tensorType(indices).getShape());
  maskShape.append(graph::tensorType(data).getRank() - dim - 1, 1);
  Value none = builder.scalar(graph::tensorType(data).getElementType(), 0);
  return builder.make<graph::SelectOp>(builder.reshape(own.mine, maskShape),
                                       rows, none);
}

/// Adapts a gather_elements to local shapes if ranks split the gathered dim.
/// Each rank gathers only elements of its own shard, and sets all other
/// elements of the result to 0. A later collective adds the results of all
/// ranks. Returns the new result, or null if ranks do not split the dim.
static Value localizeGatherElements(LocalOp &local, LocalBuilder &builder) {
  auto gather = cast<graph::GatherElementsOp>(local.op);
  int64_t dim = gather.getDim();
  const auto &factors = local.rule.operands[0][dim];
  if (!local.isSplit(factors))
    return {};
  Value data = gather.getData();
  OwnedIndices own(builder, local, gather.getIndices(), factors,
                   local.operandTypes[0].getDimSize(dim),
                   graph::tensorType(data).getDimSize(dim));
  Value elements = builder.make<graph::GatherElementsOp>(
      data, own.orElse(builder, 0), builder.getI64IntegerAttr(dim));
  Value none = builder.scalar(graph::tensorType(data).getElementType(), 0);
  return builder.make<graph::SelectOp>(own.mine, elements, none);
}

/// Adapts a one_hot to local shapes if ranks split its new dim. Compares each
/// index with the global indices of the rank's elements. Returns null if ranks
/// do not split the dim.
static Value localizeOneHot(LocalOp &local, LocalBuilder &builder) {
  auto oneHot = cast<graph::OneHotOp>(local.op);
  int64_t dim = oneHot.getDim();
  const auto &factors = local.rule.results[0][dim];
  if (!local.isSplit(factors))
    return {};
  int64_t depth = local.resultTypes[0].getDimSize(dim),
          rank = local.resultTypes[0].getRank();
  Value indices = oneHot.getIndices();
  Type indexType = graph::tensorType(indices).getElementType();
  auto shape = llvm::to_vector(graph::tensorType(indices).getShape());
  shape.insert(shape.begin() + dim, 1);
  Value negative = builder.compare(graph::Predicate::Less, indices,
                                   builder.scalar(indexType, 0));
  Value counted = builder.make<graph::SelectOp>(
      negative,
      builder.make<graph::AddOp>(indices, builder.scalar(indexType, depth)),
      indices);
  Value position = builder.along(
      builder.globalIndex(local.dimSharding(factors), depth), dim, rank);
  Value hot =
      builder.compare(graph::Predicate::Equal, builder.reshape(counted, shape),
                      builder.cast(position, indexType));
  return builder.make<graph::SelectOp>(hot, oneHot.getOn(), oneHot.getOff());
}

/// Replaces the attribute `causal` of an attention op by a mask operand if
/// ranks split the queries. The attribute would count queries from the first
/// query of each rank. Changes the op in place, and returns null, because the
/// op stays.
static Value localizeAttention(LocalOp &local, LocalBuilder &builder) {
  auto attention = cast<graph::AttentionOpInterface>(local.op);
  const auto &queries = local.rule.operands[0][2];
  if (!attention.getCausal() || !local.isSplit(queries))
    return {};
  const int64_t numQueries = local.operandTypes[0].getDimSize(2),
                numKeys = local.operandTypes[1].getDimSize(2);
  Type i64 = builder.getI64Type();
  Value last = builder.make<graph::AddOp>(
      builder.globalIndex(local.dimSharding(queries), numQueries),
      builder.scalar(i64, numKeys - numQueries));
  Value key = builder.make<graph::IotaOp>(
      RankedTensorType::get({1, 1, 1, numKeys}, i64),
      builder.getI64IntegerAttr(3));
  Value mask = builder.compare(graph::Predicate::LessOrEqual, key,
                               builder.along(last, 2, 4));
  if (Value own = attention.getMask()) {
    Type element = graph::tensorType(own).getElementType();
    mask = element.isInteger(1)
               ? builder.make<graph::AndOp>(mask, own)
               : builder.make<graph::SelectOp>(
                     mask, own, builder.scalar(element, -HUGE_VAL));
  }
  attention.getMaskMutable().assign(mask);
  attention.setCausal(false);
  return {};
}

void pcc::localize::addGlobalIndexLocalizers(Localizers &localizers) {
  localizers.add<graph::AttentionOp>(localizeAttention);
  localizers.add<graph::AttentionQueryGradientOp>(localizeAttention);
  localizers.add<graph::AttentionKeyGradientOp>(localizeAttention);
  localizers.add<graph::IotaOp>(localizeIota);
  localizers.add<graph::GatherOp>(localizeGather);
  localizers.add<graph::GatherElementsOp>(localizeGatherElements);
  localizers.add<graph::OneHotOp>(localizeOneHot);
}
