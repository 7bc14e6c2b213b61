//===- Scans.cpp - cumulative sums along a dim ----------------------------===//
//
// cumsum: input x, output y of the shape and type of x. Integers: dim;
// exclusive, 1 if the sum at an element does not include that element; reverse,
// 1 if sums begin at the end of the dim.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/HostOps.h"
#include "runtime/tensor/ElementDispatch.h"

namespace pcc::runtime {

/// Checks the operands of a call of cumsum. Returns null if they are valid,
/// otherwise a description of the fault.
static const char *prepareCumSum(HostOpCall &call) {
  if (call.inputs.size() != 1 || call.outputs.size() != 1 ||
      call.integers.size() != 3)
    return "needs one input, one output and three integers";
  if (call.integers[0] < 0 ||
      call.integers[0] >= int64_t(call.inputs[0].shape.size()))
    return "has a dim that its input lacks";
  if (call.inputs[0].shape != call.outputs[0].shape ||
      call.inputs[0].type != call.outputs[0].type)
    return "has an output of another shape or type";
  return nullptr;
}

/// Computes cumulative sums along a dim, one line after another. A line is the
/// set of elements that differ only in their index along the dim. f16 and bf16
/// are summed in f32.
template <typename T> static void cumSum(HostOpCall &call) {
  const std::vector<int64_t> &shape = call.inputs[0].shape;
  const int64_t dim = call.integers[0];
  const bool exclusive = call.integers[1] != 0, reverse = call.integers[2] != 0;
  int64_t inner = 1;
  for (size_t i = size_t(dim) + 1; i < shape.size(); ++i)
    inner *= shape[i];
  const int64_t size = shape[dim];
  const int64_t total = numElements(shape);
  for (int64_t row = 0; size > 0 && row < total / size; ++row) {
    const int64_t first = row / inner * size * inner + row % inner;
    Computed<T> sum = 0;
    for (int64_t i = 0; i < size; ++i) {
      const int64_t at = first + (reverse ? size - 1 - i : i) * inner;
      const auto value = static_cast<Computed<T>>(
          static_cast<const T *>(call.inputs[0].data)[at]);
      T &y = static_cast<T *>(call.outputs[0].data)[at];
      if (exclusive)
        y = static_cast<T>(sum);
      sum = Computed<T>(sum + value);
      if (!exclusive)
        y = static_cast<T>(sum);
    }
  }
}

static void runCumSum(HostOpCall &call) {
  dispatch(call.inputs[0].type,
           [&](auto element) { cumSum<decltype(element)>(call); });
}

static constexpr HostOpRow rows[] = {{"cumsum", prepareCumSum, runCumSum}};

std::span<const HostOpRow> scanOps() { return rows; }

} // namespace pcc::runtime
