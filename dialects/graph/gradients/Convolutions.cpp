//===- Convolutions.cpp - gradients of convolutions -----------------------===//

#include "dialects/graph/gradients/ScatterGradients.h"
#include "dialects/graph/gradients/SlidingWindow.h"

using namespace mlir;
using namespace pcc::graph;

/// Returns `value` transposed so that dim 0 and dim 1 are exchanged.
static Value swapFirst(GradientBuilder &b, Value value) {
  SmallVector<int64_t> perm =
      llvm::to_vector(llvm::seq<int64_t>(0, tensorType(value).getRank()));
  std::swap(perm[0], perm[1]);
  return b.transpose(value, perm);
}

//===----------------------------------------------------------------------===//
// Filters
//===----------------------------------------------------------------------===//

/// Returns strides, leading padding, dilations and groups of `op`, a conv or
/// conv_transpose.
template <typename Op> static SlidingWindow slidingOf(Op op) {
  ArrayRef<int64_t> strides = op.getStrides();
  return {strides, op.getPads().take_front(strides.size()), op.getDilations(),
          static_cast<int64_t>(op.getGroup())};
}

/// Returns, per spatial dim, how many padding elements a convolution needs
/// after the end of `input`. A negative number counts the elements of `input`
/// after the last window. `outputs` are the numbers of windows, and `taps` are
/// the sizes of the filter.
static SmallVector<int64_t> missing(const SlidingWindow &sliding, Value input,
                                    ArrayRef<int64_t> outputs,
                                    ArrayRef<int64_t> taps) {
  SmallVector<int64_t> counts;
  for (size_t dim = 0; dim < outputs.size(); ++dim)
    counts.push_back(sliding.reach(dim, outputs[dim], taps[dim]) -
                     sliding.low[dim] - spatial(input)[dim]);
  return counts;
}

/// Returns a list with one entry per dim of a tensor [batch, channels,
/// spatial…]: two zeros, then the entries of `ofSpatial`.
static SmallVector<int64_t> ofAllDims(ArrayRef<int64_t> ofSpatial) {
  SmallVector<int64_t> counts(2, 0);
  llvm::append_range(counts, ofSpatial);
  return counts;
}

/// Builds a convolution of `input` by `filter`. `outputs` holds the sizes of
/// the spatial dims of the result. `sliding` holds the strides, the dilations,
/// the number of groups, and the padding before the start of `input`. The
/// function itself computes the padding after the end of `input`. If the last
/// window reads beyond the end, zeros are added at the end. If the last window
/// ends before the end, the elements after the window are removed.
static Value convolve(GradientBuilder &b, Value input, Value filter,
                      const SlidingWindow &sliding, ArrayRef<int64_t> outputs) {
  SmallVector<int64_t> pads(sliding.low), cut,
      none(tensorType(input).getRank(), 0);
  for (int64_t high : missing(sliding, input, outputs, spatial(filter))) {
    cut.push_back(std::min<int64_t>(0, high));
    pads.push_back(std::max<int64_t>(0, high));
  }
  return b.make<ConvOp>(b.pad(input, none, ofAllDims(cut)), filter,
                        sliding.strides, pads, sliding.dilations,
                        static_cast<uint64_t>(sliding.group));
}

Value pcc::graph::convolveBack(GradientBuilder &b, Value gradient, Value filter,
                               const SlidingWindow &sliding,
                               ArrayRef<int64_t> inputs) {
  SmallVector<int64_t> pads(sliding.low), rest;
  for (size_t dim = 0; dim < inputs.size(); ++dim) {
    int64_t over =
        sliding.reach(dim, spatial(gradient)[dim], spatial(filter)[dim]) -
        sliding.low[dim] - inputs[dim];
    pads.push_back(std::max<int64_t>(0, over));
    rest.push_back(std::max<int64_t>(0, -over));
  }
  return b.make<ConvTransposeOp>(gradient, filter, sliding.strides, pads,
                                 sliding.dilations, rest,
                                 static_cast<uint64_t>(sliding.group));
}

/// Moves the channels of `input` to dim 0 and the groups into the batch dim.
/// The shape [N, group · C, spatial] becomes [C, group · N, spatial].
static Value channelsFirst(GradientBuilder &b, Value input, int64_t group) {
  if (group == 1)
    return swapFirst(b, input);
  SmallVector<int64_t> shape(tensorType(input).getShape());
  int64_t batch = shape[0], channels = shape[1] / group;
  shape[1] = channels;
  shape.insert(shape.begin() + 1, group);
  SmallVector<int64_t> perm{2, 1, 0};
  llvm::append_range(perm, llvm::seq<int64_t>(3, shape.size()));
  Value turned = b.transpose(b.reshape(input, shape), perm);
  shape.erase(shape.begin());
  shape[0] = channels;
  shape[1] = group * batch;
  return b.reshape(turned, shape);
}

/// Builds the gradient of the filter of a convolution of `input`. `dy` is the
/// gradient of the result. The gradient is a convolution of `input` by `dy`
/// that sums over the batch, with stride and dilation exchanged.
static Value filterGradient(GradientBuilder &b, Value input, Value dy,
                            const SlidingWindow &sliding, Value filter) {
  SlidingWindow turned{sliding.dilations, sliding.low, sliding.strides,
                       sliding.group};
  return swapFirst(b, convolve(b, channelsFirst(b, input, sliding.group),
                               swapFirst(b, dy), turned, spatial(filter)));
}

//===----------------------------------------------------------------------===//
// Filters of one tap
//===----------------------------------------------------------------------===//

/// Returns whether the filter has size 1 in all spatial dims (1x1 convolution).
static bool hasOneTap(Value filter) {
  return ShapedType::getNumElements(spatial(filter)) == 1;
}

/// Reshapes `tensor` to four dims. The dims of `tensor` are the batch, the
/// channels and one or more spatial dims. The function splits the channels into
/// two dims: the group, of size `group`, and the channel within the group. All
/// spatial dims are merged into one dim. For example, if `group` is 2, the
/// shape [8, 6, 5, 5] becomes [8, 2, 3, 25].
static Value flattened(GradientBuilder &b, Value tensor, int64_t group) {
  ArrayRef<int64_t> shape = tensorType(tensor).getShape();
  return b.reshape(tensor, {shape[0], group, shape[1] / group,
                            ShapedType::getNumElements(spatial(tensor))});
}

/// Builds the gradient of the input of a 1x1 convolution: the product of the
/// transposed filter and `dy`, the gradient of the result. `type` is the type
/// of the input. `sliding` holds strides, number of groups and padding before
/// the input. Input elements that no window reads get the gradient 0: for 5
/// elements, stride 2 and the product [p q r], it is [p 0 q 0 r].
static Value multiplyBack(GradientBuilder &b, Value dy, Value filter,
                          const SlidingWindow &sliding, RankedTensorType type) {
  ArrayRef<int64_t> shape = tensorType(filter).getShape();
  Value matrices =
      b.reshape(filter, {sliding.group, shape[0] / sliding.group, shape[1]});
  Value product = b.make<MatmulOp>(matrices, flattened(b, dy, sliding.group),
                                   /*transpose_lhs=*/true, false);
  SmallVector<int64_t> places(tensorType(dy).getShape()), starts, steps(2, 1);
  places[1] = type.getDimSize(1);
  for (int64_t low : ofAllDims(sliding.low))
    starts.push_back(-low);
  llvm::append_range(steps, sliding.strides);
  return sliceBack(b, b.reshape(product, places), starts, steps, type);
}

/// Extracts the elements of `input` that a 1x1 convolution reads, one per
/// channel and window. Windows in the padding give 0. With stride 2, 5 6 7 8 9
/// become 5 7 9. `outputs` are the spatial sizes of the result.
static Value sliceInput(GradientBuilder &b, Value input,
                        const SlidingWindow &sliding,
                        ArrayRef<int64_t> outputs) {
  SmallVector<int64_t> taps(outputs.size(), 1), none(outputs.size() + 2, 0),
      sizes(tensorType(input).getShape().take_front(2)), steps(2, 1);
  SmallVector<int64_t> high = missing(sliding, input, outputs, taps);
  llvm::append_range(sizes, outputs);
  llvm::append_range(steps, sliding.strides);
  Value padded = b.pad(input, ofAllDims(sliding.low), ofAllDims(high));
  if (tensorType(padded).getShape() == ArrayRef(sizes))
    return padded;
  return b.make<SliceOp>(padded, none, sizes, steps);
}

/// Builds the gradient of the filter of a 1x1 convolution of `input`: one
/// matmul per group. `dy` is the gradient of the convolution's result.
static Value matrixGradient(GradientBuilder &b, Value input, Value dy,
                            const SlidingWindow &sliding, Value filter) {
  Value places = sliceInput(b, input, sliding, spatial(dy));
  Value sum = b.make<EinsumOp>("ngos,ngcs->goc",
                               ValueRange{flattened(b, dy, sliding.group),
                                          flattened(b, places, sliding.group)});
  return b.reshape(sum, tensorType(filter).getShape());
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Builds the gradient of the filter of a convolution of `input`. `dy` is the
/// gradient of the convolution's result.
static Value ofFilter(GradientBuilder &b, Value input, Value dy,
                      const SlidingWindow &sliding, Value filter) {
  return hasOneTap(filter) ? matrixGradient(b, input, dy, sliding, filter)
                           : filterGradient(b, input, dy, sliding, filter);
}

Gradients ConvOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  Value dy = gradients.front(), input = getInput(), filter = getFilter();
  SlidingWindow sliding = slidingOf(*this);
  SmallVector<Value> operands(2);
  if (b.wants(input))
    operands[0] = hasOneTap(filter)
                      ? multiplyBack(b, dy, filter, sliding, tensorType(input))
                      : convolveBack(b, dy, filter, sliding, spatial(input));
  if (b.wants(filter))
    operands[1] = ofFilter(b, input, dy, sliding, filter);
  return operands;
}

/// Builds the gradients of x and `filter` for y = conv_transpose(x, filter).
/// `dy` is the gradient of y. The gradient of x is a convolution of `dy` by the
/// filter. The gradient of the filter is built as for a convolution, but with x
/// and `dy` exchanged.
Gradients ConvTransposeOp::buildGradients(GradientBuilder &b,
                                          ValueRange gradients) {
  Value dy = gradients.front(), input = getInput(), filter = getFilter();
  SlidingWindow sliding = slidingOf(*this);
  SmallVector<Value> operands(2);
  if (b.wants(input))
    operands[0] = convolve(b, dy, filter, sliding, spatial(input));
  if (b.wants(filter))
    operands[1] = ofFilter(b, dy, input, sliding, filter);
  return operands;
}
