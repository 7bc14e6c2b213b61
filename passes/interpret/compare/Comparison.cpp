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

Comparison::Comparison(HostTensor expected, double tolerance, double noise)
    : expected(std::move(expected)), tolerance(tolerance), noise(noise) {
  for (int64_t i = 0, end = this->expected.numElements(); i < end; ++i)
    if (double value = std::fabs(elementOf(this->expected, i));
        std::isfinite(value))
      magnitude = std::max(magnitude, value);
}

double Comparison::errorOf(double wanted, double got) const {
  if (wanted == got || (std::isnan(wanted) && std::isnan(got)))
    return 0;
  const double difference = std::fabs(wanted - got);
  const double relative = difference / (magnitude ? magnitude : 1);
  if (relative > tolerance && difference <= noise)
    return 0;
  return std::isfinite(relative) ? relative
                                 : std::numeric_limits<double>::max();
}

/// Returns the indices, one per dim, of the element at the row-major index
/// `position` in a tensor of shape `shape`.
static SmallVector<int64_t> indexOf(int64_t position, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> index(shape.size());
  for (size_t dim = shape.size(); dim-- > 0; position /= shape[dim])
    index[dim] = position % shape[dim];
  return index;
}

void Comparison::add(const HostTensor &shard, const LocalIndices &indices,
                     std::optional<int64_t> rank) {
  forEachElement(indices, expected.shape, [&](int64_t local, int64_t global) {
    double wanted = elementOf(expected, global), got = elementOf(shard, local);
    double own = errorOf(wanted, got);
    error = std::max(error, own);
    if (own > tolerance && !first)
      first = Difference{indexOf(global, expected.shape), wanted, got, rank};
  });
}
