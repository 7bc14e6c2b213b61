//===- WidenedProduct.h - matrix product of f16 or bf16 computed in f32 ---===//
//
// This product is used where oneDNN has none for a type. Operands are converted
// to f32, b by blocks of columns, so that little scratch memory is needed. Sums
// are rounded to the type only once, at the end:
//
//              n, 256 columns at a time
//              ┌───────┬──
//            k │ block │ …    columns of b, in f32
//        k     └───────┴──
//     ┌──────┐ ┌───────┬──
//   m │ rows │ │  out  │ …    alpha * rows * block, then rounded to c
//     └──────┘ └───────┴──
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_DEVICE_CPU_WIDENEDPRODUCT_H
#define PCC_RUNTIME_DEVICE_CPU_WIDENEDPRODUCT_H

#include <algorithm>
#include <cstdint>
#include <dnnl.hpp>

namespace pcc::runtime {

/// One matrix product c = alpha * a b of f16 or bf16 elements, computed in f32.
/// a is [m, k], b is [k, n] and c is [m, n]. The rows of c are contiguous. All
/// strides are in elements.
template <typename T> struct WidenedProduct {
  int64_t m, n, k;
  /// Address of the first element of matrix a. Element (i, p) of a is at the
  /// address `a + i * aRow + p * aColumn`. For example, if a is a dense
  /// row-major matrix with 5 columns, aRow is 5 and aColumn is 1.
  const T *a;
  int64_t aRow, aColumn;
  /// Address of the first element of matrix b. Element (p, j) of b is at the
  /// address `b + p * bRow + j * bColumn`. For example, if b is a dense
  /// row-major matrix with 5 columns, bRow is 5 and bColumn is 1.
  const T *b;
  int64_t bRow, bColumn;
  /// Address of the first element of matrix c. Element (i, j) of c is at the
  /// address `c + i * cRow + j`. For example, if c is a dense matrix with 5
  /// columns, cRow is 5.
  T *c;
  int64_t cRow;
  float alpha;

  /// Returns the size of the scratch memory of run(), as a number of floats.
  /// run() multiplies a matrix a by a matrix b, 256 columns of b at a time. `m`
  /// is the number of rows of a, and `k` is the number of columns of a. The
  /// scratch memory has room for three matrices in f32: a, 256 columns of b,
  /// and 256 columns of the product.
  static int64_t scratchSize(int64_t m, int64_t k) {
    return m * k + (k + m) * blockColumns;
  }

  /// Computes the matrix product c = alpha * a b. a is [m, k], b is [k, n] and
  /// c is [m, n]. The function converts a and b to f32, multiplies them with
  /// the function sgemm of oneDNN, and rounds the result to the element type of
  /// c.
  ///
  /// `scratch` is the address of temporary memory for the f32 numbers. The
  /// memory must have room for `scratchSize(m, k)` floats.
  void run(float *scratch) const {
    float *rows = scratch, *block = rows + m * k,
          *out = block + k * blockColumns;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t p = 0; p < k; ++p)
        rows[i * k + p] = static_cast<float>(a[i * aRow + p * aColumn]);
    for (int64_t first = 0; first < n; first += blockColumns) {
      const int64_t columns = std::min(blockColumns, n - first);
      widenBlock(block, first, columns);
      dnnl_sgemm('N', 'N', m, columns, k, alpha, rows, k, block, columns, 0.0f,
                 out, columns);
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < columns; ++j)
          c[i * cRow + first + j] = static_cast<T>(out[i * columns + j]);
    }
  }

private:
  /// Number of columns of b that are converted to f32 and multiplied at a time.
  static constexpr int64_t blockColumns = 256;

  /// Converts some columns of the matrix b to f32. b is [k, n], so each column
  /// has k elements. `columns` is the number of columns to convert, and `first`
  /// is the index of the first column to convert. For example, if `first` is
  /// 256 and `columns` is 100, the function converts the columns 256 to 355.
  ///
  /// The function writes the converted columns to the memory `block`, as a
  /// dense row-major matrix [k, columns].
  void widenBlock(float *block, int64_t first, int64_t columns) const {
    const auto widen = [&](int64_t p, int64_t j) {
      block[p * columns + j] =
          static_cast<float>(b[p * bRow + (first + j) * bColumn]);
    };
    if (bColumn <= bRow)
      for (int64_t p = 0; p < k; ++p)
        for (int64_t j = 0; j < columns; ++j)
          widen(p, j);
    else
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t p = 0; p < k; ++p)
          widen(p, j);
  }
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_WIDENEDPRODUCT_H
