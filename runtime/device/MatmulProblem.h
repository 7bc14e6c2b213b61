//===- MatmulProblem.h - normalized description of a matrix product -------===//

#ifndef PCC_RUNTIME_DEVICE_MATMULPROBLEM_H
#define PCC_RUNTIME_DEVICE_MATMULPROBLEM_H

#include "runtime/program/Program_generated.h"
#include "runtime/tensor/ElementType.h"

#include <cmath>
#include <cstdint>
#include <vector>

namespace pcc::runtime {

/// Offset and strides of a tensor in a buffer. The tensor is a, b, c or the
/// residual of a batch, which is a list of matrix products c = a b + residual.
/// All numbers are in elements.
///
/// Each product of the batch has one index per batch dim. For example, two
/// batch dims of sizes 2 and 3 give 6 products, and the last product has the
/// batch indices x = {1, 2}. The tensor contains one matrix for each product.
/// With two batch dims, the element in row i and column j of this matrix has
/// the following index in the buffer:
///
///   offset + x[0] * batch[0] + x[1] * batch[1] + i * row + j * column
struct MatrixStrides {
  /// Index of an element in the buffer. The element is in row 0 and column 0 of
  /// the matrix of the first product of the batch. The first product has index
  /// 0 in each batch dim.
  int64_t offset = 0;
  /// Stride of each batch dim in MatmulProblem::batch. A stride of 0 broadcasts
  /// the matrix over the dim.
  std::vector<int64_t> batch;
  /// Stride from one row to the next.
  int64_t row = 0;
  /// Stride from one column to the next.
  int64_t column = 0;
};

/// Batch of matrix products. Each product of the batch computes
///
///   c = activation(alpha * a b + bias) + residual
///
///   a [m, k]    b [k, n]    c and residual [m, n]    bias [n]
///
/// The bias and the residual are optional. The tensors a, b, c and residual
/// also have batch dims in front of these dims. For example, batch dims of
/// sizes 2 and 3 give 6 products. The constructor merges batch dims where
/// possible, without moving data.
///
/// If `oneByOne` is true, no batch dim is merged with the rows. Libraries use
/// different algorithms for products of different sizes, so this merge could
/// change the bits of a product.
struct MatmulProblem {
  /// Optional vector of sums, which is computed together with the product a b:
  ///
  /// - None: no vector
  /// - OfA: the sum of each row of a [m, k], as a vector of m elements
  /// - OfB: the sum of each column of b [k, n], as a vector of n elements
  ///
  /// OfB gives the gradient of a bias: in the product for the gradient of a
  /// weight, b is the gradient of the output.
  enum class Sums { None, OfA, OfB };

  /// Creates the description of the instruction `matmul`. `type` is the element
  /// type of the factors a and b. Each dim in front of the rows and columns of
  /// a factor is a batch dim. The constructor removes batch dims of size 1. It
  /// merges two adjacent batch dims if, in each tensor, the outer stride equals
  /// the inner stride times the inner size. For example, sizes {2, 3} with
  /// strides {24576, 8192} become the size {6} with the stride {8192}.
  ///
  /// If `oneByOne` is false, the constructor then calls mergeIntoRows().
  explicit MatmulProblem(const program::MatmulT &matmul, ElementType type);

  /// Element type of the two factors of each product. The factors are the
  /// matrices `a` and `b`.
  ElementType type;
  /// Sizes of the batch dims, outermost first. If empty, there is one product.
  std::vector<int64_t> batch;
  int64_t m, n, k;
  /// Offsets and strides of the four matrices in their buffers. `a` and `b` are
  /// the factors of the product, and `c` is the result. `residual` is a matrix
  /// that is added to the result after the activation. If `hasResidual` is
  /// false, there is no residual. The member `residual` then has the same
  /// values as the member `c`.
  MatrixStrides a, b, c, residual;
  float alpha;
  program::Activation activation;
  /// Properties of the product:
  ///
  /// - `hasBias`: whether a bias is added
  /// - `hasResidual`: whether a residual is added
  /// - `oneByOne`: whether each product of the batch must be computed
  ///   separately, so that the bits of its result do not depend on the batch
  ///   size
  bool hasBias, hasResidual, oneByOne;
  Sums sums;

  /// Returns the number of matrix products in the batch. For example, batch
  /// sizes 2 and 3 give 6 products.
  int64_t numBatches() const;
  /// Returns whether the result of the products has no elements. For example,
  /// the function returns true if the result has 0 rows.
  bool isEmpty() const { return numBatches() * m * n == 0; }
  /// Returns whether the products read or write a vector in addition to their
  /// matrices: the bias, or the sums of a factor.
  bool hasVector() const { return hasBias || sums != Sums::None; }

private:
  /// Returns whether the batch dims `outer` and `outer` + 1 of `matrix` can
  /// become one dim. The outer stride must equal the inner stride times the
  /// inner size. For example, sizes 2 and 3 with strides 30 and 10 become size
  /// 6 with stride 10.
  bool canMerge(const MatrixStrides &matrix, size_t outer) const;
  /// Reduces the number of batch dims. Removes each batch dim of size 1. Merges
  /// two adjacent batch dims if canMerge() returns true for all four matrices:
  /// the two factors `a` and `b`, the result `c`, and the matrix `residual`,
  /// which is added to the result. For example, batch sizes {2, 3} with strides
  /// {30, 10} in all four matrices become the size {6} with the stride {10}.
  void mergeBatches();
  /// Merges batch dims with the rows of the matrices, so that fewer and larger
  /// products are computed. For example, 8 products of matrices `a` [128, 64]
  /// with one matrix `b` [64, 32] become one product of `a` [1024, 64] and `b`.
  /// A batch dim is merged only if all its products use the same matrix `b`,
  /// and if the merged rows of `a`, of `c` and of `residual` have one common
  /// stride. In the example, row stride 64 requires batch stride 128 * 64 =
  /// 8192.
  void mergeIntoRows();
  /// Returns the addresses of the members `a`, `b`, `c` and `residual`.
  std::vector<MatrixStrides *> matrices();
};

/// Returns `activation` applied to `x`.
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
