//===- Multiplication.cpp - one product, as cuBLASLt is told it -----------===//

#include "test/runtime/fake/cuda/Multiplication.h"
#include "runtime/tensor/ElementDispatch.h"

#include <bit>
#include <cmath>
#include <initializer_list>
#include <vector>

namespace pcc::fake {

using runtime::ElementType;

static ElementType elementOf(cudaDataType_t type) {
  switch (type) {
  case CUDA_R_64F:
    return ElementType::F64;
  case CUDA_R_16F:
    return ElementType::F16;
  case CUDA_R_16BF:
    return ElementType::BF16;
  default:
    return ElementType::F32;
  }
}

size_t Layout::elementSize() const { return runtime::sizeOf(elementOf(type)); }

size_t Layout::bytes() const {
  return rows * columns == 0
             ? 0
             : size_t((batch - 1) * batchStride + (columns - 1) * ld + rows) *
                   elementSize();
}

bool Product::hasBias() const {
  return epilogue == CUBLASLT_EPILOGUE_BIAS ||
         epilogue == CUBLASLT_EPILOGUE_RELU_BIAS ||
         epilogue == CUBLASLT_EPILOGUE_GELU_BIAS;
}

double Product::activate(double x) const {
  switch (epilogue) {
  case CUBLASLT_EPILOGUE_RELU:
  case CUBLASLT_EPILOGUE_RELU_BIAS:
    return x > 0 || std::isnan(x) ? x : 0;
  case CUBLASLT_EPILOGUE_GELU:
  case CUBLASLT_EPILOGUE_GELU_BIAS:
    return 0.5 * x *
           (1 + std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
  default:
    return x;
  }
}

/// A matrix by columns, in the type of the sums.
template <typename T>
static std::vector<T> read(const Layout &layout, const char *data,
                           int32_t number, bool isTurned) {
  const ElementType type = elementOf(layout.type),
                    wanted =
                        sizeof(T) == 8 ? ElementType::F64 : ElementType::F32;
  std::vector<T> stored(size_t(layout.rows * layout.columns));
  for (int64_t column = 0; column < layout.columns; ++column)
    pcc::runtime::convertElements(
        type,
        data + (number * layout.batchStride + column * layout.ld) *
                   int64_t(layout.elementSize()),
        layout.rows, wanted, stored.data() + column * layout.rows);
  if (!isTurned)
    return stored;
  std::vector<T> turned(stored.size());
  for (int64_t column = 0; column < layout.columns; ++column)
    for (int64_t row = 0; row < layout.rows; ++row)
      turned[size_t(row * layout.columns + column)] =
          stored[size_t(column * layout.rows + row)];
  return turned;
}

/// Rounds to ten bits of fraction, halves away from zero.
static float roundedToTf32(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  return std::isfinite(value)
             ? std::bit_cast<float>((bits + 0x1000u) & ~0x1fffu)
             : value;
}

int64_t Multiplication::depth() const {
  return product.turnX == CUBLAS_OP_N ? x.columns : x.rows;
}

/// A factor in the order in which runBatch() reads it: x by columns of the
/// result's rows, y by columns of the contracted dim.
template <typename T>
void Multiplication::sumFactor(const std::vector<T> &factor, bool isX) const {
  const int64_t count = isX ? result.rows : result.columns,
                depth = this->depth();
  std::vector<T> sums(size_t(count), T(0));
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < depth; ++k)
      sums[size_t(i)] += factor[size_t(isX ? k * count + i : i * depth + k)];
  runtime::convertElements(sizeof(T) == 8 ? ElementType::F64 : ElementType::F32,
                           sums.data(), count, elementOf(result.type),
                           const_cast<void *>(product.bias));
}

template <typename T> void Multiplication::runBatch(int32_t number) const {
  const int64_t rows = result.rows, columns = result.columns,
                depth = this->depth();
  auto left = read<T>(x, xData, number, product.turnX != CUBLAS_OP_N);
  auto right = read<T>(y, yData, number, product.turnY != CUBLAS_OP_N);
  if (product.compute == CUBLAS_COMPUTE_32F_FAST_TF32)
    for (auto *factors : {&left, &right})
      for (T &factor : *factors)
        factor = T(roundedToTf32(float(factor)));
  if (product.sumsX() || product.sumsY())
    sumFactor<T>(product.sumsX() ? left : right, product.sumsX());
  std::vector<T> before, bias;
  if (beta != 0)
    before = read<T>(added, addedData, number, false);
  if (product.hasBias())
    bias = read<T>({result.type, rows, 1, rows},
                   static_cast<const char *>(product.bias), 0, false);
  std::vector<T> sums(static_cast<size_t>(rows));
  for (int64_t column = 0; column < columns; ++column) {
    std::fill(sums.begin(), sums.end(), T(0));
    for (int64_t i = 0; i < depth; ++i) {
      const T factor = right[size_t(column * depth + i)];
      const T *values = left.data() + i * rows;
      for (int64_t row = 0; row < rows; ++row)
        sums[size_t(row)] += values[row] * factor;
    }
    for (int64_t row = 0; row < rows; ++row) {
      T &sum = sums[size_t(row)];
      sum *= T(alpha);
      if (beta != 0)
        sum += T(beta) * before[size_t(column * rows + row)];
      if (product.hasBias())
        sum += bias[size_t(row)];
      sum = T(product.activate(double(sum)));
    }
    pcc::runtime::convertElements(
        sizeof(T) == 8 ? ElementType::F64 : ElementType::F32, sums.data(), rows,
        elementOf(result.type),
        resultData + (number * result.batchStride + column * result.ld) *
                         int64_t(result.elementSize()));
  }
}

void Multiplication::run() const {
  for (int32_t number = 0; number < result.batch; ++number)
    if (result.type == CUDA_R_64F)
      runBatch<double>(number);
    else
      runBatch<float>(number);
}

namespace {
/// A row of the table of types in the documentation of cublasLtMatmul().
struct Supported {
  cublasComputeType_t compute;
  cudaDataType_t scale, factors, stored;
  bool hasEpilogues;
};
} // namespace

static constexpr Supported table[] = {
    {CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, false},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, true},
    {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, true},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, true},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_32F, true},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, true},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F, true}};

cublasStatus_t Multiplication::check(std::string &why) const {
  const auto turned = [](const Layout &layout, cublasOperation_t turn) {
    return turn == CUBLAS_OP_N ? std::pair(layout.rows, layout.columns)
                               : std::pair(layout.columns, layout.rows);
  };
  const auto [rows, depthOfX] = turned(x, product.turnX);
  const auto [depthOfY, columns] = turned(y, product.turnY);
  const bool fits = depthOfX == depthOfY && rows == result.rows &&
                    columns == result.columns && added.rows == rows &&
                    added.columns == columns;
  if (!fits || rows < 1 || columns < 1 || depthOfX < 1) {
    why = "a product of matrices that do not fit, or are empty";
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  for (const Layout *layout : {&x, &y, &added})
    if (layout->batch != result.batch) {
      why = "a product of batches that differ";
      return CUBLAS_STATUS_INVALID_VALUE;
    }
  if (result.batch > 1 && result.batchStride == 0) {
    why = "a batch of products in one place";
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  for (const Supported &row : table)
    if (row.compute == product.compute && row.scale == product.scale &&
        row.factors == x.type && row.factors == y.type &&
        row.stored == added.type && row.stored == result.type &&
        (row.hasEpilogues || product.epilogue == CUBLASLT_EPILOGUE_DEFAULT))
      return CUBLAS_STATUS_SUCCESS;
  why = "a product of types that cuBLASLt does not have together";
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

uint64_t Multiplication::hash() const {
  uint64_t hash = 1;
  const auto mix = [&](std::initializer_list<int64_t> numbers) {
    for (const int64_t number : numbers)
      hash = (hash ^ uint64_t(number)) * 0x9e3779b97f4a7c15u;
  };
  mix({product.compute, product.turnX, product.turnY, product.epilogue});
  for (const Layout *layout : {&x, &y, &added, &result})
    mix({layout->type, layout->rows, layout->columns, layout->ld, layout->batch,
         layout->batchStride});
  return hash;
}

} // namespace pcc::fake
