//===- LowerWindows.cpp - convolutions and pools as products --------------===//

#include "passes/7-emit/gpu/LowerWindows.h"
#include "dialects/graph/ops/Window.h"
#include "passes/7-emit/gpu/Columns.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

static ArrayRef<int64_t> spatial(Value value) {
  return shapeOf(value).drop_front(2);
}

static int64_t product(ArrayRef<int64_t> sizes) {
  return ShapedType::getNumElements(sizes);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {
/// A convolution as a product of each group's filters, [G, O, C, taps…], and
/// columns.
class Convolution {
public:
  /// Fewer outputs than this, of several images, become one product's columns.
  static constexpr int64_t fewOutputs = 128;

  Convolution(Replacement &b, Value input, Value filters,
              ArrayRef<SlidingDim> dims)
      : b(b), input(input), filters(filters), dims(dims),
        batch(shapeOf(input)[0]), groups(shapeOf(filters)[0]),
        numFilters(shapeOf(filters)[1]), channels(shapeOf(filters)[2]),
        taps(product(shapeOf(filters).drop_front(3))) {
    for (const SlidingDim &dim : dims)
      outputs *= dim.output;
  }

  Value build() {
    if (channels == 1 && numFilters == 1)
      return multiplied();
    if (groups == 1 && batch > 1 && outputs < fewOutputs)
      return productOfAll();
    return productOfEach();
  }

private:
  Value columns() {
    bool isPlain = true;
    for (auto [dim, size] : llvm::zip_equal(dims, spatial(input)))
      isPlain &= dim.isPlain(size);
    return isPlain ? input : columnsOf(b, input, dims, 0);
  }

  Value productOfEach() {
    const int64_t depth = channels * taps;
    SmallVector<int64_t> rows{groups, numFilters, depth},
        right{batch, groups, depth, outputs};
    if (groups == 1) {
      rows.erase(rows.begin());
      right.erase(right.begin() + 1);
    }
    return b.make<MatmulOp>(b.reshape(filters, rows),
                            b.reshape(columns(), right), false, false);
  }

  Value productOfAll() {
    const int64_t depth = channels * taps;
    Value right =
        b.transpose(b.reshape(columns(), {batch, depth, outputs}), {1, 0, 2});
    Value all = b.make<MatmulOp>(b.reshape(filters, {numFilters, depth}),
                                 b.reshape(right, {depth, batch * outputs}),
                                 false, false);
    return b.transpose(b.reshape(all, {numFilters, batch, outputs}), {1, 0, 2});
  }

  /// Products of one column are no work for a library.
  Value multiplied() {
    Type element = tensorType(input).getElementType();
    Value seen = b.reshape(columns(), {batch, groups, taps, outputs});
    Value terms = b.make<MulOp>(
        b.cast(seen, sumType(element)),
        b.cast(b.reshape(filters, {groups, taps, 1}), sumType(element)));
    return b.cast(b.reduce(ReduceKind::Sum, terms, {2}), element);
  }

  Replacement &b;
  Value input, filters;
  ArrayRef<SlidingDim> dims;
  int64_t batch, groups, numFilters, channels, taps, outputs = 1;
};
} // namespace

static void lowerConv(ConvOp op) {
  Replacement b(op);
  SmallVector<int64_t> shape(shapeOf(op.getFilter()));
  const int64_t group = op.getGroup();
  shape[0] /= group;
  shape.insert(shape.begin(), group);
  SmallVector<SlidingDim> dims;
  for (auto [dim, output] : llvm::enumerate(spatial(op.getResult())))
    dims.push_back({output, shape[dim + 3], op.getStrides()[dim],
                    op.getPads()[dim], op.getDilations()[dim]});
  Value filters = b.reshape(op.getFilter(), shape);
  b.replaceWith(Convolution(b, op.getInput(), filters, dims).build());
}

//===----------------------------------------------------------------------===//
// Transposed convolutions
//===----------------------------------------------------------------------===//

/// [G · C, O, taps…] as [G, O, C, taps…].
static Value filtersOfOutputs(Replacement &b, ConvTransposeOp op) {
  SmallVector<int64_t> shape(shapeOf(op.getFilter()));
  const int64_t group = op.getGroup();
  shape[0] /= group;
  shape.insert(shape.begin(), group);
  SmallVector<int64_t> perm =
      llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  std::swap(perm[1], perm[2]);
  return b.transpose(b.reshape(op.getFilter(), shape), perm);
}

/// `input` with zeros behind each element, so that elements are a stride apart.
static Value spreadOut(Replacement &b, Value input, ArrayRef<int64_t> strides) {
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

/// Output p gets what tap k makes of input q wherever p = q · stride +
/// k · dilation − low: a convolution of the spread input by turned windows.
static void lowerConvTranspose(ConvTransposeOp op) {
  Replacement b(op);
  SmallVector<SlidingDim> dims;
  for (auto [dim, output] : llvm::enumerate(spatial(op.getResult()))) {
    const int64_t window = spatial(op.getFilter())[dim],
                  dilation = op.getDilations()[dim];
    dims.push_back({output, window, 1,
                    (window - 1) * dilation - op.getPads()[dim], dilation,
                    /*turned=*/true});
  }
  Value input = spreadOut(b, op.getInput(), op.getStrides());
  b.replaceWith(Convolution(b, input, filtersOfOutputs(b, op), dims).build());
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

/// How many elements each window's sum is divided by: numbers per dim, of
/// which the product counts.
static Value dividedByCounts(Replacement &b, PoolOp op, Value sum) {
  Type element = tensorType(sum).getElementType();
  for (auto [dim, size] : llvm::enumerate(spatial(op.getResult()))) {
    SmallVector<Attribute> counts;
    for (int64_t i = 0; i < size; ++i) {
      const int64_t count = countedTaps(op, dim, i);
      counts.push_back(isa<FloatType>(element)
                           ? Attribute(b.getFloatAttr(element, count))
                           : b.getIntegerAttr(element, count));
    }
    SmallVector<int64_t> shape(spatial(op.getResult()).size() - dim, 1);
    shape[0] = size;
    auto type = RankedTensorType::get(shape, element);
    Value table =
        b.make<ConstantOp>(type, DenseElementsAttr::get(type, counts));
    sum = b.make<DivOp>(sum, table);
  }
  return sum;
}

static void lowerPool(PoolOp op) {
  Replacement b(op);
  const bool isMax = op.getKind() == PoolKind::Max;
  SmallVector<SlidingDim> dims;
  SmallVector<int64_t> taps;
  for (auto [dim, output] : llvm::enumerate(spatial(op.getResult()))) {
    taps.push_back(dim + 2);
    dims.push_back({output, op.getWindow()[dim], op.getStrides()[dim],
                    op.getPads()[dim], op.getDilations()[dim]});
  }
  Value seen = columnsOf(b, op.getInput(), dims, isMax ? -HUGE_VAL : 0);
  Type element = tensorType(seen).getElementType();
  if (isMax)
    return b.replaceWith(b.reduce(ReduceKind::Max, seen, taps));
  Value sum = b.reduce(ReduceKind::Sum, b.cast(seen, sumType(element)), taps);
  b.replaceWith(b.cast(dividedByCounts(b, op, sum), element));
}

int64_t pcc::emit::lowerWindows(func::FuncOp function) {
  return lowerEach(function, lowerConv) +
         lowerEach(function, lowerConvTranspose) +
         lowerEach(function, lowerPool);
}
