//===- MatmulProblem.h - one matmul, reduced to its simplest form ---------===//

#ifndef PCC_RUNTIME_DEVICE_MATMULPROBLEM_H
#define PCC_RUNTIME_DEVICE_MATMULPROBLEM_H

#include "runtime/program/Program_generated.h"
#include "runtime/tensor/ElementType.h"

#include <cmath>
#include <cstdint>
#include <vector>

namespace pcc::runtime {

/// Where one matrix is in its buffer: `batch` is as long as
/// MatmulProblem::batch.
struct MatrixStrides {
  int64_t offset = 0;
  std::vector<int64_t> batch;
  int64_t row = 0;
  int64_t column = 0;
};

/// c = activation(alpha * a b + bias) + residual, with batch dims merged where
/// all operands allow, and into m where b has no batch, unless products have to
/// stay one by one.
struct MatmulProblem {
  /// Which factor is summed over k along with the product.
  enum class Sums { None, OfA, OfB };

  /// `type` is that of a and b.
  explicit MatmulProblem(const program::MatmulT &matmul, ElementType type);

  ElementType type;
  std::vector<int64_t> batch;
  int64_t m, n, k;
  MatrixStrides a, b, c, residual;
  float alpha;
  program::Activation activation;
  bool hasBias, hasResidual, oneByOne;
  Sums sums;

  int64_t numBatches() const;
  bool isEmpty() const { return numBatches() * m * n == 0; }

private:
  bool canMerge(const MatrixStrides &matrix, size_t outer) const;
  void mergeBatches();
  void mergeIntoRows();
  std::vector<MatrixStrides *> matrices();
};

/// The value of an activation, for loops of our own.
template <typename T> T activate(program::Activation activation, T x) {
  switch (activation) {
  case program::Activation::None:
    return x;
  case program::Activation::Relu:
    return x > T(0) ? x : x != x ? x : T(0);
  case program::Activation::GeluErf:
    return T(0.5) * x * (T(1) + std::erf(x * T(0.70710678118654752440)));
  case program::Activation::GeluTanh:
    return T(0.5) * x *
           (T(1) + std::tanh(T(0.79788456080286535588) *
                             (x + T(0.044715) * x * x * x)));
  case program::Activation::Sigmoid:
    return T(1) / (T(1) + std::exp(-x));
  case program::Activation::Tanh:
    return std::tanh(x);
  case program::Activation::Silu:
    return x / (T(1) + std::exp(-x));
  }
  return x;
}

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_MATMULPROBLEM_H
