//===- TransposedConvolution.cpp - transposed convolutions as matmuls -----===//
//
// A transposed convolution adds the product of input q and tap k of the filter
// to output p wherever
//
//   p = q · stride + k · dilation − low
//
// There are two ways to compute it:
//
//   convolution   inserts stride − 1 zeros between inputs, and convolves them
//                 with reversed windows
//   gather        multiplies all inputs with all taps by one matmul; each
//                 output then gathers and sums its products
//
// With stride 1 the convolution wastes no work. With larger strides the gather
// avoids products with zeros.
//
//===----------------------------------------------------------------------===//

#include "passes/7-emit/gpu/lower/TransposedConvolution.h"
#include "passes/7-emit/gpu/lower/Convolution.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

/// Returns the sizes of the spatial dims of `value`. The shape of `value` has
/// two other dims in front of the spatial dims. Example: for the shape [8, 3,
/// 32, 64], the function returns [32, 64].
static ArrayRef<int64_t> spatial(Value value) {
  return shapeOf(value).drop_front(2);
}

/// Returns the filter of `op`, [G · C, O, filter dims], in the shape
/// [G, C, O, filter dims]. Each of the G groups has C input channels and O
/// output channels.
static Value filtersOfGroups(LoweringBuilder &b, ConvTransposeOp op) {
  SmallVector<int64_t> shape(shapeOf(op.getFilter()));
  const int64_t group = op.getGroup();
  shape[0] /= group;
  shape.insert(shape.begin(), group);
  return b.reshape(op.getFilter(), shape);
}

//===----------------------------------------------------------------------===//
// Reversed windows
//===----------------------------------------------------------------------===//

/// Returns `input` with `stride` − 1 zeros after each element along each
/// spatial dim. `strides` has one stride per spatial dim.
static Value dilate(LoweringBuilder &b, Value input,
                    ArrayRef<int64_t> strides) {
  SmallVector<int64_t> split(shapeOf(input)), whole(split), low, high;
  for (auto [dim, stride] : llvm::enumerate(strides)) {
    split.insert(split.begin() + 3 + 2 * dim, 1);
    whole[dim + 2] *= stride;
  }
  low.assign(split.size(), 0);
  high = low;
  for (auto [dim, stride] : llvm::enumerate(strides))
    high[3 + 2 * dim] = stride - 1;
  return b.reshape(b.pad(b.reshape(input, split), low, high, 0), whole);
}

/// Computes `op`, a transposed convolution, as an ordinary convolution, and
/// returns the result. The function first inserts stride − 1 zeros after each
/// input element along each spatial dim. Example: the input 5 6 with stride 3
/// becomes 5 0 0 6 0 0. The function then convolves the enlarged input with the
/// filter in reverse order. Example: the filter a b c becomes c b a.
static Value convolveSpread(LoweringBuilder &b, ConvTransposeOp op) {
  Value filters = filtersOfGroups(b, op);
  SmallVector<int64_t> perm =
      llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(filters).size()));
  std::swap(perm[1], perm[2]);
  SmallVector<SlidingDim> dims;
  for (auto [dim, output] : llvm::enumerate(spatial(op.getResult()))) {
    const int64_t window = spatial(op.getFilter())[dim],
                  dilation = op.getDilations()[dim];
    dims.push_back({output, window, 1,
                    (window - 1) * dilation - op.getPads()[dim], dilation,
                    /*reversed=*/true});
  }
  Value input = dilate(b, op.getInput(), op.getStrides());
  return convolve(b, input, b.transpose(filters, perm), dims);
}

//===----------------------------------------------------------------------===//
// Gathered products
//===----------------------------------------------------------------------===//

namespace {
/// Each output element of a transposed convolution is a sum of products of an
/// input element and a filter element. This class finds these products for each
/// output element. It uses only spatial indices, which are equal for all
/// samples and channels.
class Sources {
public:
  Sources(LoweringBuilder &b, ConvTransposeOp op) : b(b), op(op) {
    const auto numDims = static_cast<int64_t>(op.getStrides().size());
    for (int64_t dim = 0; dim < numDims; ++dim)
      append(spatial(op.getFilter())[dim], tap(dim));
    for (int64_t dim = 0; dim < numDims; ++dim)
      appendInput(dim);
  }

  /// Tensors of shape [filter dims, output dims]. For filter element k and
  /// output element p, `isThere` tells whether p is a sum that includes a
  /// product with k. `place` is the row-major number of this product among all
  /// products, which have the shape [filter dims, input dims]. If there is no
  /// product, `place` is any valid number.
  Value place, isThere;

private:
  /// Returns the indices 0, 1, 2 and so on along spatial dim `dim` of the
  /// filter. The result can be broadcast to the shape [filter dims, output
  /// dims]: its dim `dim` holds the indices, and all other dims have size 1.
  Value tap(int64_t dim) {
    return b.positions(spatial(op.getFilter())[dim], dim,
                       2 * op.getStrides().size());
  }

  /// Extends the row-major numbers in `place` by one more dim, which has `size`
  /// elements: replaces each number p by p · size + i, where i is the index
  /// along the new dim. `index` holds the indices i. Must be called for each
  /// dim, from the first to the last.
  void append(int64_t size, Value index) {
    place = place ? b.make<AddOp>(b.make<MulOp>(place, b.integer(size)), index)
                  : index;
  }

  /// Adds a condition to `isThere`, a tensor of booleans. Compares `lhs` and
  /// `rhs` by `predicate`, element by element. `isThere` becomes the logical
  /// AND of `isThere` and the result of the comparison. The first call sets
  /// `isThere` to the result of the comparison.
  void require(Predicate predicate, Value lhs, Value rhs) {
    Value holds = b.compare(predicate, lhs, rhs);
    isThere = isThere ? b.make<AndOp>(isThere, holds) : holds;
  }

  /// Updates `place` and `isThere` for spatial dim `dim`. In the sum for output
  /// element p, filter element k is multiplied by the input element with the
  /// index (p + padding − k · dilation) / stride. If this number is not an
  /// integer or is outside the input, `isThere` becomes false. Must be called
  /// for each dim, from the first to the last.
  void appendInput(int64_t dim) {
    const int64_t numDims = op.getStrides().size(),
                  size = spatial(op.getInput())[dim];
    Value stride = b.integer(op.getStrides()[dim]);
    Value output = b.make<AddOp>(
        b.positions(spatial(op.getResult())[dim], numDims + dim, 2 * numDims),
        b.integer(op.getPads()[dim]));
    Value scaled = b.make<SubOp>(
        output, b.make<MulOp>(tap(dim), b.integer(op.getDilations()[dim])));
    Value input = b.make<DivOp>(scaled, stride);
    require(Predicate::Equal, b.make<MulOp>(input, stride), scaled);
    require(Predicate::GreaterOrEqual, scaled, b.integer(0));
    require(Predicate::Less, input, b.integer(size));
    append(size, b.make<MinOp>(b.make<MaxOp>(input, b.integer(0)),
                               b.integer(size - 1)));
  }

  LoweringBuilder &b;
  ConvTransposeOp op;
};
} // namespace

/// Returns the product of each input element and each tap (filter element),
/// summed over the C input channels of a group. The result has the shape [N, G,
/// O · taps, inputs], for N samples, G groups and O output channels per group.
/// `taps` and `inputs` are the numbers of spatial positions of the filter and
/// of the input.
static Value productsOf(LoweringBuilder &b, ConvTransposeOp op) {
  Value filters = filtersOfGroups(b, op);
  ArrayRef<int64_t> shape = shapeOf(filters);
  const int64_t batch = shapeOf(op.getInput())[0], groups = shape[0],
                channels = shape[1],
                inputs = ShapedType::getNumElements(spatial(op.getInput())),
                rows = ShapedType::getNumElements(shape.drop_front(2));
  return b.make<MatmulOp>(
      b.reshape(filters, {groups, channels, rows}),
      b.reshape(op.getInput(), {batch, groups, channels, inputs}),
      /*transpose_lhs=*/true, /*transpose_rhs=*/false);
}

/// Computes the transposed convolution `op` in three steps, and returns its
/// result. A tap is an element of the filter:
///
///   1. A matmul multiplies each input element with each tap.
///   2. A gather selects the products that belong to each output element.
///   3. A reduction sums the products of each output element.
static Value gatherProducts(LoweringBuilder &b, ConvTransposeOp op) {
  const int64_t planes =
      shapeOf(op.getResult())[0] * shapeOf(op.getResult())[1];
  Value products = productsOf(b, op);
  const int64_t perPlane =
      tensorType(products).getNumElements() / std::max<int64_t>(1, planes);
  Sources sources(b, op);
  Value seen = b.make<GatherOp>(b.reshape(products, {planes, perPlane}),
                                sources.place, uint64_t(1));
  SmallVector<int64_t> taps;
  for (size_t dim = 0; dim < op.getStrides().size(); ++dim)
    taps.push_back(dim + 1);
  return b.reduce(ReduceKind::Sum, b.selectOr(sources.isThere, seen, 0), taps);
}

/// Returns whether gatherProducts() should compute `op`, instead of
/// convolveSpread(). True if a stride is larger than 1, with two exceptions.
/// For bf16 and f16, gatherProducts() would round each product. With one input
/// channel and one output channel per group, its matmul would be slow.
static bool hasProducts(ConvTransposeOp op) {
  Type element = tensorType(op.getInput()).getElementType();
  ArrayRef<int64_t> filter = shapeOf(op.getFilter());
  const bool isStrided =
      llvm::any_of(op.getStrides(), [](int64_t stride) { return stride > 1; });
  const bool isSingle =
      filter[1] == 1 && filter[0] == static_cast<int64_t>(op.getGroup());
  return isStrided && !isSingle && sumType(element) == element;
}

Value pcc::emit::convolveTransposed(LoweringBuilder &b, ConvTransposeOp op) {
  return hasProducts(op) ? gatherProducts(b, op) : convolveSpread(b, op);
}
