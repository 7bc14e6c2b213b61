//===- Sorting.cpp - selection of the k largest or smallest elements ------===//
//
// top_k: input x; outputs values (type of x) and indices (i64), whose size
// along dim is k. Integers: dim; largest, 1 for the largest and 0 for the
// smallest elements. Results are sorted: the largest in descending order, the
// smallest in ascending order. Among equal elements, the one with the lower
// index comes first. NaN comes before all numbers.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/HostOps.h"
#include "runtime/tensor/ElementDispatch.h"

#include <algorithm>
#include <numeric>

namespace pcc::runtime {

namespace {
/// A shape viewed as [outer, size, inner] around one dim. For example, [2, 3,
/// 4, 5] around dim 1 is [2, 3, 20].
struct DimSplit {
  int64_t outer = 1, size = 1, inner = 1;
};
} // namespace

/// Returns three sizes that describe `shape` around one dim. The index of the
/// dim is `dim`. The three sizes are:
///
/// - `outer`: the product of all sizes before the dim
/// - `size`: the size of the dim
/// - `inner`: the product of all sizes after the dim
///
/// For example, if `shape` is [2, 3, 4, 5] and `dim` is 1, then `outer` is 2,
/// `size` is 3, and `inner` is 20.
static DimSplit splitAround(const std::vector<int64_t> &shape, int64_t dim) {
  DimSplit view;
  for (int64_t i = 0; i < int64_t(shape.size()); ++i)
    (i < dim ? view.outer : i == dim ? view.size : view.inner) *= shape[i];
  return view;
}

/// Checks the operands and the attributes of a call of top_k. Returns null if
/// they are valid, otherwise a description of the fault.
///
/// Also sets the size of `call.workspace`, the memory for intermediate results.
/// The op top_k processes one line of the input after another. A line consists
/// of all elements that differ only in their index along one dim. The workspace
/// contains one number per element of a line: the index of the element in the
/// line. For example, let the input be [2, 100], and let the dim be 1. Each row
/// of the input is then a line, and the workspace has 100 numbers.
static const char *prepareTopK(HostOpCall &call) {
  if (call.inputs.size() != 1 || call.outputs.size() != 2 ||
      call.integers.size() != 2)
    return "needs one input, two outputs and two integers";
  const int64_t dim = call.integers[0];
  std::vector<int64_t> shape = call.inputs[0].shape;
  if (dim < 0 || dim >= int64_t(shape.size()))
    return "has a dim that its input lacks";
  if (call.outputs[0].shape.size() != shape.size() ||
      call.outputs[0].shape[dim] > shape[dim])
    return "asks for more elements than there are";
  shape[dim] = call.outputs[0].shape[dim];
  if (call.outputs[0].shape != shape || call.outputs[1].shape != shape ||
      call.outputs[0].type != call.inputs[0].type ||
      call.outputs[1].type != ElementType::I64)
    return "has outputs of another shape or type";
  call.workspace.resize(size_t(call.inputs[0].shape[dim]));
  return nullptr;
}

/// Returns whether `a` comes before `b` in a selection of the largest elements,
/// or of the smallest ones if `largest` is false. NaN comes before all numbers
/// in both selections. The reference evaluator and GPUs use the same order.
template <typename T> static bool beats(T a, T b, bool largest) {
  if (a != a || b != b)
    return a != a && b == b;
  return largest ? a > b : a < b;
}

/// Computes the op top_k: selects the k largest elements (second attribute 1)
/// or the k smallest elements (second attribute 0) of each line of the input. A
/// line has the elements that differ only in their index along the dim in the
/// first attribute. k is the size of the outputs along this dim. The first
/// output has the selected elements: the largest in descending order, or the
/// smallest in ascending order. The second output has their indices in the
/// line. Equal elements are ordered by index. NaN comes before all numbers.
template <typename T> static void topK(HostOpCall &call) {
  const int64_t dim = call.integers[0];
  const bool largest = call.integers[1] != 0;
  const DimSplit in = splitAround(call.inputs[0].shape, dim);
  const int64_t k = call.outputs[0].shape[dim];
  for (int64_t row = 0; row < in.outer * in.inner; ++row) {
    const int64_t outer = row / in.inner, inner = row % in.inner;
    const T *x = static_cast<const T *>(call.inputs[0].data) +
                 outer * in.size * in.inner + inner;
    const int64_t out = outer * k * in.inner + inner;
    std::iota(call.workspace.begin(), call.workspace.end(), 0);
    const auto comesFirst = [&](int64_t i, int64_t j) {
      const auto a = static_cast<Computed<T>>(x[i * in.inner]);
      const auto b = static_cast<Computed<T>>(x[j * in.inner]);
      if (beats(a, b, largest) || beats(b, a, largest))
        return beats(a, b, largest);
      return i < j;
    };
    std::partial_sort(call.workspace.begin(), call.workspace.begin() + k,
                      call.workspace.end(), comesFirst);
    for (int64_t i = 0; i < k; ++i) {
      const int64_t from = call.workspace[size_t(i)];
      static_cast<T *>(call.outputs[0].data)[out + i * in.inner] =
          x[from * in.inner];
      static_cast<int64_t *>(call.outputs[1].data)[out + i * in.inner] = from;
    }
  }
}

static void runTopK(HostOpCall &call) {
  dispatch(call.inputs[0].type,
           [&](auto element) { topK<decltype(element)>(call); });
}

static constexpr HostOpRow rows[] = {{"top_k", prepareTopK, runTopK}};

std::span<const HostOpRow> sortingOps() { return rows; }

} // namespace pcc::runtime
