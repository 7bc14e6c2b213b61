//===- CublasCall.h - matrix product by cuBLASLt with a fused epilogue ----===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUBLASCALL_H
#define PCC_RUNTIME_DEVICE_CUDA_CUBLASCALL_H

#include "runtime/device/MatmulProblem.h"
#include "runtime/device/cuda/CudaResources.h"

#include <optional>

namespace pcc::runtime {

/// Owner of a cuBLASLt object, which its destructor destroys. The function that
/// creates the object gets the address place().
template <typename Handle> class OwnedHandle {
public:
  /// Creates an owner without an object. The destructor calls `destroy` on the
  /// object that has been stored at place(), if any.
  explicit OwnedHandle(cublasStatus_t (*destroy)(Handle)) : destroy(destroy) {}
  ~OwnedHandle() {
    if (handle)
      destroy(handle);
  }
  OwnedHandle(const OwnedHandle &) = delete;
  OwnedHandle &operator=(const OwnedHandle &) = delete;

  /// Returns the address at which to store a new object. The owner must not
  /// have an object yet.
  Handle *place() { return &handle; }
  Handle get() const { return handle; }

private:
  cublasStatus_t (*destroy)(Handle);
  Handle handle = nullptr;
};

/// Types of one matrix product c = activation(alpha * a b + bias) + residual,
/// as cuBLASLt takes them.
struct CublasTypes {
  /// Element type of a and b.
  ElementType factors;
  /// Element type of bias, residual and c.
  ElementType stored;
  /// Type in which products are summed. It also says whether a and b may be
  /// rounded to tf32.
  cublasComputeType_t compute;
  /// Type of alpha and beta.
  cudaDataType_t scale;
};

/// Returns the types for a matrix product whose factors a and b have the
/// element type `factors` and whose result has the element type `stored`.
/// Returns nothing if cuBLASLt has no such products. `mayRoundFactors` says
/// whether factors of type f32 may be rounded to tf32.
std::optional<CublasTypes>
cublasTypesOf(ElementType factors, ElementType stored, bool mayRoundFactors);

/// A matrix in column-major order, the only order that pcc uses with cuBLASLt.
/// Element (i, j) has index i + j * ld. `rows` and `columns` are the sizes of
/// the matrix in memory; if `isTransposed`, the product uses its transpose.
struct ColumnMatrix {
  ElementType type;
  /// Number of rows, number of columns, and stride from one column to the next
  /// in elements.
  int64_t rows, columns, ld;
  bool isTransposed;
  /// Stride, in elements, from one matrix of the batch to the next.
  int64_t batchStride;
  /// Largest known power of two, in bytes, that divides the address of each
  /// matrix of the operand.
  uint32_t alignment;
};

/// Execution by cuBLASLt of one matrix product, or of a batch of products with
/// constant strides between their matrices (the innermost batch dim of a
/// MatmulProblem). cuBLASLt takes matrices in column-major order, in which a
/// row-major matrix is its transpose. A row-major result c is therefore
/// computed as
///
///   cᵀ = bᵀ aᵀ
///
/// where b is the first operand, x, and a the second, y. The epilogue of the
/// same kernel computes bias and activation, or the sums of a's rows or b's
/// columns (MatmulProblem::Sums).
class CublasCall {
public:
  /// Creates a call without a product. CudaResources::useCublas() must have
  /// been called.
  explicit CublasCall(CudaResources &resources);

  /// Creates cuBLASLt's descriptors of `problem` and selects an algorithm. If
  /// the bundle has an algorithm from an earlier run and cuBLASLt accepts it,
  /// that one is selected; otherwise the first one that cuBLASLt's heuristics
  /// propose. If they propose none, returns an error or, with `mayLack`,
  /// success; canRun() then returns false.
  Status open(const MatmulProblem &problem, const CublasTypes &types,
              bool mayLack = false);
  /// Returns whether open() has found an algorithm.
  bool canRun() const { return isChosen; }
  /// Sets the address `vector` of the bias that the next run() reads. If the
  /// problem has sums, sets the address to which the next run() writes them
  /// instead.
  Status setVector(const void *vector);
  /// Enqueues result = activation(alpha * a b + beta * added + bias) on the
  /// compute stream. `alpha` and `beta` are addresses in host memory of numbers
  /// of type CublasTypes::scale. `addedData` is either equal to `resultData`,
  /// or the address of a matrix with the strides of the problem's residual.
  Status run(const void *alpha, const void *aData, const void *bData,
             const void *beta, const void *addedData, void *resultData);

private:
  /// Owner of cuBLASLt's descriptor of one matrix.
  using Matrix = OwnedHandle<cublasLtMatrixLayout_t>;

  /// Sets an attribute of the descriptor of the product.
  template <typename T>
  Status set(cublasLtMatmulDescAttributes_t attribute, const T &value) {
    return blas.check(blas.cublasLtMatmulDescSetAttribute(
                          operation.get(), attribute, &value, sizeof value),
                      "cublasLtMatmulDescSetAttribute");
  }
  /// The matrices of a product in cuBLASLt's order. If `isByRows`, the first
  /// factor x is b and the second, y, is a; otherwise x is a and y is b.
  struct Shapes {
    ColumnMatrix x, y, added, result;
  };
  /// Returns the matrices of `problem` in cuBLASLt's order, and sets
  /// `isByRows`. Returns nothing if cuBLASLt cannot describe the strides of a
  /// matrix.
  std::optional<Shapes> shapesOf(const MatmulProblem &problem,
                                 const CublasTypes &types);
  /// Creates the descriptor of the product: types, transpositions and
  /// `epilogue`.
  Status makeOperation(const CublasTypes &types, const Shapes &shapes,
                       cublasLtEpilogue_t epilogue);
  /// Creates the descriptor of a batch of `batch` matrices and stores it in
  /// `matrix`.
  Status makeLayout(Matrix &matrix, const ColumnMatrix &shape, int64_t batch);
  /// Sets `algorithm` to the cached algorithm for the key `problem`, or to one
  /// that the heuristics propose. Adds a proposed one to the cache. `mayLack`
  /// is as for open().
  Status choose(const std::string &problem, const Shapes &shapes, bool mayLack);
  /// Sets `algorithm` to the first one that cuBLASLt's heuristics propose for
  /// matrices with the alignments in `shapes`. `mayLack` is as for open().
  Status askForAlgorithm(const Shapes &shapes, bool mayLack);
  /// Returns whether cuBLASLt can compute the product with `known`, an
  /// algorithm from the cache.
  bool accepts(const cublasLtMatmulAlgo_t &known) const;

  CudaResources &resources;
  const CublasLibrary &blas;
  /// Whether c is row-major, so that b is the first factor for cuBLASLt and a
  /// the second.
  bool isByRows = true;
  /// Whether `algorithm` has been set.
  bool isChosen = false;
  OwnedHandle<cublasLtMatmulDesc_t> operation;
  Matrix x, y, added, result;
  cublasLtMatmulAlgo_t algorithm = {};
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUBLASCALL_H
