//===- WidenedProduct.h - products of half precisions, made in f32 --------===//
//
// Where oneDNN has no product of a type: operands are widened, a block of b's
// columns at a time, so that little memory is needed, and sums are rounded
// once.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_DEVICE_CPU_WIDENEDPRODUCT_H
#define PCC_RUNTIME_DEVICE_CPU_WIDENEDPRODUCT_H

#include <algorithm>
#include <cstdint>
#include <dnnl.hpp>

namespace pcc::runtime {

/// c = alpha a b, where T is narrower than f32: a is [m, k], b is [k, n], and
/// rows of c are dense. Strides are in elements.
template <typename T> struct WidenedProduct {
  int64_t m, n, k;
  const T *a;
  int64_t aRow, aColumn;
  const T *b;
  int64_t bRow, bColumn;
  T *c;
  int64_t cRow;
  float alpha;

  /// Floats that run() needs besides.
  static int64_t scratchSize(int64_t m, int64_t k) {
    return m * k + (k + m) * blockColumns;
  }

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
  static constexpr int64_t blockColumns = 256;

  /// Along b's memory.
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
