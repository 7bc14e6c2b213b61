//===- CublasCall.h - matrix product by cuBLASLt with a fused epilogue ----===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUBLASCALL_H
#define PCC_RUNTIME_DEVICE_CUDA_CUBLASCALL_H

#include "runtime/device/MatmulProblem.h"
#include "runtime/device/cuda/CudaResources.h"

#include <optional>

namespace pcc::runtime {

/// Owner of a cuBLASLt object, which it destroys. `place()` is for the function
/// that creates the object.
template <typename Handle> class OwnedHandle {
public:
  /// Creates an empty owner. `destroy` is called on the object, if there is
  /// one.
  explicit OwnedHandle(cublasStatus_t (*destroy)(Handle)) : destroy(destroy) {}
  ~OwnedHandle() {
    if (handle)
      destroy(handle);
  }
  OwnedHandle(const OwnedHandle &) = delete;
  OwnedHandle &operator=(const OwnedHandle &) = delete;

  /// Returns where the created object is to be stored. The owner must be empty.
  Handle *place() { return &handle; }
  Handle get() const { return handle; }

private:
  cublasStatus_t (*destroy)(Handle);
  Handle handle = nullptr;
};

/// Types of one product as cuBLASLt takes them.
struct CublasTypes {
  /// Element type of a and b.
  ElementType factors;
  /// Element type of bias, residual and c.
  ElementType stored;
  /// Type of sums, and whether factors may be rounded to tf32.
  cublasComputeType_t compute;
  /// Type of alpha and beta.
  cudaDataType_t scale;
};

/// Returns the types for a product of factors and results of the given element
/// types, or nothing if cuBLASLt has no such products. `mayRoundFactors`:
/// factors of type f32 may be rounded to tf32.
std::optional<CublasTypes>
cublasTypesOf(ElementType factors, ElementType stored, bool mayRoundFactors);

/// A matrix in column-major order, the only order that pcc uses with cuBLASLt.
/// Element (i, j) is at i + j * ld. `rows` and `columns` are those of the
/// stored matrix; the operand is its transpose if `isTransposed`.
struct ColumnMatrix {
  ElementType type;
  /// Sizes in elements; `ld` is the distance from one column to the next.
  int64_t rows, columns, ld;
  bool isTransposed;
  /// Elements from one matrix of the batch to the next.
  int64_t batchStride;
  /// Bytes of which all addresses of the matrix are multiples.
  uint32_t alignment;
};

/// One product, or a batch of products at constant strides (the innermost batch
/// dim of a MatmulProblem). cuBLASLt takes matrices in column-major order, and
/// sees a row-major matrix as its transpose. A row-major result is therefore
/// computed as
///
///   cᵀ = bᵀ aᵀ
///
/// with b as the first operand, x, and a as the second, y. Bias and activation,
/// or the sums of a factor, are computed by the epilogue of the same kernel.
class CublasCall {
public:
  /// Creates an empty call. Requires CudaResources::useCublas().
  explicit CublasCall(CudaResources &resources);

  /// Creates the descriptors of a problem and selects an algorithm: the one
  /// that the bundle keeps from an earlier run if cuBLASLt accepts it,
  /// otherwise the first that cuBLASLt's heuristics propose. If there is none,
  /// returns an error, or success with `mayLack`; canRun() is false then.
  Status open(const MatmulProblem &problem, const CublasTypes &types,
              bool mayLack = false);
  /// Returns whether open() has found an algorithm.
  bool canRun() const { return isChosen; }
  /// Sets the address of the bias that the next run() reads or, if the problem
  /// has sums, of the vector that the next run() writes.
  Status setVector(const void *vector);
  /// Enqueues result = activation(alpha * a b + beta * added + bias) on the
  /// compute stream. `alpha` and `beta` are host addresses of numbers of type
  /// CublasTypes::scale. `addedData` is either `resultData` itself, or has the
  /// strides of the problem's residual.
  Status run(const void *alpha, const void *aData, const void *bData,
             const void *beta, const void *addedData, void *resultData);

private:
  /// Layout of one matrix.
  using Matrix = OwnedHandle<cublasLtMatrixLayout_t>;

  /// Sets an attribute of the product.
  template <typename T>
  Status set(cublasLtMatmulDescAttributes_t attribute, const T &value) {
    return blas.check(blas.cublasLtMatmulDescSetAttribute(
                          operation.get(), attribute, &value, sizeof value),
                      "cublasLtMatmulDescSetAttribute");
  }
  /// The matrices of a product. x and y are b and a if `isByRows`, else a and
  /// b.
  struct Shapes {
    ColumnMatrix x, y, added, result;
  };
  /// Returns the matrices of a problem, and sets `isByRows`. Returns nothing if
  /// the strides of a matrix do not suit cuBLASLt.
  std::optional<Shapes> shapesOf(const MatmulProblem &problem,
                                 const CublasTypes &types);
  /// Creates the descriptor of the product.
  Status makeOperation(const CublasTypes &types, const Shapes &shapes,
                       cublasLtEpilogue_t epilogue);
  /// Creates the layout of a matrix, as one of `batch` matrices.
  Status makeLayout(Matrix &matrix, const ColumnMatrix &shape, int64_t batch);
  /// Selects an algorithm from the cache or by heuristics, and adds a new one
  /// to the cache. `problem` is the key.
  Status choose(const std::string &problem, const Shapes &shapes, bool mayLack);
  /// Asks the heuristics of cuBLASLt for an algorithm, for the alignments of
  /// `shapes`.
  Status askForAlgorithm(const Shapes &shapes, bool mayLack);
  /// Returns whether cuBLASLt can compute the product with a cached algorithm.
  bool accepts(const cublasLtMatmulAlgo_t &known) const;

  CudaResources &resources;
  const CublasLibrary &blas;
  /// Whether c is row-major, so that a and b change places.
  bool isByRows = true;
  /// Whether `algorithm` is valid.
  bool isChosen = false;
  OwnedHandle<cublasLtMatmulDesc_t> operation;
  Matrix x, y, added, result;
  cublasLtMatmulAlgo_t algorithm = {};
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUBLASCALL_H
