//===- MatmulProblem.h - normalized description of a matrix product -------===//

#ifndef PCC_RUNTIME_DEVICE_MATMULPROBLEM_H
#define PCC_RUNTIME_DEVICE_MATMULPROBLEM_H

#include "runtime/program/Program_generated.h"
#include "runtime/tensor/ElementType.h"

#include <cmath>
#include <cstdint>
#include <vector>

namespace pcc::runtime {

/// Location of the matrices of one operand in its buffer. All numbers are in
/// elements.
struct MatrixStrides {
  /// Position of the first element in the buffer.
  int64_t offset = 0;
  /// Stride of each batch dim; 0 broadcasts. There are as many as dims in
  /// MatmulProblem::batch.
  std::vector<int64_t> batch;
  /// Distance between two elements of a column.
  int64_t row = 0;
  /// Distance between two elements of a row.
  int64_t column = 0;
};

/// A batched matrix product,
///
///   c = activation(alpha * a b + bias) + residual
///
/// where, for each index of the batch dims, a is [m, k], b is [k, n], c and
/// residual are [m, n], and bias is [n]. The constructor brings the product of
/// an instruction into the simplest form, without moving data:
///
/// - Batch dims of size 1 are removed.
/// - Two adjacent batch dims are merged if one stride describes them in each of
///   the four matrices.
/// - Batch dims over which b is broadcast are merged into the rows of the other
///   matrices, unless products must be computed one by one.
///
/// For example, a [8, 128, 64] (dense) times b [64, 32] becomes a single
/// product with m = 1024.
struct MatmulProblem {
  /// Sums over k that the product computes as a second result: none, those of
  /// a's rows [m], or those of b's columns [n]. The backward pass needs them as
  /// the gradient of a bias.
  enum class Sums { None, OfA, OfB };

  /// Creates the problem of an instruction. `type` is the element type of a and
  /// b.
  explicit MatmulProblem(const program::MatmulT &matmul, ElementType type);

  /// Element type of a and b.
  ElementType type;
  /// Sizes of the batch dims, outermost first. Without batch dims there is one
  /// product.
  std::vector<int64_t> batch;
  int64_t m, n, k;
  /// Locations of the operands. `residual` equals `c` if there is no residual.
  MatrixStrides a, b, c, residual;
  float alpha;
  program::Activation activation;
  /// Whether the product has a bias and a residual, and whether the bits of one
  /// product must not depend on the number of products in the batch.
  bool hasBias, hasResidual, oneByOne;
  Sums sums;

  /// Returns the number of products: the size of all batch dims together.
  int64_t numBatches() const;
  /// Returns whether c has no elements.
  bool isEmpty() const { return numBatches() * m * n == 0; }

private:
  /// Returns whether one stride of `matrix` describes the batch dims `outer`
  /// and `outer + 1` together.
  bool canMerge(const MatrixStrides &matrix, size_t outer) const;
  /// Removes batch dims of size 1 and merges adjacent ones.
  void mergeBatches();
  /// Merges the innermost batch dims into m as long as b is broadcast over
  /// them.
  void mergeIntoRows();
  /// Returns the locations of a, b, c and residual.
  std::vector<MatrixStrides *> matrices();
};

/// Returns activation(x). The loops of the CPU device use this where no library
/// applies the activation.
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
