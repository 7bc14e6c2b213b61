//===- Windows.cpp - evaluators of convolutions and pools -----------------===//

#include "dialects/graph/ops/Window.h"
#include "dialects/graph/reference/Arithmetic.h"
#include "dialects/graph/reference/EvaluatorTable.h"
#include "dialects/graph/reference/Gemm.h"
#include "dialects/graph/reference/WindowWalk.h"

using namespace mlir;
using namespace pcc::graph;

/// Returns the sizes of the spatial dims of `tensor`, which is [batch,
/// channels, spatial…].
static ArrayRef<int64_t> spatial(const HostTensor &tensor) {
  return ArrayRef(tensor.shape).drop_front(2);
}

/// Returns the windows of a convolution or pool. `pads` lists the padding
/// before each spatial dim, then the padding after each.
static WindowWalk makeWalk(ArrayRef<int64_t> input, ArrayRef<int64_t> output,
                           ArrayRef<int64_t> window, ArrayRef<int64_t> strides,
                           ArrayRef<int64_t> pads,
                           ArrayRef<int64_t> dilations) {
  return {SmallVector<int64_t>(input),
          SmallVector<int64_t>(output),
          SmallVector<int64_t>(window),
          SmallVector<int64_t>(strides),
          SmallVector<int64_t>(pads.take_front(input.size())),
          SmallVector<int64_t>(dilations)};
}

//===----------------------------------------------------------------------===//
// conv
//===----------------------------------------------------------------------===//

/// Stores an im2col matrix in `columns`. The product of the filters and this
/// matrix is a convolution. `in` points to the first of `numChannels` channels.
///
///   row     a channel and a window element (tap)
///   column  an output whose index along spatial dim 0 is in [begin, end)
///   entry   input element that the output reads with the tap, or 0 in padding
static void im2col(const WindowWalk &walk, const double *in,
                   int64_t numChannels, int64_t begin, int64_t end,
                   std::vector<double> &columns) {
  int64_t perRow = walk.numOutputs() / walk.output.front();
  int64_t width = (end - begin) * perRow, step = walk.strides.back();
  columns.assign(numChannels * walk.numTaps() * width, 0);
  for (int64_t channel = 0; channel < numChannels; ++channel)
    for (int64_t tap = 0; tap < walk.numTaps(); ++tap) {
      const double *from = in + channel * walk.numInputs();
      double *to = columns.data() + (channel * walk.numTaps() + tap) * width -
                   begin * perRow;
      walk.forEachRow(tap, begin, end,
                      [&](int64_t outAt, int64_t inAt, int64_t count) {
                        for (int64_t i = 0; i < count; ++i)
                          to[outAt + i] = from[inAt + i * step];
                      });
    }
}

/// Returns how many indices along spatial dim 0 of the output one im2col matrix
/// of convolve() covers: at most 32 MiB, but at least one index. `numChannels`
/// is the number of input channels of one group.
static int64_t blockOf(const WindowWalk &walk, int64_t numChannels) {
  int64_t perOutput = numChannels * walk.numTaps() * walk.numOutputs() /
                      std::max<int64_t>(1, walk.output.front());
  return std::max<int64_t>(1, (4 << 20) / std::max<int64_t>(1, perOutput));
}

/// Adds the convolution of one group of one batch element to `out`. `in` has
/// `numChannels` channels, and `out` has `numFilters` channels. The output is
/// computed in blocks to limit the size of the im2col matrix.
static void convolve(const WindowWalk &walk, const double *in,
                     int64_t numChannels, const double *filters,
                     int64_t numFilters, double *out) {
  int64_t depth = numChannels * walk.numTaps(), numOutputs = walk.numOutputs();
  if (numOutputs == 0)
    return;
  int64_t perRow = numOutputs / walk.output.front();
  std::vector<double> columns;
  int64_t block = blockOf(walk, numChannels);
  for (int64_t begin = 0; begin < walk.output.front(); begin += block) {
    int64_t end = std::min(walk.output.front(), begin + block);
    int64_t width = (end - begin) * perRow;
    im2col(walk, in, numChannels, begin, end, columns);
    gemm(numFilters, width, depth, MatrixView<double>{filters, depth, 1},
         MatrixView<double>{columns.data(), width, 1}, out + begin * perRow,
         numOutputs);
  }
}

/// Evaluates conv, one group of one batch element at a time.
static LogicalResult conv(Evaluation &e) {
  auto op = cast<ConvOp>(e.op);
  const HostTensor &in = e.in(0), &filter = e.in(1);
  if (in.kind != ElementKind::Float)
    return e.fail("is defined for floats only");
  WindowWalk walk = makeWalk(spatial(in), spatial(e.out()), spatial(filter),
                             op.getStrides(), op.getPads(), op.getDilations());
  int64_t numGroups = op.getGroup(), numChannels = filter.shape[1],
          numFilters = filter.shape[0] / numGroups;
  for (int64_t batch = 0; batch < in.shape[0]; ++batch)
    for (int64_t group = 0; group < numGroups; ++group) {
      int64_t part = batch * numGroups + group;
      convolve(walk, in.floats.data() + part * numChannels * walk.numInputs(),
               numChannels,
               filter.floats.data() +
                   group * numFilters * numChannels * walk.numTaps(),
               numFilters,
               e.out().floats.data() + part * numFilters * walk.numOutputs());
    }
  return success();
}

//===----------------------------------------------------------------------===//
// conv_transpose
//===----------------------------------------------------------------------===//

/// Adds each entry of the im2col matrix `columns` to the element of `out` at
/// which im2col() would read it. Entries in padding are ignored.
static void col2im(const WindowWalk &walk, const double *columns,
                   int64_t numChannels, double *out) {
  int64_t step = walk.strides.back();
  for (int64_t row = 0; row < numChannels * walk.numTaps(); ++row) {
    const double *from = columns + row * walk.numOutputs();
    double *to = out + row / walk.numTaps() * walk.numInputs();
    walk.forEachRow(row % walk.numTaps(),
                    [&](int64_t outAt, int64_t inAt, int64_t count) {
                      for (int64_t i = 0; i < count; ++i)
                        to[inAt + i * step] += from[outAt + i];
                    });
  }
}

/// Evaluates conv_transpose: multiplies the filter by each operand element and
/// adds up the shifted products. For stride 1, the operand {1, 2} and the
/// filter {3, 4} give {3, 10, 8}.
static LogicalResult convTranspose(Evaluation &e) {
  auto op = cast<ConvTransposeOp>(e.op);
  const HostTensor &in = e.in(0), &filter = e.in(1);
  if (in.kind != ElementKind::Float)
    return e.fail("is defined for floats only");
  // The op conv_transpose is the transpose of a convolution. Describe the
  // windows of this convolution. The input of the convolution has the spatial
  // dims of the result of conv_transpose. The output of the convolution has the
  // spatial dims of operand 0 of conv_transpose.
  WindowWalk walk = makeWalk(spatial(e.out()), spatial(in), spatial(filter),
                             op.getStrides(), op.getPads(), op.getDilations());
  int64_t numGroups = op.getGroup(), numFilters = filter.shape[1],
          numChannels = filter.shape[0] / numGroups;
  int64_t numRows = numFilters * walk.numTaps(), width = walk.numOutputs();
  std::vector<double> columns;
  for (int64_t part = 0; part < in.shape[0] * numGroups; ++part) {
    const double *filters =
        filter.floats.data() + part % numGroups * numChannels * numRows;
    columns.assign(numRows * width, 0);
    gemm(numRows, width, numChannels, MatrixView<double>{filters, 1, numRows},
         MatrixView<double>{in.floats.data() + part * numChannels * width,
                            width, 1},
         columns.data(), width);
    col2im(walk, columns.data(), numFilters,
           e.out().floats.data() + part * numFilters * walk.numInputs());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// pool
//===----------------------------------------------------------------------===//

/// Combines the elements of each window of every channel by the binary function
/// `f`. The caller must fill `out` with the neutral element of `f`. Padding is
/// ignored.
template <typename T, typename F>
static void poolBy(const WindowWalk &walk, const HostTensor &in,
                   HostTensor &out, F f) {
  int64_t numPlanes = in.shape[0] * in.shape[1], step = walk.strides.back();
  for (int64_t plane = 0; plane < numPlanes; ++plane)
    for (int64_t tap = 0; tap < walk.numTaps(); ++tap) {
      const T *__restrict from = in.data<T>() + plane * walk.numInputs();
      T *__restrict to = out.data<T>() + plane * walk.numOutputs();
      walk.forEachRow(tap, [&](int64_t outAt, int64_t inAt, int64_t count) {
        for (int64_t i = 0; i < count; ++i)
          to[outAt + i] = f(to[outAt + i], from[inAt + i * step]);
      });
    }
}

/// Returns the divisors of an average pool, one for each output of one channel,
/// in row-major order. Padding counts only for kind AverageWithPadding.
static std::vector<int64_t> windowCounts(PoolOp op, const WindowWalk &walk) {
  std::vector<int64_t> counts(walk.numOutputs(), 1);
  for (size_t dim = 0; dim < walk.output.size(); ++dim) {
    DimView view(walk.output, dim);
    for (int64_t i = 0; i < walk.numOutputs(); ++i)
      counts[i] *= countedTaps(op, dim, i / view.numInner % view.size);
  }
  return counts;
}

/// Evaluates an average pool: sums the elements of each window, then divides
/// the sum by the divisor of the window. The kind of `op` determines the
/// divisor:
///
///   Average             number of window elements that lie in the input
///   AverageWithPadding  number of window elements in the input or in padding
template <typename T>
static void averagePool(Evaluation &e, PoolOp op, const WindowWalk &walk) {
  poolBy<T>(walk, e.in(0), e.out(),
            [](T sum, T x) { return wrappingAdd(sum, x); });
  std::vector<int64_t> counts = windowCounts(op, walk);
  T *out = e.out().data<T>();
  for (int64_t i = 0; i < e.out().numElements(); ++i)
    out[i] = quotient(out[i], static_cast<T>(counts[i % counts.size()]));
}

/// Evaluates pool, for floats and for integers.
static LogicalResult pool(Evaluation &e) {
  auto op = cast<PoolOp>(e.op);
  WindowWalk walk = makeWalk(spatial(e.in(0)), spatial(e.out()), op.getWindow(),
                             op.getStrides(), op.getPads(), op.getDilations());
  withArithmetic(e.elementType(0), [&](auto zero) {
    using T = decltype(zero);
    if (op.getKind() != PoolKind::Max)
      return averagePool<T>(e, op, walk);
    std::fill_n(e.out().data<T>(), e.out().numElements(), lowest<T>());
    poolBy<T>(walk, e.in(0), e.out(), [](T a, T b) { return larger(a, b); });
  });
  return success();
}

void pcc::graph::addWindowEvaluators(EvaluatorTable &table) {
  table.add<ConvOp>(conv);
  table.add<ConvTransposeOp>(convTranspose);
  table.add<PoolOp>(pool);
}
