//===- CublasCall.h - matrix product by cuBLASLt with a fused epilogue ----===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUBLASCALL_H
#define PCC_RUNTIME_DEVICE_CUDA_CUBLASCALL_H

#include "runtime/device/MatmulProblem.h"
#include "runtime/device/cuda/CudaResources.h"

#include <optional>
#include <utility>

namespace pcc::runtime {

/// Owner of a cuBLASLt object, such as a descriptor. One of cuBLASLt's create
/// functions stores the object at the address that place() returns. The owner's
/// destructor destroys the object.
template <typename Handle> class OwnedHandle {
public:
  /// Creates an owner that does not yet own an object. Its destructor calls
  /// `destroy` on the object, if cuBLASLt has stored one at place().
  explicit OwnedHandle(cublasStatus_t (*destroy)(Handle)) : destroy(destroy) {}
  ~OwnedHandle() {
    if (handle)
      destroy(handle);
  }
  OwnedHandle(const OwnedHandle &) = delete;
  OwnedHandle &operator=(const OwnedHandle &) = delete;

  /// Returns the address at which a create function of cuBLASLt stores its new
  /// object. Destroys an object that this owner has already.
  Handle *place() {
    if (handle)
      destroy(std::exchange(handle, nullptr));
    return &handle;
  }
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
  /// Type in which products are summed. Also selects whether a and b may be
  /// rounded to tf32.
  cublasComputeType_t compute;
  /// Type of the scalars alpha and beta of the product.
  cudaDataType_t scale;
};

/// Returns the types of a product with factors of type `factors` and a result
/// of type `stored`. Returns std::nullopt if cuBLASLt has no such product. If
/// `mayRoundFactors` is true, f32 factors may be rounded to tf32.
std::optional<CublasTypes>
cublasTypesOf(ElementType factors, ElementType stored, bool mayRoundFactors);

/// A matrix in column-major order: element (i, j) has index i + j * ld. `rows`
/// and `columns` are its sizes in memory. If `isTransposed` is true, the
/// product uses its transpose.
struct ColumnMatrix {
  ElementType type;
  /// Number of rows, number of columns, and stride from one column to the next
  /// in elements.
  int64_t rows, columns, ld;
  bool isTransposed;
  /// Stride, in elements, from one matrix of the batch to the next.
  int64_t batchStride;
  /// Alignment of the operand in bytes: a power of two that divides all
  /// addresses at which run() finds the operand.
  uint32_t alignment;
};

/// Executes one matrix product, or a batch of them, with cuBLASLt. The batch is
/// the innermost batch dim of a MatmulProblem. The kernel's epilogue (work
/// after the product) computes bias and activation, or MatmulProblem::Sums.
///
/// cuBLASLt's results are column-major. For a row-major c, it computes
///
///   cᵀ = bᵀ aᵀ
///
/// with b as its first operand (`x`) and a as its second operand (`y`).
class CublasCall {
public:
  /// Creates a call without a product. CudaResources::useCublas() must have
  /// been called.
  explicit CublasCall(CudaResources &resources);

  /// Creates cuBLASLt's descriptors of `problem` and selects an algorithm:
  ///
  /// - the algorithm that an earlier run stored in the bundle, if cuBLASLt
  ///   accepts it;
  /// - otherwise the first algorithm that cuBLASLt's heuristics propose.
  ///
  /// If the heuristics propose no algorithm, returns an error. If `mayLack` is
  /// true, returns success instead, and canRun() returns false.
  Status open(const MatmulProblem &problem, const CublasTypes &types,
              bool mayLack = false);
  /// Returns whether open() has found an algorithm.
  bool canRun() const { return isChosen; }
  /// Sets the address of a vector for the next run(). If the problem has sums
  /// (MatmulProblem::Sums), run() writes them to `vector`. Otherwise run()
  /// reads the bias from `vector`.
  Status setVector(const void *vector);
  /// Enqueues result = activation(alpha * a b + beta * added + bias) on the
  /// compute stream. `alpha` and `beta` are in host memory, of type
  /// CublasTypes::scale. `added` is the matrix at `addedData`: a residual, or
  /// the old result if `addedData` equals `resultData`.
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
  /// Sets the member `algorithm` to the cached algorithm for the key `problem`
  /// if cuBLASLt accepts it. Otherwise asks cuBLASLt's heuristics, and adds the
  /// algorithm that they propose to the cache. If they propose none, returns an
  /// error; with `mayLack`, returns success instead.
  Status choose(const std::string &problem, const Shapes &shapes, bool mayLack);
  /// Sets the member `algorithm` to the first algorithm that cuBLASLt's
  /// heuristics propose for the matrices `shapes`. If they propose none,
  /// returns an error; with `mayLack`, returns success instead.
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
