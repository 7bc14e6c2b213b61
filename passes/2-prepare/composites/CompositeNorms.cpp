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

/// Returns the mean that defines `value`, if it reduces a suffix of the dims
/// and keeps them as dims of size 1; null otherwise.
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

/// Returns x if `value` = x², written as a product or a power; null otherwise.
static Value squared(Value value) {
  if (auto product = definedBy<MulOp>(value))
    return product.getLhs() == product.getRhs() ? product.getLhs() : Value();
  auto power = definedBy<PowOp>(value);
  return power && isUniform(power.getRhs(), 2) ? power.getLhs() : Value();
}

namespace {
/// The expression sqrt(mean(of²) + epsilon), with the mean over `dim` and all
/// dims after it.
struct Deviation {
  Value of;
  int64_t dim;
  double epsilon;
};
} // namespace

/// Matches `shifted` = mean(of²) + epsilon, the operand of the root.
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

/// Matches `value` = sqrt(mean(of²) + epsilon).
static std::optional<Deviation> deviationUnderRoot(Value value) {
  auto root = definedBy<SqrtOp>(value);
  return root ? deviation(root.getInput()) : std::nullopt;
}

/// Matches `value` = 1 / sqrt(mean(of²) + epsilon), written as a reciprocal, a
/// quotient or a power of -0.5.
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

/// Creates a constant of ones.
static Value ones(Type elementType, ArrayRef<int64_t> shape, Location loc,
                  PatternRewriter &rewriter) {
  auto type = RankedTensorType::get(shape, elementType);
  return ConstantOp::create(
      rewriter, loc, type,
      DenseElementsAttr::get(type, rewriter.getFloatAttr(elementType, 1)));
}

/// Creates the norm, with a scale of ones, that replaces `op`, a division of
/// `value` by the deviation `found`. The norm is a layer_norm if `value` is x -
/// mean(x) over the same dims, otherwise an rms_norm. Returns null if `found`
/// is nullopt or the deviation of another value.
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

/// Rewrites x / deviation.
static Value divided(DivOp op, PatternRewriter &rewriter) {
  return makeNorm(op, op.getLhs(), deviationUnderRoot(op.getRhs()), rewriter);
}

/// Rewrites x · (1 / deviation), with the factors in either order.
static Value multiplied(MulOp op, PatternRewriter &rewriter) {
  if (Value norm =
          makeNorm(op, op.getLhs(), inverseDeviation(op.getRhs()), rewriter))
    return norm;
  return makeNorm(op, op.getRhs(), inverseDeviation(op.getLhs()), rewriter);
}

//===----------------------------------------------------------------------===//
// Scale, bias and casts
//===----------------------------------------------------------------------===//

/// Returns `weight` with the type of the scale of `norm`, reshaped if it has
/// further leading dims of size 1; null if it does not have exactly one number
/// per normalised element.
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

/// Returns the norm that defines an operand of the binary op `op` and has no
/// other use, and the other operand; null values if there is none.
template <typename Norm>
static std::pair<Norm, Value> normOperand(Operation *op) {
  for (int i : {0, 1})
    if (auto norm = definedBy<Norm>(op->getOperand(i));
        norm && norm->hasOneUse())
      return {norm, op->getOperand(1 - i)};
  return {};
}

/// Rewrites layer_norm(x) · weight to a layer_norm with the scale `weight`. The
/// norm must have a scale of 1 and no bias.
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

/// Rewrites rms_norm(x) · weight to an rms_norm with the scale `weight`. The
/// norm must have a scale of 1.
static Value scaledRmsNorm(MulOp op, PatternRewriter &rewriter) {
  auto [norm, weight] = normOperand<RmsNormOp>(op);
  if (!norm || !isUniform(norm.getScale(), 1))
    return {};
  Value scale = fitted(norm, weight, rewriter);
  return scale ? RmsNormOp::create(rewriter, op.getLoc(), norm.getInput(),
                                   scale, norm.getDim(), norm.getEpsilon())
               : Value();
}

/// Rewrites layer_norm(x) + bias to a layer_norm with that bias.
static Value biasedLayerNorm(AddOp op, PatternRewriter &rewriter) {
  auto [norm, weight] = normOperand<LayerNormOp>(op);
  Value bias =
      norm && !norm.getBias() ? fitted(norm, weight, rewriter) : Value();
  return bias ? LayerNormOp::create(rewriter, op.getLoc(), norm.getInput(),
                                    norm.getScale(), bias, norm.getDim(),
                                    norm.getEpsilon())
              : Value();
}

/// Returns the narrow float tensor whose cast to f32 `norm` reads, if `op`
/// casts the result of `norm` back to the same type. The scale must be 1, since
/// another one would be applied in f32 in the model. Returns null otherwise.
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

/// Rewrites cast(rms_norm(cast(x))) to an rms_norm of the narrow x.
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

/// Rewrites cast(layer_norm(cast(x))) without bias to a layer_norm of the
/// narrow x.
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
