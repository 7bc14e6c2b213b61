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

/// Adapts a gather to local shapes. If ranks split the gathered dim, returns a
/// value that is 0 where another rank has the element, and a later collective
/// adds the values of all ranks. Otherwise returns null. Constant indices that
/// are ranges are passed to localizeConstantGather(). Example with 8 rows:
///
///                      index 1   index 6
///   rank 0, rows 0-3   row 1     0
///   rank 1, rows 4-7   0         row 6
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

/// Adapts a gather_elements to local shapes if ranks split the dim along which
/// it reads. Returns the value that replaces the result of the op. Each rank
/// has only some elements of the dim. For an index of another element, the
/// returned value is 0. A later collective adds the values of all ranks.
/// Example: 2 ranks split the data [a, b, c, d], and the indices are [3, 0, 1].
///
///   rank 0, with a and b    [0, a, b]
///   rank 1, with c and d    [d, 0, 0]
///   sum                     [d, a, b]
///
/// Returns null if the dim is not split.
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

/// Adapts a one_hot to local shapes if ranks split its new dim. A one_hot turns
/// each index into a vector, which is `on` at the index and `off` elsewhere.
/// Each rank compares the index with the global positions of its own elements.
/// Example: vectors of 4 elements on 2 ranks, index 2:
///
///   rank 0   positions 0, 1   result off, off
///   rank 1   positions 2, 3   result on, off
///
/// A negative index counts from the end, so index -2 gives the same result.
/// Returns null if the new dim is not split.
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
/// ranks split the queries. The attribute would count the queries from the
/// first query of each rank. An existing mask is combined with the new one.
/// Changes the op in place and always returns null. Example: rank 1 of 2 has
/// the queries 2 and 3:
///
///              key 0   key 1   key 2   key 3
///   query 2    1       1       1       0
///   query 3    1       1       1       1
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
