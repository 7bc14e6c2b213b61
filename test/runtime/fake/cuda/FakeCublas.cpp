//===- FakeCublas.cpp - cuBLASLt's functions, on the host -----------------===//

#include "test/runtime/fake/cuda/FakeGpu.h"
#include "test/runtime/fake/cuda/Multiplication.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace pcc::fake;

namespace {
/// Properties on which an algorithm may rely.
struct Preference {
  uint64_t workspaceBytes = 0;
  std::array<uint32_t, 4> alignments = {}; ///< of x, y, added and result
};

/// Contents of the 64 bytes of an algorithm.
struct Algorithm {
  uint64_t magic, version, hash;
  Preference preference;
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));
} // namespace

static constexpr uint64_t algorithmMagic = 0x6d68746972676c61;

template <typename T, typename Handle> static T &as(Handle handle) {
  return *reinterpret_cast<T *>(handle);
}

static double factorOf(const void *data, cudaDataType_t type) {
  return type == CUDA_R_64F ? *static_cast<const double *>(data)
                            : double(*static_cast<const float *>(data));
}

static Access accessOf(const Layout &layout, const void *data, bool writes) {
  return {reinterpret_cast<uintptr_t>(data), layout.bytes(), writes};
}

static Multiplication problemOf(cublasLtMatmulDesc_t desc,
                                cublasLtMatrixLayout_t x,
                                cublasLtMatrixLayout_t y,
                                cublasLtMatrixLayout_t added,
                                cublasLtMatrixLayout_t result) {
  return {as<Product>(desc), as<Layout>(x), as<Layout>(y), as<Layout>(added),
          as<Layout>(result)};
}

static cublasStatus_t refuse(cublasStatus_t status, std::string why) {
  FakeGpu::get().error = std::move(why);
  return status;
}

/// Reads an algorithm. One of another problem is invalid.
static cublasStatus_t read(const cublasLtMatmulAlgo_t &given,
                           const Multiplication &problem,
                           Algorithm &algorithm) {
  std::memcpy(&algorithm, &given, sizeof algorithm);
  if (algorithm.magic != algorithmMagic ||
      algorithm.version != uint64_t(settings().blas))
    return refuse(CUBLAS_STATUS_INVALID_VALUE,
                  "bytes that are no algorithm of this version");
  if (algorithm.hash != problem.hash())
    return refuse(CUBLAS_STATUS_NOT_SUPPORTED,
                  "an algorithm of another problem");
  return CUBLAS_STATUS_SUCCESS;
}

/// Checks the documented conditions of cublasLtMatmul() for its pointers.
static cublasStatus_t checkPointers(const Multiplication &made,
                                    const Algorithm &algorithm,
                                    size_t workspaceBytes) {
  const std::array<const void *, 4> pointers = {
      made.xData, made.yData, made.beta == 0 ? nullptr : made.addedData,
      made.resultData};
  for (size_t i = 0; i < pointers.size(); ++i)
    if (reinterpret_cast<uintptr_t>(pointers[i]) %
            std::max(algorithm.preference.alignments[i], 1u) !=
        0)
      return refuse(CUBLAS_STATUS_INVALID_VALUE,
                    "a matrix that is less aligned than was said");
  if (workspaceBytes < algorithm.preference.workspaceBytes)
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "too little workspace");
  if (made.product.hasBias() && !made.product.bias)
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "no bias");
  const auto &[added, result] = std::pair(made.added, made.result);
  if (made.beta != 0 && made.addedData == made.resultData &&
      (added.ld != result.ld || added.batchStride != result.batchStride))
    return refuse(CUBLAS_STATUS_INVALID_VALUE,
                  "a sum in place whose matrices lie differently");
  return CUBLAS_STATUS_SUCCESS;
}

/// Sets an attribute of a descriptor.
template <typename T>
static cublasStatus_t setField(T &field, const void *value, size_t bytes) {
  if (sizeof field != bytes)
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(static_cast<void *>(&field), value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(&FakeGpu::get());
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) {
  return CUBLAS_STATUS_SUCCESS;
}
size_t cublasLtGetVersion() { return size_t(settings().blas); }
const char *cublasLtGetStatusName(cublasStatus_t) {
  static thread_local std::string said;
  said = FakeGpu::get().error;
  return said.c_str();
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *made,
                                        cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  *made = reinterpret_cast<cublasLtMatmulDesc_t>(new Product{compute, scale});
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
  const auto set = [&](auto &field) { return setField(field, value, bytes); };
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
  switch (attribute) {
  case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
    return setField(layout.batch, value, bytes);
  case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
    return setField(layout.batchStride, value, bytes);
  default:
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t
cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *made) {
  *made = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t handle) {
  delete &as<Preference>(handle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t handle,
    cublasLtMatmulPreferenceAttributes_t attribute, const void *value,
    size_t bytes) {
  Preference &preference = as<Preference>(handle);
  const auto set = [&](auto &field) { return setField(field, value, bytes); };
  switch (attribute) {
  case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
    return set(preference.workspaceBytes);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    return set(preference.alignments[0]);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    return set(preference.alignments[1]);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    return set(preference.alignments[2]);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
    return set(preference.alignments[3]);
  default:
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t x,
    cublasLtMatrixLayout_t y, cublasLtMatrixLayout_t added,
    cublasLtMatrixLayout_t result, cublasLtMatmulPreference_t preference, int,
    cublasLtMatmulHeuristicResult_t *found, int *count) {
  *count = 0;
  if (settings().forgetful)
    return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "it is asked what it forgets");
  const Multiplication problem = problemOf(desc, x, y, added, result);
  const bool sums = problem.product.sumsX() || problem.product.sumsY();
  if (sums && (settings().sumless || problem.result.batch > 1))
    return refuse(CUBLAS_STATUS_NOT_SUPPORTED, "sums of a factor");
  std::string why;
  if (const auto status = problem.check(why); status != CUBLAS_STATUS_SUCCESS)
    return refuse(status, why);
  if ((sums || problem.product.hasBias()) && !problem.product.bias)
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "a bias of unknown alignment");
  const Algorithm algorithm{algorithmMagic, uint64_t(settings().blas),
                            problem.hash(), as<Preference>(preference)};
  *found = {};
  std::memcpy(&found->algo, &algorithm, sizeof algorithm);
  found->workspaceSize = algorithm.preference.workspaceBytes;
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(
    cublasLtHandle_t, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t x,
    cublasLtMatrixLayout_t y, cublasLtMatrixLayout_t added,
    cublasLtMatrixLayout_t result, const cublasLtMatmulAlgo_t *given,
    cublasLtMatmulHeuristicResult_t *found) {
  Algorithm algorithm;
  *found = {};
  found->state = read(*given, problemOf(desc, x, y, added, result), algorithm);
  found->workspaceSize = algorithm.preference.workspaceBytes;
  return found->state;
}

cublasStatus_t
cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t desc, const void *alpha,
               const void *xData, cublasLtMatrixLayout_t x, const void *yData,
               cublasLtMatrixLayout_t y, const void *beta,
               const void *addedData, cublasLtMatrixLayout_t added,
               void *resultData, cublasLtMatrixLayout_t result,
               const cublasLtMatmulAlgo_t *given, void *workspace,
               size_t workspaceBytes, cudaStream_t stream) {
  FakeGpu &gpu = FakeGpu::get();
  const std::lock_guard lock(gpu.mutex);
  Multiplication made = problemOf(desc, x, y, added, result);
  made.xData = static_cast<const char *>(xData);
  made.yData = static_cast<const char *>(yData);
  made.addedData = static_cast<const char *>(addedData);
  made.resultData = static_cast<char *>(resultData);
  made.alpha = factorOf(alpha, made.product.scale);
  made.beta = factorOf(beta, made.product.scale);
  if (made.product.bias && !made.product.hasVector())
    return refuse(CUBLAS_STATUS_INVALID_VALUE, "a bias that is not added");
  Algorithm algorithm;
  if (const auto status = read(*given, made, algorithm);
      status != CUBLAS_STATUS_SUCCESS)
    return status;
  if (const auto status = checkPointers(made, algorithm, workspaceBytes);
      status != CUBLAS_STATUS_SUCCESS)
    return status;
  std::vector<Access> accesses = {
      accessOf(made.x, xData, false),
      accessOf(made.y, yData, false),
      accessOf(made.result, resultData, true),
      {reinterpret_cast<uintptr_t>(workspace), workspaceBytes, true}};
  if (made.beta != 0)
    accesses.push_back(accessOf(made.added, addedData, false));
  if (made.product.sumsX() || made.product.sumsY()) {
    const int64_t count =
        made.product.sumsX() ? made.result.rows : made.result.columns;
    accesses.push_back(
        accessOf({made.result.type, count, 1, count}, made.product.bias, true));
  }
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
  Work multiply = [made] {
    made.run();
    return true;
  };
  const bool isOrdered =
      gpu.give(*reinterpret_cast<Stream *>(stream), "a product", accesses,
               [multiply] { return multiply; });
  return isOrdered ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

} // extern "C"
