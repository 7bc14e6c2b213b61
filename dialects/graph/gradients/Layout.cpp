//===- Layout.cpp - gradients of ops that move elements -------------------===//

#include "dialects/graph/gradients/ScatterGradients.h"
#include "dialects/graph/ops/Padding.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace pcc::graph;

Gradients TransposeOp::buildGradients(GradientBuilder &b,
                                      ValueRange gradients) {
  return onlyGradient(
      b.transpose(gradients.front(), invertPermutationVector(getPerm())));
}

Gradients ReshapeOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  return onlyGradient(
      b.reshape(gradients.front(), tensorType(getInput()).getShape()));
}

Gradients BroadcastOp::buildGradients(GradientBuilder &b,
                                      ValueRange gradients) {
  return onlyGradient(b.sumTo(gradients.front(), getInput()));
}

Gradients ConcatOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  int64_t dim = getDim(), offset = 0;
  SmallVector<Value> operands;
  for (Value input : getInputs()) {
    int64_t size = tensorType(input).getDimSize(dim);
    operands.push_back(b.wants(input)
                           ? b.slice(gradients.front(), dim, offset, size)
                           : Value());
    offset += size;
  }
  return operands;
}

//===----------------------------------------------------------------------===//
// slice
//===----------------------------------------------------------------------===//

/// Inserts `step - 1` zeros after each element of `value` along `dim`.
///   [a b], step 3:  [a 0 0 b 0 0]
static Value spread(GradientBuilder &b, Value value, int64_t dim,
                    int64_t step) {
  SmallVector<int64_t> shape(tensorType(value).getShape());
  SmallVector<int64_t> low(shape.size() + 1, 0), high = low;
  high[dim + 1] = step - 1;
  SmallVector<int64_t> split(shape);
  split.insert(split.begin() + dim + 1, 1);
  shape[dim] *= step;
  return b.reshape(b.pad(b.reshape(value, split), low, high), shape);
}

Value pcc::graph::sliceBack(GradientBuilder &b, Value gradient,
                            ArrayRef<int64_t> starts, ArrayRef<int64_t> steps,
                            RankedTensorType type) {
  SmallVector<int64_t> low(starts), high;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t size = tensorType(gradient).getDimSize(dim), step = steps[dim];
    if (size > 1 && step < 0) {
      low[dim] += (size - 1) * step;
      gradient = b.slice(gradient, dim, size - 1, size, -1);
    }
    if (size > 1 && std::abs(step) > 1)
      gradient = spread(b, gradient, dim, std::abs(step));
    high.push_back(type.getDimSize(dim) - low[dim] -
                   tensorType(gradient).getDimSize(dim));
  }
  return b.pad(gradient, low, high);
}

Gradients SliceOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  return onlyGradient(sliceBack(b, gradients.front(), getStarts(), getSteps(),
                                tensorType(getInput())));
}

//===----------------------------------------------------------------------===//
// pad
//===----------------------------------------------------------------------===//

namespace {
/// A range of indices of a padded dim, whose elements are copies:
///
///   padded[start + i] = operand[source + i · step]  for 0 ≤ i < count
///
/// For example, mode reflect pads [a b c] by 2 to [c b a b c b a]. The first
/// range is [c b a]: start 0, count 3, source 2, step -1.
struct CopiedRange {
  /// `start` is the index of the first element of the range in the padded dim.
  /// `count` is the number of elements of the range. All these elements are
  /// copies of operand elements. The first one is a copy of the operand element
  /// at index `source`. From each element of the range to the next, the operand
  /// index changes by `step`: 1, -1 or 0. Step 0 repeats one operand element.
  int64_t start, count, source, step;
};
} // namespace

/// Splits dim `dim` of the result of a pad (mode reflect, edge or wrap) into
/// ranges. In a range, the index of the copied operand element changes by a
/// constant step. Mode reflect pads [a b c] to [c b a b c b a], with the ranges
/// [c b a], [b c] and [b a].
static SmallVector<CopiedRange> runsOf(PadOp op, int64_t dim) {
  SmallVector<CopiedRange> runs;
  int64_t size = tensorType(op.getInput()).getDimSize(dim);
  for (int64_t i = 0; i < tensorType(op.getResult()).getDimSize(dim); ++i) {
    int64_t source = paddedIndex(op.getMode(), i - op.getLow()[dim], size);
    if (!runs.empty()) {
      CopiedRange &run = runs.back();
      int64_t step = source - (run.source + (run.count - 1) * run.step);
      if (run.count == 1 && std::abs(step) <= 1)
        run.step = step;
      if (step == run.step && std::abs(step) <= 1) {
        ++run.count;
        continue;
      }
    }
    runs.push_back({i, 1, source, 0});
  }
  return runs;
}

/// Builds the gradient of the operand of a pad (mode reflect, edge or wrap)
/// along dim `dim`. Sums the entries of `gradient` over all copies of an
/// operand element.
static Value foldCopies(GradientBuilder &b, PadOp op, Value gradient,
                        int64_t dim) {
  int64_t size = tensorType(op.getInput()).getDimSize(dim);
  if (op.getLow()[dim] == 0 && op.getHigh()[dim] == 0)
    return gradient;
  Value sum;
  for (const CopiedRange &run : runsOf(op, dim)) {
    Value part = b.slice(gradient, dim, run.start, run.count);
    int64_t first =
        std::min(run.source, run.source + (run.count - 1) * run.step);
    if (run.step < 0)
      part = b.slice(part, dim, run.count - 1, run.count, -1);
    if (run.step == 0 && run.count > 1)
      part = b.sum(part, {dim});
    SmallVector<int64_t> low(tensorType(part).getRank(), 0), high = low;
    low[dim] = first;
    high[dim] = size - first - tensorType(part).getDimSize(dim);
    part = b.pad(part, low, high);
    sum = sum ? b.add(sum, part) : part;
  }
  return sum;
}

/// Builds the gradient of the operand of a pad; `gradient` is the gradient of
/// the result. In mode constant, the padding is cut off. In all other modes,
/// the padding contains copies, and their gradients are summed.
static Value ofPaddedInput(GradientBuilder &b, PadOp op, Value gradient) {
  if (op.getMode() == PadMode::Constant) {
    auto negate = [](int64_t count) { return -count; };
    return b.pad(gradient, llvm::map_to_vector(op.getLow(), negate),
                 llvm::map_to_vector(op.getHigh(), negate));
  }
  for (int64_t dim = 0; dim < tensorType(gradient).getRank(); ++dim)
    gradient = foldCopies(b, op, gradient, dim);
  return gradient;
}

/// Builds a boolean tensor with the shape of the result of the pad `op`. An
/// element is true if it belongs to the padding, and false if it belongs to the
/// operand. If `op` pads 3 elements by 1 at both ends, the tensor is
/// [true false false false true].
static Value padding(GradientBuilder &b, PadOp op) {
  Type boolean = b.getI1Type();
  auto type =
      RankedTensorType::get(tensorType(op.getInput()).getShape(), boolean);
  return b.make<PadOp>(PadMode::Constant, b.zeros(type), b.scalar(boolean, 1),
                       op.getLow(), op.getHigh());
}

Gradients PadOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  Value dy = gradients.front();
  SmallVector<Value> operands(getNumOperands());
  if (b.wants(getInput()))
    operands[0] = ofPaddedInput(b, *this, dy);
  if (getValue() && b.wants(getValue()))
    operands[1] = b.sumTo(b.where(padding(b, *this), dy), getValue());
  return operands;
}

//===----------------------------------------------------------------------===//
// rotary
//===----------------------------------------------------------------------===//

/// Exchanges the two elements of each pair along the last dim of `table`, the
/// cosines or sines of a rotary embedding. [a b c d] becomes [b a d c] if
/// `interleaved` is true, and [c d a b] otherwise. If one number applies to
/// both elements, returns `table` itself.
static Value swapPairs(GradientBuilder &b, Value table, bool interleaved) {
  SmallVector<int64_t> shape(tensorType(table).getShape());
  if (shape.empty() || shape.back() == 1)
    return table;
  SmallVector<int64_t> pairs(shape);
  int64_t half = pairs.pop_back_val() / 2;
  pairs.append({interleaved ? half : 2, interleaved ? 2 : half});
  int64_t dim = static_cast<int64_t>(pairs.size()) - (interleaved ? 1 : 2);
  Value swapped = b.slice(b.reshape(table, pairs), dim, 1, 2, -1);
  return b.reshape(swapped, shape);
}

/// Builds the gradients of a rotary embedding, which rotates each pair (p, q)
/// to (p c − q s, q c' + p s'). For the gradients dp and dq of the rotated
/// pair:
///
///   gradient of (p, q)    dp c + dq s'   dq c' − dp s
///   gradient of (c, c')   dp p           dq q
///   gradient of (s, s')   −dp q          dq p
Gradients RotaryOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  Value dy = gradients.front(), x = getInput();
  bool interleaved = getInterleaved();
  SmallVector<Value> operands(3);
  if (b.wants(x))
    operands[0] = b.make<RotaryOp>(
        dy, getCos(), b.neg(swapPairs(b, getSin(), interleaved)), interleaved);
  if (b.wants(getCos()))
    operands[1] = b.sumTo(b.mul(dy, x), getCos());
  if (b.wants(getSin())) {
    Value turned = b.make<RotaryOp>(x, b.like(x, 0), b.like(x, 1), interleaved);
    operands[2] = b.sumTo(b.mul(dy, turned), getSin());
  }
  return operands;
}
