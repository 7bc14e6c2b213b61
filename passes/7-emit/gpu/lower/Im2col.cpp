//===- Im2col.cpp - what windows see --------------------------------------===//

#include "passes/7-emit/gpu/lower/Im2col.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

/// Exactly what the windows reach.
static Value padded(LoweringBuilder &b, Value input, ArrayRef<SlidingDim> dims,
                    double padding) {
  SmallVector<int64_t> low(2, 0), high(2, 0);
  for (auto [dim, size] : llvm::zip_equal(dims, shapeOf(input).drop_front(2))) {
    low.push_back(dim.low);
    high.push_back(dim.reach() - dim.low - size);
  }
  return b.pad(input, low, high, padding);
}

/// [window, output]: where in the padded input a tap of an output is.
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

/// [N, C, taps and outputs of dim 0, of dim 1, …] with all taps in front.
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
  // From the last one: those in front keep their numbers.
  for (int64_t i = dims.size(); i-- > 0;)
    columns = b.make<GatherOp>(columns, placesOf(b, dims[i]),
                               static_cast<uint64_t>(i + 2));
  return tapsFirst(b, columns, dims.size());
}
