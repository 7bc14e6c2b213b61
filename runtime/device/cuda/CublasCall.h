//===- CublasCall.h - matrix product by cuBLASLt with a fused epilogue ----===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUBLASCALL_H
#define PCC_RUNTIME_DEVICE_CUDA_CUBLASCALL_H

#include "runtime/device/MatmulProblem.h"
#include "runtime/device/cuda/CudaResources.h"

#include <optional>

namespace pcc::runtime {

/// Owns a cuBLASLt object and destroys it in the destructor. cuBLASLt's create
/// function stores the object at the address that place() returns.
template <typename Handle> class OwnedHandle {
public:
  /// Creates an owner without an object. If an object is stored at place()
  /// later, the destructor calls `destroy` on it.
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
/// as arguments of cuBLASLt.
struct CublasTypes {
  /// Element type of a and b.
  ElementType factors;
  /// Element type of bias, residual and c.
  ElementType stored;
  /// Type in which products are summed. It also determines whether a and b may
  /// be rounded to tf32.
  cublasComputeType_t compute;
  /// Type of the scalars alpha and beta of the product.
  cudaDataType_t scale;
};

/// Returns the types for a matrix product. The operands a and b have the
/// element type `factors`, the result has the element type `stored`. Returns
/// std::nullopt if cuBLASLt has no product with these types. If
/// `mayRoundFactors` is true, a and b of type f32 may be rounded to tf32.
std::optional<CublasTypes>
cublasTypesOf(ElementType factors, ElementType stored, bool mayRoundFactors);

/// A matrix in column-major order, the only order that pcc uses with cuBLASLt.
/// Element (i, j) has index i + j * ld. `rows` and `columns` are the sizes of
/// the matrix in memory. If `isTransposed` is true, the product uses the
/// transpose of the matrix in memory.
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

/// Executes one matrix product with cuBLASLt, or a batch of products (the
/// innermost batch dim of a MatmulProblem). The epilogue of the same kernel
/// computes bias and activation, or the sums of a's rows or b's columns
/// (MatmulProblem::Sums).
///
/// cuBLASLt uses column-major order, so it reads a row-major matrix as the
/// transposed matrix. A row-major result c is therefore computed as
///
///   cᵀ = bᵀ aᵀ
///
/// where b is cuBLASLt's first operand (`x`) and a is its second operand (`y`).
class CublasCall {
public:
  /// Creates a call without a product. CudaResources::useCublas() must have
  /// been called.
  explicit CublasCall(CudaResources &resources);

  /// Creates cuBLASLt's descriptors of `problem` and selects an algorithm.
  /// Candidates, in this order:
  ///
  /// - the algorithm that the bundle stores from an earlier run, if cuBLASLt
  ///   accepts it;
  /// - the first algorithm that cuBLASLt's heuristics propose.
  ///
  /// If there is none, returns an error. If `mayLack` is true, returns success
  /// instead, and canRun() returns false.
  Status open(const MatmulProblem &problem, const CublasTypes &types,
              bool mayLack = false);
  /// Returns whether open() has found an algorithm.
  bool canRun() const { return isChosen; }
  /// Sets the address of a vector for the next run(). If the problem has sums
  /// (of a's rows or b's columns), run() writes the sums to `vector`. Otherwise
  /// run() reads the bias from `vector`.
  Status setVector(const void *vector);
  /// Enqueues result = activation(alpha * a b + beta * added + bias) on the
  /// compute stream. `alpha` and `beta` are addresses in host memory of numbers
  /// of type CublasTypes::scale. `addedData` equals `resultData`, or is the
  /// address of a matrix with the strides of the problem's residual.
  Status run(const void *alpha, const void *aData, const void *bData,
             const void *beta, const void *addedData, void *resultData);

private:
  /// Owner of cuBLASLt's descriptor of one matrix.
  using Matrix = OwnedHandle<cublasLtMatrixLayout_t>;

  /// Sets an attribute of cuBLASLt's descriptor of the product.
  template <typename T>
  Status set(cublasLtMatmulDescAttributes_t attribute, const T &value) {
    return blas.check(blas.cublasLtMatmulDescSetAttribute(
                          operation.get(), attribute,
                          static_cast<const void *>(&value), sizeof value),
                      "cublasLtMatmulDescSetAttribute");
  }
  /// The matrices of a product in cuBLASLt's order: `x` is the first factor,
  /// `y` the second. If c is row-major (`isByRows`), x is b and y is a.
  /// Otherwise x is a and y is b.
  struct Shapes {
    ColumnMatrix x, y, added, result;
  };
  /// Returns the matrices of `problem` in cuBLASLt's order, and sets `isByRows`
  /// to whether c is row-major. Returns std::nullopt if cuBLASLt cannot
  /// describe the strides of a matrix.
  std::optional<Shapes> shapesOf(const MatmulProblem &problem,
                                 const CublasTypes &types);
  /// Creates the descriptor of the product: types, transpositions and
  /// `epilogue` (bias, activation or sums).
  Status makeOperation(const CublasTypes &types, const Shapes &shapes,
                       cublasLtEpilogue_t epilogue);
  /// Creates the descriptor of a batch of `batch` matrices and stores it in
  /// `matrix`.
  Status makeLayout(Matrix &matrix, const ColumnMatrix &shape, int64_t batch);
  /// Sets the member `algorithm`. `problem` is a key of the cache of
  /// algorithms. Uses the cached algorithm if cuBLASLt accepts it. Otherwise
  /// uses one that the heuristics propose, and adds it to the cache. If the
  /// heuristics propose none, returns success if `mayLack` is true, otherwise
  /// an error.
  Status choose(const std::string &problem, const Shapes &shapes, bool mayLack);
  /// Sets the member `algorithm` to the first one that cuBLASLt's heuristics
  /// propose for matrices with the alignments in `shapes`. If the heuristics
  /// propose none, returns success if `mayLack` is true, otherwise an error.
  Status askForAlgorithm(const Shapes &shapes, bool mayLack);
  /// Returns whether cuBLASLt can compute the product with `known`, an
  /// algorithm from the cache.
  bool accepts(const cublasLtMatmulAlgo_t &known) const;

  CudaResources &resources;
  const CublasLibrary &blas;
  /// Whether c is row-major. The first factor for cuBLASLt is then b, and the
  /// second one is a.
  bool isByRows = true;
  /// Whether `algorithm` has been set.
  bool isChosen = false;
  OwnedHandle<cublasLtMatmulDesc_t> operation;
  Matrix x, y, added, result;
  cublasLtMatmulAlgo_t algorithm = {};
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUBLASCALL_H
