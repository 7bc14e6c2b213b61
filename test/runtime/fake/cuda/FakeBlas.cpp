//===- FakeBlas.cpp - cuBLASLt's functions, on the host -------------------===//

#include "runtime/program/ElementDispatch.h"
#include "test/runtime/fake/cuda/FakeGpu.h"

#include <cublasLt.h>

#include <cmath>
#include <cstring>

using namespace pcc::fake;
using pcc::runtime::ElementType;

namespace {
struct Layout {
  cudaDataType_t type;
  int64_t rows, columns, ld;
  int32_t batch = 1;
  int64_t batchStride = 0;

  size_t span() const {
    return rows * columns == 0
               ? 0
               : size_t((batch - 1) * batchStride + (columns - 1) * ld + rows);
  }
};

struct Product {
  cublasOperation_t turnX = CUBLAS_OP_N, turnY = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void *bias = nullptr;

  bool hasBias() const {
    return epilogue == CUBLASLT_EPILOGUE_BIAS ||
           epilogue == CUBLASLT_EPILOGUE_RELU_BIAS ||
           epilogue == CUBLASLT_EPILOGUE_GELU_BIAS;
  }
  double activate(double x) const {
    switch (epilogue) {
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
      return x > 0 || std::isnan(x) ? x : 0;
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_BIAS:
      return 0.5 * x *
             (1 +
              std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    default:
      return x;
    }
  }
};

/// Everything that one call is given.
struct Multiplication {
  Product product;
  Layout x, y, added, result;
  const char *xData, *yData, *addedData;
  char *resultData;
  double alpha, beta;

  void run() const;

private:
  template <typename T> void runBatch(int32_t number) const;
};
} // namespace

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

static size_t sizeOf(const Layout &layout) {
  return pcc::runtime::sizeOf(elementOf(layout.type));
}

/// A matrix by columns, in the type that sums have.
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
                   int64_t(sizeOf(layout)),
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

template <typename T> void Multiplication::runBatch(int32_t number) const {
  const int64_t rows = result.rows, columns = result.columns,
                depth = product.turnX == CUBLAS_OP_N ? x.columns : x.rows;
  const auto left = read<T>(x, xData, number, product.turnX != CUBLAS_OP_N);
  const auto right = read<T>(y, yData, number, product.turnY != CUBLAS_OP_N);
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
                         int64_t(sizeOf(result)));
  }
}

void Multiplication::run() const {
  for (int32_t number = 0; number < result.batch; ++number)
    if (result.type == CUDA_R_64F)
      runBatch<double>(number);
    else
      runBatch<float>(number);
}

template <typename T, typename Handle> static T &as(Handle handle) {
  return *reinterpret_cast<T *>(handle);
}

static double factorOf(const void *data, cudaDataType_t type) {
  return type == CUDA_R_64F ? *static_cast<const double *>(data)
                            : double(*static_cast<const float *>(data));
}

static Access accessOf(const Layout &layout, const void *data, bool writes) {
  return {reinterpret_cast<uintptr_t>(data), layout.span() * sizeOf(layout),
          writes};
}

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(&FakeGpu::get());
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) {
  return CUBLAS_STATUS_SUCCESS;
}
size_t cublasLtGetVersion() { return CUBLAS_VERSION; }
const char *cublasLtGetStatusName(cublasStatus_t) {
  static thread_local std::string said;
  said = FakeGpu::get().error;
  return said.c_str();
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *made,
                                        cublasComputeType_t, cudaDataType_t) {
  *made = reinterpret_cast<cublasLtMatmulDesc_t>(new Product);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t handle) {
  delete &as<Product>(handle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t handle,
                               cublasLtMatmulDescAttributes_t attribute,
                               const void *value, size_t bytes) {
  Product &product = as<Product>(handle);
  const auto set = [&](auto &field) {
    if (sizeof field != bytes)
      return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&field, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
  };
  switch (attribute) {
  case CUBLASLT_MATMUL_DESC_TRANSA:
    return set(product.turnX);
  case CUBLASLT_MATMUL_DESC_TRANSB:
    return set(product.turnY);
  case CUBLASLT_MATMUL_DESC_EPILOGUE:
    return set(product.epilogue);
  case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
    return set(product.bias);
  default:
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *made,
                                          cudaDataType_t type, uint64_t rows,
                                          uint64_t columns, int64_t ld) {
  if (ld < int64_t(rows))
    return CUBLAS_STATUS_INVALID_VALUE;
  *made = reinterpret_cast<cublasLtMatrixLayout_t>(
      new Layout{type, int64_t(rows), int64_t(columns), ld});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t handle) {
  delete &as<Layout>(handle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t handle,
                                 cublasLtMatrixLayoutAttribute_t attribute,
                                 const void *value, size_t bytes) {
  Layout &layout = as<Layout>(handle);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT &&
      bytes == sizeof layout.batch)
    std::memcpy(&layout.batch, value, bytes);
  else if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET &&
           bytes == sizeof layout.batchStride)
    std::memcpy(&layout.batchStride, value, bytes);
  else
    return CUBLAS_STATUS_NOT_SUPPORTED;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *made) {
  *made = reinterpret_cast<cublasLtMatmulPreference_t>(new char);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t handle) {
  delete reinterpret_cast<char *>(handle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                     cublasLtMatmulPreferenceAttributes_t,
                                     const void *, size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
    cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
    cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t *found,
    int *count) {
  *found = {};
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t desc,
                              const void *alpha, const void *xData,
                              cublasLtMatrixLayout_t x, const void *yData,
                              cublasLtMatrixLayout_t y, const void *beta,
                              const void *addedData,
                              cublasLtMatrixLayout_t added, void *resultData,
                              cublasLtMatrixLayout_t result,
                              const cublasLtMatmulAlgo_t *, void *workspace,
                              size_t workspaceBytes, cudaStream_t stream) {
  FakeGpu &gpu = FakeGpu::get();
  const std::lock_guard lock(gpu.mutex);
  Multiplication made{as<Product>(desc),
                      as<Layout>(x),
                      as<Layout>(y),
                      as<Layout>(added),
                      as<Layout>(result),
                      static_cast<const char *>(xData),
                      static_cast<const char *>(yData),
                      static_cast<const char *>(addedData),
                      static_cast<char *>(resultData),
                      factorOf(alpha, as<Layout>(result).type),
                      factorOf(beta, as<Layout>(result).type)};
  std::vector<Access> accesses = {
      accessOf(made.x, xData, false),
      accessOf(made.y, yData, false),
      accessOf(made.result, resultData, true),
      {reinterpret_cast<uintptr_t>(workspace), workspaceBytes, true}};
  if (made.beta != 0)
    accesses.push_back(accessOf(made.added, addedData, false));
  if (made.product.hasBias())
    accesses.push_back(
        accessOf({made.result.type, made.result.rows, 1, made.result.rows},
                 made.product.bias, false));
  for (const Access &access : accesses)
    if (!gpu.holds(reinterpret_cast<const void *>(access.begin),
                   access.bytes)) {
      gpu.error = "a product uses memory that is not the GPU's";
      return CUBLAS_STATUS_EXECUTION_FAILED;
    }
  const Work multiply = [made] {
    made.run();
    return true;
  };
  const bool isOrdered =
      gpu.give(*reinterpret_cast<Stream *>(stream), "a product", accesses,
               [multiply] { return multiply; });
  return isOrdered ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

} // extern "C"
