//===- Multiplication.h - one product, as cuBLASLt is told it -------------===//

#ifndef PCC_TEST_RUNTIME_FAKE_CUDA_MULTIPLICATION_H
#define PCC_TEST_RUNTIME_FAKE_CUDA_MULTIPLICATION_H

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pcc::fake {

/// A matrix by columns, and the strides of its batch.
struct Layout {
  cudaDataType_t type;
  int64_t rows, columns, ld;
  int32_t batch = 1;
  int64_t batchStride = 0;

  size_t elementSize() const;
  /// Returns the bytes from the first element to the end of the last one.
  size_t bytes() const;
};

struct Product {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t turnX = CUBLAS_OP_N, turnY = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void *bias = nullptr; ///< or where sums go

  bool hasBias() const;
  /// Returns whether the epilogue reads or writes the vector `bias`.
  bool hasVector() const { return hasBias() || sumsX() || sumsY(); }
  /// Returns whether the call sums x, and whether it sums y.
  bool sumsX() const { return epilogue == CUBLASLT_EPILOGUE_BGRADA; }
  bool sumsY() const { return epilogue == CUBLASLT_EPILOGUE_BGRADB; }
  double activate(double x) const;
};

/// All arguments of one call.
struct Multiplication {
  Product product;
  Layout x, y, added, result;
  const char *xData = nullptr, *yData = nullptr, *addedData = nullptr;
  char *resultData = nullptr;
  double alpha = 1, beta = 0;

  /// Returns the result of cuBLASLt for a product of these types and sizes.
  /// `why` is set to the reason of an error.
  cublasStatus_t check(std::string &why) const;
  /// Returns a hash that is equal for products that share an algorithm.
  uint64_t hash() const;
  void run() const;

private:
  int64_t depth() const;
  template <typename T> void runBatch(int32_t number) const;
  template <typename T>
  void sumFactor(const std::vector<T> &factor, bool isX) const;
};

} // namespace pcc::fake

#endif // PCC_TEST_RUNTIME_FAKE_CUDA_MULTIPLICATION_H
