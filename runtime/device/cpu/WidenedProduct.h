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
  /// Matrix a: the address of its first element. `aRow` and `aColumn` are the
  /// strides from one row or column to the next.
  const T *a;
  int64_t aRow, aColumn;
  /// Matrix b: the address of its first element. `bRow` and `bColumn` are the
  /// strides from one row or column to the next.
  const T *b;
  int64_t bRow, bColumn;
  /// Matrix c: the address of its first element. `cRow` is the stride from one
  /// row to the next.
  T *c;
  int64_t cRow;
  float alpha;

  /// Returns the number of floats that run() needs as scratch memory.
  static int64_t scratchSize(int64_t m, int64_t k) {
    return m * k + (k + m) * blockColumns;
  }

  /// Computes the product with oneDNN's sgemm. `scratch` is memory for
  /// scratchSize(m, k) floats.
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

  /// Converts `columns` columns of b, from column `first` on, to f32. `block`
  /// receives them as a dense matrix [k, columns].
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
