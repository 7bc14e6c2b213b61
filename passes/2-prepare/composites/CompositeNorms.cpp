//===- CompositeNorms.cpp - layer_norm and rms_norm from their parts ------===//
//
//   d = x − mean(x);  d / sqrt(mean(d²) + epsilon)    layer_norm
//                     x / sqrt(mean(x²) + epsilon)    rms_norm
//
// (layer_norm: Ba et al. 2016; rms_norm: Zhang and Sennrich 2019.) The quotient
// first becomes a norm with a scale of ones. Separate rewrites then make a
// following product the scale and a following sum the bias. Casts to f32 before
// and from f32 after a norm are dropped, because a norm of a narrow type
// computes its statistics in f32.
//
//===----------------------------------------------------------------------===//

#include "passes/2-prepare/composites/Composites.h"
#include "passes/2-prepare/match/RewriteFunctions.h"

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

//===----------------------------------------------------------------------===//
// The quotient
//===----------------------------------------------------------------------===//

/// Returns the reduce op that computes `value`, if it is a mean over the last
/// dims of a tensor. The op must keep these dims with size 1. It must not
/// divide the sum by another number than the number of elements (attribute
/// `divisor`). Returns null for all other values.
static ReduceOp meanOfLastDims(Value value) {
  auto mean = definedBy<ReduceOp>(value);
  if (!mean || mean.getKind() != ReduceKind::Mean || !mean.getKeep() ||
      mean.getDivisor() || mean.getDims().empty())
    return {};
  int64_t rank = tensorType(mean.getInput()).getRank(),
          count = static_cast<int64_t>(mean.getDims().size());
  for (int64_t i = 0; i < count; ++i)
    if (mean.getDims()[i] != rank - count + i)
      return {};
  return mean;
}

/// If `value` is x², written as a product or a power, returns x. Returns null
/// otherwise.
static Value squared(Value value) {
  if (auto product = definedBy<MulOp>(value))
    return product.getLhs() == product.getRhs() ? product.getLhs() : Value();
  auto power = definedBy<PowOp>(value);
  return power && isUniform(power.getRhs(), 2) ? power.getLhs() : Value();
}

namespace {
/// Describes an expression mean(x²) + epsilon in the model. A norm divides x by
/// the root of this expression. `of` is the tensor x. The mean is over the dim
/// `dim` and all later dims.
struct Deviation {
  Value of;
  int64_t dim;
  double epsilon;
};
} // namespace

/// Matches `shifted` = mean(x²) + epsilon, with a mean over the last dims of x.
/// Returns x, epsilon and the first dim over which the mean is taken. Returns
/// nullopt for other values.
static std::optional<Deviation> deviation(Value shifted) {
  auto add = definedBy<AddOp>(shifted);
  if (!add)
    return {};
  Value square = otherOperand(
      add, [](Value value) { return uniformValue(value).has_value(); });
  ReduceOp mean = square ? meanOfLastDims(square) : ReduceOp();
  Value of = mean ? squared(mean.getInput()) : Value();
  if (!of || !isa<FloatType>(elementTypeOf(of)))
    return {};
  Value epsilon = square == add.getLhs() ? add.getRhs() : add.getLhs();
  return Deviation{of, mean.getDims().front(), *uniformValue(epsilon)};
}

/// Matches `value` = sqrt(mean(x²) + epsilon), with a mean over the last dims
/// of x. Returns x, epsilon and the first dim over which the mean is taken.
/// Returns nullopt for other values.
static std::optional<Deviation> deviationUnderRoot(Value value) {
  auto root = definedBy<SqrtOp>(value);
  return root ? deviation(root.getInput()) : std::nullopt;
}

/// Matches `value` = 1 / sqrt(mean(x²) + epsilon), with a mean over the last
/// dims of x. The model may write it as a reciprocal, a division, or a power
/// with exponent -0.5. Returns x, epsilon and the first dim over which the mean
/// is taken. Returns nullopt for other values.
static std::optional<Deviation> inverseDeviation(Value value) {
  if (auto reciprocal = definedBy<ReciprocalOp>(value))
    return deviationUnderRoot(reciprocal.getInput());
  if (auto quotient = definedBy<DivOp>(value))
    return isUniform(quotient.getLhs(), 1)
               ? deviationUnderRoot(quotient.getRhs())
               : std::nullopt;
  auto power = definedBy<PowOp>(value);
  return power && isUniform(power.getRhs(), -0.5) ? deviation(power.getLhs())
                                                  : std::nullopt;
}

/// Creates a constant of the given shape whose elements are all 1.
static Value ones(Type elementType, ArrayRef<int64_t> shape, Location loc,
                  PatternRewriter &rewriter) {
  auto type = RankedTensorType::get(shape, elementType);
  return ConstantOp::create(
      rewriter, loc, type,
      DenseElementsAttr::get(type, rewriter.getFloatAttr(elementType, 1)));
}

/// Returns the norm op, with a scale of ones, that replaces `op` = x /
/// sqrt(mean(x²) + epsilon). `value` is x, and `found` describes the divisor.
/// If x is y - mean(y), the norm is layer_norm(y), otherwise rms_norm(x).
/// Returns null if `found` describes the mean of another tensor than x, or if x
/// and the result of `op` differ in type.
static Value makeNorm(Operation *op, Value value,
                      std::optional<Deviation> found,
                      PatternRewriter &rewriter) {
  if (!found || found->of != value ||
      value.getType() != op->getResult(0).getType())
    return {};
  Value scale =
      ones(elementTypeOf(value), shapeOf(value).drop_front(found->dim),
           op->getLoc(), rewriter);
  auto centred = definedBy<SubOp>(value);
  ReduceOp mean = centred ? meanOfLastDims(centred.getRhs()) : ReduceOp();
  if (mean && mean.getInput() == centred.getLhs() &&
      mean.getDims().front() == found->dim)
    return LayerNormOp::create(rewriter, op->getLoc(), centred.getLhs(), scale,
                               Value(), found->dim, APFloat(found->epsilon));
  return RmsNormOp::create(rewriter, op->getLoc(), value, scale, found->dim,
                           APFloat(found->epsilon));
}

/// Replaces x / sqrt(mean(x²) + epsilon) by a layer_norm or an rms_norm.
/// Returns null for other quotients.
static Value divided(DivOp op, PatternRewriter &rewriter) {
  return makeNorm(op, op.getLhs(), deviationUnderRoot(op.getRhs()), rewriter);
}

/// Replaces x · (1 / sqrt(mean(x²) + epsilon)), with the operands of the
/// product in either order, by a layer_norm or an rms_norm. Returns null for
/// any other product.
static Value multiplied(MulOp op, PatternRewriter &rewriter) {
  if (Value norm =
          makeNorm(op, op.getLhs(), inverseDeviation(op.getRhs()), rewriter))
    return norm;
  return makeNorm(op, op.getRhs(), inverseDeviation(op.getLhs()), rewriter);
}

//===----------------------------------------------------------------------===//
// Scale, bias and casts
//===----------------------------------------------------------------------===//

/// Returns a tensor with the elements of `weight` and the type of the scale of
/// `norm`. The function can remove leading dims of size 1 from `weight`. For
/// example, it turns the shape [1, 1, 8] into [8] if the scale has the shape
/// [8]. Returns null if the type of the result would still differ from the type
/// of the scale.
template <typename Norm>
static Value fitted(Norm norm, Value weight, PatternRewriter &rewriter) {
  auto type = tensorType(norm.getScale());
  auto shape = shapeOf(weight);
  size_t extra = shape.size() - type.getRank();
  if (weight.getType() == type)
    return weight;
  if (shape.size() <= static_cast<size_t>(type.getRank()) ||
      shape.drop_front(extra) != type.getShape() ||
      !llvm::all_of(shape.take_front(extra), [](int64_t n) { return n == 1; }))
    return {};
  return ReshapeOp::create(rewriter, weight.getLoc(), type, weight);
}

/// Searches the two operands of `op` for the result of a norm op of the class
/// `Norm`, such as LayerNormOp. The result of the norm must have no other use.
/// Returns the norm and the other operand of `op`. If there is no such norm,
/// both members of the returned pair are null.
template <typename Norm>
static std::pair<Norm, Value> normOperand(Operation *op) {
  for (int i : {0, 1})
    if (auto norm = definedBy<Norm>(op->getOperand(i));
        norm && norm->hasOneUse())
      return {norm, op->getOperand(1 - i)};
  return {};
}

/// Replaces layer_norm(x) · weight by a layer_norm with the scale `weight`.
/// Returns null if the old scale is not 1 or if the norm has a bias.
static Value scaledLayerNorm(MulOp op, PatternRewriter &rewriter) {
  auto [norm, weight] = normOperand<LayerNormOp>(op);
  if (!norm || norm.getBias() || !isUniform(norm.getScale(), 1))
    return {};
  Value scale = fitted(norm, weight, rewriter);
  return scale ? LayerNormOp::create(rewriter, op.getLoc(), norm.getInput(),
                                     scale, Value(), norm.getDim(),
                                     norm.getEpsilon())
               : Value();
}

/// Replaces rms_norm(x) · weight by an rms_norm with the scale `weight`.
/// Returns null if the old scale is not 1.
static Value scaledRmsNorm(MulOp op, PatternRewriter &rewriter) {
  auto [norm, weight] = normOperand<RmsNormOp>(op);
  if (!norm || !isUniform(norm.getScale(), 1))
    return {};
  Value scale = fitted(norm, weight, rewriter);
  return scale ? RmsNormOp::create(rewriter, op.getLoc(), norm.getInput(),
                                   scale, norm.getDim(), norm.getEpsilon())
               : Value();
}

/// Replaces layer_norm(x) + bias by a layer_norm with that bias. Returns null
/// if the norm already has a bias, or if `bias` does not have the shape of the
/// norm's scale.
static Value biasedLayerNorm(AddOp op, PatternRewriter &rewriter) {
  auto [norm, weight] = normOperand<LayerNormOp>(op);
  Value bias =
      norm && !norm.getBias() ? fitted(norm, weight, rewriter) : Value();
  return bias ? LayerNormOp::create(rewriter, op.getLoc(), norm.getInput(),
                                    norm.getScale(), bias, norm.getDim(),
                                    norm.getEpsilon())
              : Value();
}

/// Returns x if the model computes cast(norm(cast(x))) with a norm in f32, and
/// x has a narrower float type. `op` is the outer cast, and `norm` is the norm
/// op. Returns null for other ops, if the result of `norm` has several uses, or
/// if the scale of `norm` is not 1.
template <typename Norm> static Value narrowInput(CastOp op, Norm norm) {
  auto widened =
      norm && norm->hasOneUse() ? definedBy<CastOp>(norm.getInput()) : CastOp();
  auto narrow = dyn_cast<FloatType>(elementTypeOf(op));
  if (!widened || !narrow || narrow.getWidth() >= 32 ||
      !elementTypeOf(widened).isF32() ||
      widened.getInput().getType() != op.getType() ||
      !isUniform(norm.getScale(), 1))
    return {};
  return widened.getInput();
}

/// Replaces cast(rms_norm(cast(x))) by rms_norm(x). x must have a float type
/// narrower than f32, and the old norm must compute in f32. Returns null for
/// other ops, or if the scale is not 1.
static Value narrowRmsNorm(CastOp op, PatternRewriter &rewriter) {
  auto norm = definedBy<RmsNormOp>(op.getInput());
  Value x = narrowInput(op, norm);
  if (!x)
    return {};
  return RmsNormOp::create(
      rewriter, op.getLoc(), x,
      ones(elementTypeOf(x), shapeOf(norm.getScale()), op.getLoc(), rewriter),
      norm.getDim(), norm.getEpsilon());
}

/// Replaces cast(layer_norm(cast(x))) by layer_norm(x). x must have a float
/// type narrower than f32, and the old norm must compute in f32. Returns null
/// for other ops, if the scale is not 1, or if there is a bias.
static Value narrowLayerNorm(CastOp op, PatternRewriter &rewriter) {
  auto norm = definedBy<LayerNormOp>(op.getInput());
  Value x = norm && !norm.getBias() ? narrowInput(op, norm) : Value();
  if (!x)
    return {};
  return LayerNormOp::create(
      rewriter, op.getLoc(), x,
      ones(elementTypeOf(x), shapeOf(norm.getScale()), op.getLoc(), rewriter),
      Value(), norm.getDim(), norm.getEpsilon());
}

void pcc::prepare::addNormPatterns(RewritePatternSet &patterns) {
  addRewrites(patterns, divided, multiplied, scaledLayerNorm, scaledRmsNorm,
              biasedLayerNorm, narrowRmsNorm, narrowLayerNorm);
}
