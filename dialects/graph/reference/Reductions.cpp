//===- Reductions.cpp - evaluators of reductions, scans, top-k ------------===//

#include "dialects/graph/reference/Arithmetic.h"
#include "dialects/graph/reference/EvaluatorTable.h"
#include "dialects/graph/reference/Strides.h"
#include <numeric>

using namespace mlir;
using namespace pcc::graph;

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// Returns strides by which a loop over an operand of `shape` addresses the
/// result of a reduction over `dims`. Reduced dims have stride 0:
///
///   shape [2, 3, 4], dims {1}:  {4, 0, 1}
static Strides reducedStrides(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  Strides strides(shape.size(), 0);
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0;)
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim))) {
      strides[dim] = stride;
      stride *= shape[dim];
    }
  return strides;
}

/// Reduces operand 0 over `dims` by the binary function `f`, in row-major
/// order. `neutral` is the neutral element of `f`.
template <typename T, typename F>
static void reduceBy(Evaluation &e, ArrayRef<int64_t> dims, T neutral, F f) {
  const HostTensor &in = e.in(0);
  T *out = e.out().data<T>();
  std::fill_n(out, e.out().numElements(), neutral);
  forEachRow<2>(in.shape, {rowMajor(in.shape), reducedStrides(in.shape, dims)},
                [&](auto at, int64_t count, auto step) {
                  const T *__restrict row = in.data<T>() + at[0];
                  T *__restrict to = out + at[1];
                  if (step[1] == 0) {
                    T value = *to;
                    for (int64_t i = 0; i < count; ++i)
                      value = f(value, row[i * step[0]]);
                    *to = value;
                  } else {
                    for (int64_t i = 0; i < count; ++i)
                      to[i * step[1]] = f(to[i * step[1]], row[i * step[0]]);
                  }
                });
}

/// Sums over `dims`.
template <typename T> static void sum(Evaluation &e, ArrayRef<int64_t> dims) {
  reduceBy(e, dims, T(0), [](T a, T b) { return wrappingAdd(a, b); });
}

/// Computes means over `dims`. Divides by the attribute `divisor`, or else by
/// the number of elements in each sum.
template <typename T> static void mean(Evaluation &e, ArrayRef<int64_t> dims) {
  sum<T>(e, dims);
  int64_t divisor = 1;
  for (int64_t dim : dims)
    divisor *= e.in(0).shape[dim];
  if (auto given = cast<ReduceOp>(e.op).getDivisor())
    divisor = *given;
  T *out = e.out().data<T>();
  for (int64_t i = 0; i < e.out().numElements(); ++i)
    out[i] = quotient(out[i], static_cast<T>(divisor));
}

template <typename T> static void max(Evaluation &e, ArrayRef<int64_t> dims) {
  reduceBy(e, dims, lowest<T>(), [](T a, T b) { return larger(a, b); });
}
template <typename T> static void min(Evaluation &e, ArrayRef<int64_t> dims) {
  reduceBy(e, dims, highest<T>(), [](T a, T b) { return smaller(a, b); });
}
template <typename T> static void prod(Evaluation &e, ArrayRef<int64_t> dims) {
  reduceBy(e, dims, T(1), [](T a, T b) { return wrappingMul(a, b); });
}

/// Evaluates reduce by a table of functions, one per kind of reduction. The
/// table must have the order of the enumerators of ReduceKind.
static LogicalResult reduce(Evaluation &e) {
  auto op = cast<ReduceOp>(e.op);
  withArithmetic(e.elementType(0), [&](auto zero) {
    using T = decltype(zero);
    using Reduce = void (*)(Evaluation &, ArrayRef<int64_t>);
    static constexpr Reduce byKind[] = {sum<T>, mean<T>, max<T>, min<T>,
                                        prod<T>};
    byKind[static_cast<size_t>(op.getKind())](e, op.getDims());
  });
  return success();
}

//===----------------------------------------------------------------------===//
// arg_reduce, topk, cumsum
//===----------------------------------------------------------------------===//

/// Returns whether `a` comes before `b` in a selection of the largest elements.
/// If `largest` is false, smaller elements come first. NaN comes before every
/// number.
template <typename T> static bool beats(T a, T b, bool largest) {
  if (a != a || b != b)
    return a != a && b == b;
  return largest ? a > b : a < b;
}

/// Evaluates arg_reduce: the index of the largest element along a dim for kind
/// Max, and of the smallest element otherwise. A NaN is selected before any
/// number. Among equal elements, the first one is selected, or the last one
/// with the attribute `last`.
static LogicalResult argReduce(Evaluation &e) {
  auto op = cast<ArgReduceOp>(e.op);
  bool largest = op.getKind() == ReduceKind::Max, last = op.getLast();
  DimView view(e.in(0).shape, op.getDim());
  if (view.size == 0)
    return e.fail("reduces a dim without elements");
  withArithmetic(e.elementType(0), [&](auto zero) {
    const auto *in = e.in(0).data<decltype(zero)>();
    int64_t *out = e.out().data<int64_t>();
    for (int64_t outer = 0; outer < view.numOuter; ++outer)
      for (int64_t inner = 0; inner < view.numInner; ++inner) {
        int64_t best = 0;
        for (int64_t i = 1; i < view.size; ++i) {
          auto value = in[view.at(outer, i, inner)],
               old = in[view.at(outer, best, inner)];
          if (last ? !beats(old, value, largest) : beats(value, old, largest))
            best = i;
        }
        *out++ = best;
      }
  });
  return success();
}

/// Evaluates topk by a stable sort: equal elements remain in the order of their
/// indices.
static LogicalResult topK(Evaluation &e) {
  auto op = cast<TopKOp>(e.op);
  DimView from(e.in(0).shape, op.getDim()), to(e.out().shape, op.getDim());
  withArithmetic(e.elementType(0), [&](auto zero) {
    using T = decltype(zero);
    const T *in = e.in(0).data<T>();
    std::vector<int64_t> order(from.size);
    for (int64_t outer = 0; outer < from.numOuter; ++outer)
      for (int64_t inner = 0; inner < from.numInner; ++inner) {
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
          T left = in[from.at(outer, a, inner)],
            right = in[from.at(outer, b, inner)];
          return beats(left, right, op.getLargest()) ||
                 (!beats(right, left, op.getLargest()) && a < b);
        });
        for (int64_t i = 0; i < to.size; ++i) {
          int64_t place = to.at(outer, i, inner);
          e.out(0).data<T>()[place] = in[from.at(outer, order[i], inner)];
          e.out(1).ints[place] = order[i];
        }
      }
  });
  return success();
}

/// Evaluates cumsum. With the attribute `exclusive`, the sum at an element does
/// not include that element. With `reverse`, sums start at the end of the dim.
static LogicalResult cumSum(Evaluation &e) {
  auto op = cast<CumSumOp>(e.op);
  DimView view(e.in(0).shape, op.getDim());
  withArithmetic(e.elementType(0), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t outer = 0; outer < view.numOuter; ++outer)
      for (int64_t inner = 0; inner < view.numInner; ++inner) {
        T total = 0;
        for (int64_t i = 0; i < view.size; ++i) {
          int64_t place =
              view.at(outer, op.getReverse() ? view.size - 1 - i : i, inner);
          T with = wrappingAdd(total, e.in(0).data<T>()[place]);
          e.out().data<T>()[place] = op.getExclusive() ? total : with;
          total = with;
        }
      }
  });
  return success();
}

void pcc::graph::addReductionEvaluators(EvaluatorTable &table) {
  table.add<ReduceOp>(reduce);
  table.add<ArgReduceOp>(argReduce);
  table.add<TopKOp>(topK);
  table.add<CumSumOp>(cumSum);
}
