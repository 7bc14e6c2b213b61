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

/// Returns the filter of `op` in another shape:
///
///   shape in `op`    [G · C, O, taps…]   for example [6, 4, 3, 3]
///   returned shape   [G, C, O, taps…]    for example [2, 3, 4, 3, 3]
///
/// The convolution has G groups. Each group has C input channels and O output
/// channels. `taps…` are the sizes of the spatial dims of the filter. In the
/// example, G is 2, C is 3 and O is 4.
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
/// Finds, for each output element of a transposed convolution, the products
/// whose sum is the output element. Each product is an input element times a
/// tap. A tap is an element of the filter. An output element has at most one
/// product per tap. Example: one spatial dim, 3 taps, stride 2, no padding:
///
///   output element 4 = input element 2 · tap 0 + input element 1 · tap 2
///
/// Here, tap 1 has no product. The class finds products by their indices along
/// the spatial dims only, because these indices are the same for all samples
/// and channels.
class Sources {
public:
  Sources(LoweringBuilder &b, ConvTransposeOp op) : b(b), op(op) {
    const auto numDims = static_cast<int64_t>(op.getStrides().size());
    for (int64_t dim = 0; dim < numDims; ++dim)
      append(spatial(op.getFilter())[dim], tap(dim));
    for (int64_t dim = 0; dim < numDims; ++dim)
      appendInput(dim);
  }

  /// Two tensors of the shape [taps…, outputs…]. A tap is an element of the
  /// filter. For each pair of a tap and an output element, `isThere` tells
  /// whether the output element adds a product of the tap. `place` holds the
  /// number of this product, or the number of an arbitrary product if there is
  /// none.
  ///
  /// The products of all taps and all input elements are numbered in the
  /// row-major order of [taps…, inputs…]. Example: with 5 input elements, the
  /// product of tap 2 and input element 4 has the number 2 · 5 + 4 = 14.
  Value place, isThere;

private:
  /// Returns the indices of the taps along spatial dim `dim` of the filter,
  /// from 0 on. A tap is an element of the filter. The result has one dim for
  /// each spatial dim of the filter, followed by one dim for each spatial dim
  /// of the output. Dim `dim` holds the indices. All other dims have size 1.
  ///
  /// Example: a filter of 3 × 5 taps. tap(1) returns the indices 0 to 4 in the
  /// shape [1, 5, 1, 1].
  Value tap(int64_t dim) {
    return b.positions(spatial(op.getFilter())[dim], dim,
                       2 * op.getStrides().size());
  }

  /// Computes numbers of tensor elements, in row-major order, from the indices
  /// of the elements. The caller must call the function once for each dim of
  /// the tensor, from the first dim to the last. `size` is the size of the dim.
  /// `index` holds the indices along the dim. After the last call, `place`
  /// holds the numbers. Example: the element [2, 4] of a [3, 5] tensor. The
  /// call append(3, 2) sets `place` to 2. The call append(5, 4) sets `place` to
  /// 2 · 5 + 4 = 14.
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

  /// Updates `place` and `isThere` for the spatial dim `dim`. The caller must
  /// call the function once for each spatial dim, from the first to the last. A
  /// tap is an element of the filter. Output element p adds the product of tap
  /// k and input element q, where q is
  ///
  ///   (p + padding − k · dilation) / stride
  ///
  /// If q is not an integer or lies outside of the input, there is no product.
  /// Then `isThere` becomes false, and a valid index replaces q in `place`.
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

/// Returns the product of the input and the filter of `op`, as one matmul:
///
///   input    [N, G, C, inputs]           N samples, G groups of C channels
///   filter   [G, C, O · taps]            O output channels per group
///   result   [N, G, O · taps, inputs]
///
/// A tap is an element of the filter. The matmul multiplies each input element
/// with each tap, and sums over the C input channels of a group.
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

/// Returns whether gatherProducts(), one matmul and a gather of products,
/// should compute `op`. If not, convolveSpread(), a convolution, computes it.
/// True if a stride is larger than 1, except in two cases:
///
///   - The elements are bf16 or f16: products would be rounded before they are
///     summed.
///   - Each group has one channel and one filter: a matmul would be slow.
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
