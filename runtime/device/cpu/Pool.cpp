//===- Pool.cpp - maximum and average over windows ------------------------===//

#include "runtime/device/cpu/CpuResources.h"
#include "runtime/tensor/ElementDispatch.h"

#include <algorithm>
#include <array>
#include <limits>

namespace pcc::runtime {

namespace {
/// One spatial dim of a pool. A pool has at most three spatial dims.
/// PoolOperation always stores three spatial dims. If the pool has fewer,
/// PoolOperation adds dims of size 1 in front. For example, the spatial dims
/// [6, 8] are stored as [1, 6, 8].
///
/// - `in` is the size of the dim in the input.
/// - `out` is the size of the dim in the output.
/// - `window`, `stride` and `dilation` are those of the pool along this dim.
/// - `before` is the number of padding elements before the first input element.
/// - `after` is the number of padding elements after the last input element.
///
/// The default values are those of an added dim.
struct PoolDim {
  int64_t in = 1, out = 1, window = 1, stride = 1, dilation = 1, before = 0,
          after = 0;
};

/// Computes the maximum of the elements of a window. The computation starts
/// with the value initial(), and calls add() once for each element. initial()
/// is minus infinity. If the type T has no infinity, initial() is the smallest
/// number of the type T.
struct MaxOf {
  template <typename T> static T initial() {
    return std::numeric_limits<T>::has_infinity
               ? -std::numeric_limits<T>::infinity()
               : std::numeric_limits<T>::lowest();
  }
  /// Returns the larger of `sum` and `value`. `sum` is the maximum of the
  /// elements so far, and `value` is the next element. If either is NaN,
  /// returns NaN, as ONNX frameworks do.
  template <typename T> static T add(T sum, T value) {
    return value > sum || value != value ? value : sum;
  }
};
/// Computes the sum of the elements of a window. The computation starts with
/// the value initial(), which is 0, and calls add() once for each element.
struct SumOf {
  template <typename T> static T initial() { return T(0); }
  template <typename T> static T add(T sum, T value) { return sum + value; }
};

/// Executes a pool: reduces each window of the input x to one element of the
/// output y. The dims of x and y are a batch dim, a channel dim, and at most
/// three spatial dims. A plane contains all elements of a tensor that have the
/// same batch index and the same channel. The planes are divided over the
/// threads. Each plane of y is computed by one thread.
class PoolOperation : public Operation {
public:
  PoolOperation(const ThreadTeam &threads, const LoadContext &context,
                const program::PoolT &pool)
      : threads(threads), context(context), pool(pool) {
    const program::BufferT &x = *context.program.buffers[pool.x];
    const program::BufferT &y = *context.program.buffers[pool.y];
    type = typeOf(x.type);
    planes = x.shape[0] * x.shape[1];
    const size_t spatial = pool.window.size();
    for (size_t i = 0; i < spatial; ++i)
      dims[i + 3 - spatial] = {x.shape[i + 2],    y.shape[i + 2],
                               pool.window[i],    pool.strides[i],
                               pool.dilations[i], pool.pads_begin[i],
                               pool.pads_end[i]};
  }

  Status run(const RunContext &run) override {
    const void *x = context.buffers.at(pool.x, run.microbatch);
    void *y = context.buffers.at(pool.y, run.microbatch);
    dispatch(type, [&](auto element) {
      using T = decltype(element);
      threads.parallelFor(planes, 1, [&](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane)
          runPlane(static_cast<const T *>(x) + plane * inSize(),
                   static_cast<T *>(y) + plane * outSize());
      });
    });
    return Status::success();
  }

private:
  int64_t inSize() const { return dims[0].in * dims[1].in * dims[2].in; }
  int64_t outSize() const { return dims[0].out * dims[1].out * dims[2].out; }

  /// Computes one plane of the output. A plane consists of all elements that
  /// have the same batch index and the same channel. `x` is the address of the
  /// plane in the input tensor. `y` is the address of the plane in the output
  /// tensor. Each output element is the maximum or the average of one window of
  /// the input plane.
  template <typename T> void runPlane(const T *x, T *y) const {
    std::array<int64_t, 3> at;
    for (at[0] = 0; at[0] < dims[0].out; ++at[0])
      for (at[1] = 0; at[1] < dims[1].out; ++at[1])
        for (at[2] = 0; at[2] < dims[2].out; ++at[2], ++y)
          *y = pool.kind == program::PoolKind::Max
                   ? static_cast<T>(reduceWindow<MaxOf>(x, at))
                   : average(x, at);
  }

  /// Returns the average of one window of the input. The window belongs to the
  /// output element with the spatial indices `at`. `x` is the address of the
  /// input elements of one batch index and one channel. The average is the sum
  /// of the window's elements in the input, divided by a count. For
  /// AverageWithPadding, the count includes the window's elements in the
  /// padding. For example, a window has the elements 1, 2 and 3, and one
  /// element of padding. The average is 6 / 4 with padding, and 6 / 3 without.
  template <typename T>
  T average(const T *x, const std::array<int64_t, 3> &at) const {
    const auto sum = reduceWindow<SumOf>(x, at);
    const bool counts = pool.kind == program::PoolKind::AverageWithPadding;
    int64_t count = 1;
    for (int i = 0; i < 3; ++i)
      count *=
          counts ? countPadded(dims[i], at[i]) : countInside(dims[i], at[i]);
    return static_cast<T>(static_cast<Computed<T>>(
        sum / Computed<T>(std::max<int64_t>(count, 1))));
  }

  /// Returns the number of elements of a window along one dim that are inside
  /// the input, not in its padding. `at` is the index of the output element
  /// along this dim.
  static int64_t countInside(const PoolDim &dim, int64_t at) {
    int64_t count = 0;
    for (int64_t i = 0; i < dim.window; ++i) {
      const int64_t from = at * dim.stride - dim.before + i * dim.dilation;
      count += from >= 0 && from < dim.in;
    }
    return count;
  }
  /// Returns how many elements of a window are in the input or in its padding,
  /// along one dim. `at` is the index of the output element along this dim. The
  /// last windows of the dim may extend beyond the padding. Elements beyond the
  /// padding do not count.
  ///
  /// For example, the input has the elements 0 to 3, and element 4 is padding.
  /// A window of the elements 3, 4 and 5 gives 2, because element 5 is beyond
  /// the padding.
  static int64_t countPadded(const PoolDim &dim, int64_t at) {
    int64_t count = 0;
    for (int64_t i = 0; i < dim.window; ++i)
      count +=
          at * dim.stride - dim.before + i * dim.dilation < dim.in + dim.after;
    return count;
  }

  /// Returns the maximum or the sum of the input elements in one window. The
  /// window belongs to the output element with the spatial indices `at`.
  /// `Reducer` is MaxOf for the maximum, or SumOf for the sum. `x` is the
  /// address of one plane of the input. A plane consists of all elements that
  /// have the same batch index and the same channel. Window elements outside
  /// the input, which are padding, are ignored.
  template <typename Reducer, typename T>
  Computed<T> reduceWindow(const T *x, const std::array<int64_t, 3> &at) const {
    auto sum = Reducer::template initial<Computed<T>>();
    std::array<int64_t, 3> w;
    for (w[0] = 0; w[0] < dims[0].window; ++w[0])
      for (w[1] = 0; w[1] < dims[1].window; ++w[1])
        for (w[2] = 0; w[2] < dims[2].window; ++w[2]) {
          int64_t index = 0;
          bool inside = true;
          for (int i = 0; i < 3; ++i) {
            const int64_t from = at[i] * dims[i].stride - dims[i].before +
                                 w[i] * dims[i].dilation;
            inside &= from >= 0 && from < dims[i].in;
            index = index * dims[i].in + from;
          }
          if (inside)
            sum = Reducer::add(sum, static_cast<Computed<T>>(x[index]));
        }
    return sum;
  }

  const ThreadTeam &threads;
  LoadContext context;
  const program::PoolT &pool;
  ElementType type;
  /// Number of planes: batch size times number of channels.
  int64_t planes;
  std::array<PoolDim, 3> dims;
};
} // namespace

Status preparePool(CpuResources &resources, const LoadContext &context,
                   const program::InstructionT &instruction,
                   std::unique_ptr<Operation> &operation) {
  operation = std::make_unique<PoolOperation>(resources.threads(), context,
                                              *instruction.body.AsPool());
  return Status::success();
}

} // namespace pcc::runtime
