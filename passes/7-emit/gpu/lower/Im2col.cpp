//===- Im2col.cpp - im2col: windows of a tensor as columns ----------------===//

#include "passes/7-emit/gpu/lower/Im2col.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

/// Pads and crops the spatial dims of `input` to the range of indices that the
/// windows of a convolution or pool cover. `dims` describes the windows along
/// each spatial dim. `padding` is the value of new elements. Example: windows
/// cover the indices −1 to 5 of a dim with the indices 0 to 7. One element is
/// added in front, and the last two elements are removed.
static Value padded(LoweringBuilder &b, Value input, ArrayRef<SlidingDim> dims,
                    double padding) {
  SmallVector<int64_t> low(2, 0), high(2, 0);
  for (auto [dim, size] : llvm::zip_equal(dims, shapeOf(input).drop_front(2))) {
    low.push_back(dim.low);
    high.push_back(dim.reach() - dim.low - size);
  }
  return b.pad(input, low, high, padding);
}

/// Returns a tensor of indices along one spatial dim of a padded input. Element
/// [k, o] is the index of the input element that is element k of window o.
static Value placesOf(LoweringBuilder &b, const SlidingDim &dim) {
  Value tap = b.positions(dim.window, 0, 2);
  if (dim.reversed)
    tap = b.make<SubOp>(b.integer(dim.window - 1), tap);
  if (dim.dilation != 1)
    tap = b.make<MulOp>(tap, b.integer(dim.dilation));
  Value output = b.positions(dim.output, 1, 2);
  if (dim.stride != 1)
    output = b.make<MulOp>(output, b.integer(dim.stride));
  return b.make<AddOp>(tap, output);
}

/// Moves all window dims of `columns` in front of all output dims, for
/// `numDims` spatial dims. Example for two spatial dims: [N, C, window 0,
/// output 0, window 1, output 1] becomes [N, C, window 0, window 1, output 0,
/// output 1].
static Value tapsFirst(LoweringBuilder &b, Value columns, int64_t numDims) {
  SmallVector<int64_t> perm{0, 1};
  for (int64_t first : {2, 3})
    for (int64_t dim = 0; dim < numDims; ++dim)
      perm.push_back(first + 2 * dim);
  return numDims < 2 ? columns : b.transpose(columns, perm);
}

Value pcc::emit::im2col(LoweringBuilder &b, Value input,
                        ArrayRef<SlidingDim> dims, double padding) {
  Value columns = padded(b, input, dims, padding);
  // Each gather replaces spatial dim i (dim i + 2 of `columns`) by two dims.
  // Begin with the last spatial dim, since a gather moves all later dims.
  for (int64_t i = dims.size(); i-- > 0;)
    columns = b.make<GatherOp>(columns, placesOf(b, dims[i]),
                               static_cast<uint64_t>(i + 2));
  return tapsFirst(b, columns, dims.size());
}
