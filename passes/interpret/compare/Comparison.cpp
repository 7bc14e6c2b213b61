//===- Comparison.cpp - error of shards against expected values -----------===//

#include "passes/interpret/compare/Comparison.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;
using graph::HostTensor;

/// Returns element number `i` of `tensor`, row-major, as a double.
static double elementOf(const HostTensor &tensor, int64_t i) {
  return tensor.kind == graph::ElementKind::Float
             ? tensor.floats[i]
             : static_cast<double>(tensor.ints[i]);
}

/// Returns the indices, one per dim, of the element at the row-major index
/// `position` in a tensor of shape `shape`.
static SmallVector<int64_t> indexOf(int64_t position, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> index(shape.size());
  for (size_t dim = shape.size(); dim-- > 0; position /= shape[dim])
    index[dim] = position % shape[dim];
  return index;
}

/// Adds the element of a tensor of shape `shape` at the row-major index
/// `position` to `elements`. Call it in the order of the elements.
static void count(Elements &elements, int64_t position,
                  ArrayRef<int64_t> shape) {
  if (elements.count++ == 0)
    elements.first = indexOf(position, shape);
}

/// Returns whether two elements are equal numbers, or both NaN.
static bool isSame(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

double interpret::largestDifference(const HostTensor &a, const HostTensor &b) {
  double largest = 0;
  for (auto [x, y] : llvm::zip_equal(a.floats, b.floats)) {
    if (isSame(x, y))
      continue;
    const double difference = std::fabs(x - y);
    largest =
        std::max(largest, std::isfinite(difference) ? difference : HUGE_VAL);
  }
  return largest;
}

double interpret::largestMagnitude(const HostTensor &tensor) {
  double largest = 0;
  for (int64_t i = 0, end = tensor.numElements(); i < end; ++i) {
    const double value = std::fabs(elementOf(tensor, i));
    if (std::isfinite(value))
      largest = std::max(largest, value);
  }
  return largest;
}

Comparison::Comparison(HostTensor expected, double tolerance, double noise)
    : expected(std::move(expected)), tolerance(tolerance), noise(noise),
      magnitude(largestMagnitude(this->expected)) {
  for (int64_t i = 0, end = this->expected.numElements(); i < end; ++i)
    if (std::isnan(elementOf(this->expected, i)))
      count(nan, i, this->expected.shape);
}

void Comparison::leaveOutOverflows(const HostTensor &onOneRank) {
  for (int64_t i = 0, end = expected.numElements(); i < end; ++i) {
    const double wanted = elementOf(expected, i);
    const double given = elementOf(onOneRank, i);
    if (isSame(wanted, given) || std::isfinite(wanted - given))
      continue;
    leftOut.resize(end);
    leftOut[i] = true;
    count(overflow, i, expected.shape);
  }
}

bool Comparison::hasNumbers() const {
  for (int64_t i = 0, end = expected.numElements(); i < end; ++i)
    if (!std::isnan(elementOf(expected, i)) && (leftOut.empty() || !leftOut[i]))
      return true;
  return false;
}

double Comparison::errorOf(double wanted, double got) const {
  if (isSame(wanted, got))
    return 0;
  const double difference = std::fabs(wanted - got);
  const double relative = difference / (magnitude ? magnitude : 1);
  const bool isNoise = difference <= noise || std::isinf(noise);
  if (!(relative <= tolerance) && isNoise)
    return 0;
  return std::isfinite(relative) ? relative
                                 : std::numeric_limits<double>::max();
}

void Comparison::add(const HostTensor &shard, const LocalIndices &indices,
                     std::optional<int64_t> rank) {
  forEachElement(indices, expected.shape, [&](int64_t local, int64_t global) {
    if (!leftOut.empty() && leftOut[global])
      return;
    double wanted = elementOf(expected, global), got = elementOf(shard, local);
    double own = errorOf(wanted, got);
    error = std::max(error, own);
    if (own > tolerance && !first)
      first = Difference{indexOf(global, expected.shape), wanted, got, rank};
  });
}
