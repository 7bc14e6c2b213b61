//===- Attention.cpp - types, checks and costs of attention ops -----------===//
//
// Shapes of attention and its gradients: query [B, H, S, D], key [B, K, T, D]
// and value [B, K, T, E]. K, the number of key heads, divides H, the number of
// query heads.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/ElementTypes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace pcc::graph;

/// Returns the type of the result of attention: the type of `queries`, with the
/// last dim of `values`. Emits an error at `loc` and fails unless all three
/// operands have rank 4.
static FailureOr<RankedTensorType> resultType(std::optional<Location> loc,
                                              Value queries, Value keys,
                                              Value values) {
  RankedTensorType query = tensorType(queries), key = tensorType(keys),
                   value = tensorType(values);
  if (query.getRank() != 4 || key.getRank() != 4 || value.getRank() != 4)
    return emitOptionalError(loc, "needs 4 dims, got ", query, ", ", key,
                             " and ", value);
  SmallVector<int64_t> shape(query.getShape());
  shape[3] = value.getDimSize(3);
  return query.clone(shape);
}

/// Returns the type [batch, heads, queries] of a tensor with one number per
/// query, such as the largest attention score. The element type is the one of
/// `query`, or f32 if that has fewer than 32 bits.
static RankedTensorType rowType(RankedTensorType query) {
  Type element = query.getElementType();
  if (element.getIntOrFloatBitWidth() < 32)
    element = Float32Type::get(query.getContext());
  return RankedTensorType::get(query.getShape().take_front(3), element);
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &results) {
  auto type =
      resultType(loc, adaptor.getQuery(), adaptor.getKey(), adaptor.getValue());
  if (succeeded(type))
    results.push_back(*type);
  return type;
}

LogicalResult AttentionQueryGradientOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
    SmallVectorImpl<Type> &results) {
  if (failed(resultType(loc, adaptor.getQuery(), adaptor.getKey(),
                        adaptor.getValue())))
    return failure();
  RankedTensorType query = tensorType(adaptor.getQuery());
  results.append({query, rowType(query), rowType(query), rowType(query)});
  return success();
}

LogicalResult
AttentionKeyGradientOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  results.append({adaptor.getKey().getType(), adaptor.getValue().getType()});
  return success();
}

/// Checks that the operands of `op` have matching shapes and hold floats:
///
///   query  [B, H, S, D]   B batch, H query heads, S queries, D key width
///   key    [B, K, T, D]   K key heads, which divide H; T keys
///   value  [B, K, T, E]   E value width
///   mask                  optional; broadcasts to [B, H, S, T]
static LogicalResult verifyAttention(AttentionOpInterface op) {
  auto query = tensorType(op.getQuery()).getShape(),
       key = tensorType(op.getKey()).getShape(),
       value = tensorType(op.getValue()).getShape();
  if (query.size() != 4 || key.size() != 4 || value.size() != 4 ||
      query[0] != key[0] || key[0] != value[0] || key[1] != value[1] ||
      key[2] != value[2] || query[3] != key[3])
    return op->emitOpError("has query ")
           << op.getQuery().getType() << ", key " << op.getKey().getType()
           << " and value " << op.getValue().getType() << ", which do not fit";
  if (key[1] == 0 || query[1] % key[1])
    return op->emitOpError("has ") << query[1] << " query heads, which "
                                   << key[1] << " key heads do not divide";
  if (Value mask = op.getMask()) {
    SmallVector<int64_t> scores{query[0], query[1], query[2], key[2]};
    auto both = broadcastShapes(tensorType(mask).getShape(), scores);
    if (failed(both) || *both != scores)
      return op->emitOpError("has a mask ")
             << mask.getType() << " that does not fit query "
             << op.getQuery().getType() << " and key " << op.getKey().getType();
  }
  return checkFloats(op, {op.getQuery(), op.getKey(), op.getValue()});
}

/// Emits an error at `op` and fails unless `value` has the type `wanted`.
/// `what` is the name of the value in the error.
static LogicalResult verifyType(Operation *op, Value value, StringRef what,
                                Type wanted) {
  if (value.getType() == wanted)
    return success();
  return op->emitOpError("has a ")
         << what << " of " << value.getType() << ", not " << wanted;
}

LogicalResult AttentionOp::verify() {
  return verifyAttention(cast<AttentionOpInterface>(getOperation()));
}

LogicalResult AttentionQueryGradientOp::verify() {
  if (failed(verifyAttention(cast<AttentionOpInterface>(getOperation()))))
    return failure();
  return verifyType(*this, getGradient(), "gradient",
                    *resultType(getLoc(), getQuery(), getKey(), getValue()));
}

LogicalResult AttentionKeyGradientOp::verify() {
  if (failed(verifyAttention(cast<AttentionOpInterface>(getOperation()))))
    return failure();
  const Type ofRows = rowType(tensorType(getQuery()));
  return success(succeeded(verifyType(*this, getGradient(), "gradient",
                                      *resultType(getLoc(), getQuery(),
                                                  getKey(), getValue()))) &&
                 succeeded(verifyType(*this, getTop(), "top", ofRows)) &&
                 succeeded(verifyType(*this, getShare(), "share", ofRows)) &&
                 succeeded(verifyType(*this, getMean(), "mean", ofRows)));
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// Counts the floating-point operations of `op`, an attention op or a gradient
/// of one. Each query head has `ofKeys` products of the size of queries ·
/// keysᵀ, and `ofValues` products of the size of probabilities · values.
static double flopsOf(AttentionOpInterface op, int64_t ofKeys,
                      int64_t ofValues) {
  auto query = tensorType(op.getQuery()).getShape(),
       value = tensorType(op.getValue()).getShape();
  return 2.0 * query[0] * query[1] * query[2] * value[2] *
         (ofKeys * query[3] + ofValues * value[3]);
}

double AttentionOp::getFlops() {
  return flopsOf(cast<AttentionOpInterface>(getOperation()), 1, 1);
}

/// Counts three matrix products per head: the scores, the gradient of the
/// probabilities, and the gradient of the queries.
double AttentionQueryGradientOp::getFlops() {
  return flopsOf(cast<AttentionOpInterface>(getOperation()), 2, 1);
}
/// Counts two matrix products per query head: one product gives the gradient of
/// the keys, and the other product gives the gradient of the values. The op
/// also uses the attention probabilities and their gradient. The function does
/// not count the products that compute these two matrices, because
/// AttentionQueryGradientOp::getFlops() counts them.
double AttentionKeyGradientOp::getFlops() {
  return flopsOf(cast<AttentionOpInterface>(getOperation()), 1, 1);
}
