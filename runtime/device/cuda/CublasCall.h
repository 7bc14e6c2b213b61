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
  /// Creates an OwnedHandle that has no object yet. An OwnedHandle owns at most
  /// one object of cuBLASLt, such as the descriptor of a matrix. `destroy` is
  /// the function of cuBLASLt that destroys an object of the type `Handle`. The
  /// destructor of the OwnedHandle passes the object to `destroy`. If there is
  /// no object, the destructor does nothing.
  explicit OwnedHandle(cublasStatus_t (*destroy)(Handle)) : destroy(destroy) {}
  ~OwnedHandle() {
    if (handle)
      destroy(handle);
  }
  OwnedHandle(const OwnedHandle &) = delete;
  OwnedHandle &operator=(const OwnedHandle &) = delete;

  /// Returns the address at which a function of cuBLASLt shall store a new
  /// object. For example, cublasLtMatrixLayoutCreate() creates a descriptor,
  /// and takes such an address as its first argument. The owner then owns the
  /// new object. If the owner already has an object, place() first destroys
  /// that object.
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

/// Types of one matrix product, as arguments of cuBLASLt. The product is
///
///   c = activation(alpha * a b + bias) + residual
///
/// The matrices a and b are the factors, and the matrix c is the result.
/// `alpha` is a number. The bias is a vector with one number per column of c.
/// The residual is a matrix with the sizes of c. A product may lack the bias,
/// the activation or the residual.
struct CublasTypes {
  /// Element type of the two matrices that cuBLASLt multiplies.
  ElementType factors;
  /// Element type of the matrix that cuBLASLt writes, which is the result of
  /// the product. The bias is a vector that is added to the product, and the
  /// residual is a matrix that is added to the product. Both have this element
  /// type too. For example, the factors may be f16, and the result f32.
  ElementType stored;
  /// Precision of the computation. An element of the matrix product a b is a
  /// sum: cuBLASLt multiplies elements of a by elements of b, and adds the
  /// resulting numbers. If a and b are f64, cuBLASLt adds the numbers in f64.
  /// Otherwise it adds the numbers in f32. If a and b are f32, `compute` also
  /// says whether cuBLASLt may round their elements to tf32.
  cublasComputeType_t compute;
  /// Type of the scalars alpha and beta of the product.
  cudaDataType_t scale;
};

/// Returns the types of a product with factors of type `factors` and a result
/// of type `stored`. Returns std::nullopt if cuBLASLt has no product with these
/// types. If `mayRoundFactors` is true, f32 factors may be rounded to tf32.
std::optional<CublasTypes>
cublasTypesOf(ElementType factors, ElementType stored, bool mayRoundFactors);

/// Description of a matrix for cuBLASLt. cuBLASLt reads memory in column-major
/// order: element (i, j) has index i + j * ld. `ld` is the number of elements
/// from one column to the next. `rows` and `columns` are the sizes of the
/// matrix in this order. If `isTransposed` is true, the product uses the
/// transpose of the matrix.
///
/// For example, take a dense row-major matrix [2, 3]. In column-major order,
/// its memory is a matrix of 3 rows and 2 columns with ld = 3. If
/// `isTransposed` is true, the product uses the transpose of that matrix, which
/// is the original matrix [2, 3].
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

/// Computes matrix products c = a b with cuBLASLt. In a batch of products, one
/// call of run() computes all products along the innermost batch dim. In the
/// same kernel, cuBLASLt can add a bias and apply an activation, or compute the
/// sum of each row of a or of each column of b.
///
/// Every matrix is described to cuBLASLt as column-major. If c is row-major,
/// its memory is cᵀ in column-major order, so cuBLASLt computes cᵀ = bᵀ aᵀ. The
/// members `x` and `y` are the descriptors of the first and the second factor:
/// a and b, or bᵀ and aᵀ.
class CublasCall {
public:
  /// Creates an object that cannot compute anything yet. The caller must pass a
  /// matrix product to open() before it calls run().
  /// CudaResources::useCublas(), which loads cuBLASLt, must have been called
  /// before this constructor.
  explicit CublasCall(CudaResources &resources);

  /// Creates the descriptors of the product `problem`, and selects an algorithm
  /// of cuBLASLt. `types` is the result of cublasTypesOf(). A cache in the
  /// directory of the compiled model has the algorithms of this run and of
  /// earlier runs. If the cache lacks the product, or cuBLASLt rejects the
  /// cached algorithm, open() takes the first proposal of cuBLASLt's
  /// heuristics.
  ///
  /// If there is no proposal, open() returns an error if `mayLack` is false. If
  /// `mayLack` is true, open() returns success, and canRun() returns false.
  Status open(const MatmulProblem &problem, const CublasTypes &types,
              bool mayLack = false);
  /// Returns whether open() has selected an algorithm of cuBLASLt for the
  /// matrix product. For some products, cuBLASLt has no algorithm. The caller
  /// must then not call run().
  bool canRun() const { return isChosen; }
  /// Sets the address of a vector in GPU memory that later calls of run() read
  /// or write. `problem` is the argument that open() received:
  ///
  /// - If `problem.sums` is OfA, run() writes the sum of each row of a to
  ///   `vector`.
  /// - If `problem.sums` is OfB, run() writes the sum of each column of b to
  ///   `vector`.
  /// - Otherwise run() reads the bias from `vector`. A product without a bias
  ///   does not need the vector.
  Status setVector(const void *vector);
  /// Enqueues the product on the compute stream:
  ///
  ///   result = activation(alpha * a b + beta * added + bias)
  ///
  /// `alpha` and `beta` are addresses of numbers of type CublasTypes::scale in
  /// host memory. The other parameters are addresses in GPU memory, those of
  /// the first product in a batch. `added` is a residual, and may be in the
  /// memory of the result. Without a residual, beta must be 0, and `addedData`
  /// must be equal to `resultData`. setVector() has set the bias.
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
  /// Descriptions of the matrices that cuBLASLt receives. cuBLASLt multiplies
  /// `x` by `y`, adds `added`, and stores `result`. Let c = a b be the product
  /// that the caller wants:
  ///
  /// - If c is column-major, `x` is a, `y` is b, and `result` is c.
  /// - If c is row-major, cuBLASLt computes cᵀ = bᵀ aᵀ. `x` is then bᵀ, `y` is
  ///   aᵀ, and `result` is cᵀ.
  ///
  /// `added` is the matrix that is added to the product. If c is row-major,
  /// `added` is transposed too.
  struct Shapes {
    ColumnMatrix x, y, added, result;
  };
  /// Returns cuBLASLt's descriptions of the matrices of `problem`, with the
  /// element types `types`. Sets the member `isByRows` to whether the result c
  /// is row-major. Returns std::nullopt in three cases:
  ///
  /// - cuBLASLt cannot describe the strides of a matrix.
  /// - The residual (a matrix that is added to the product) is row-major and c
  ///   is column-major, or the reverse.
  /// - The product has a bias, which has one number per column of c, and c is
  ///   column-major.
  std::optional<Shapes> shapesOf(const MatmulProblem &problem,
                                 const CublasTypes &types);
  /// Creates the descriptor of the product, and stores it in the member
  /// `operation`. The parameters give the properties of the product:
  ///
  /// - `types`: the types in which cuBLASLt computes
  /// - `shapes`: the descriptions of the matrices, which say whether cuBLASLt
  ///   transposes a factor
  /// - `epilogue`: the work that cuBLASLt does in the same kernel after the
  ///   product, such as adding a bias
  Status makeOperation(const CublasTypes &types, const Shapes &shapes,
                       cublasLtEpilogue_t epilogue);
  /// Creates cuBLASLt's descriptor of one operand of the product, such as a or
  /// c, and stores the descriptor in `matrix`. `shape` has the element type,
  /// the sizes and the strides of one matrix.
  ///
  /// One call of cuBLASLt may compute several products. `batch` is the number
  /// of these products. The operand then consists of `batch` matrices with the
  /// shape `shape`, and each matrix begins `shape.batchStride` elements after
  /// the previous one. If the call computes one product, `batch` is 1.
  Status makeLayout(Matrix &matrix, const ColumnMatrix &shape, int64_t batch);
  /// Selects the algorithm of the product, and stores it in the member
  /// `algorithm`. A cache has the algorithms that this run and earlier runs
  /// selected. `problem` is the key of the product in the cache. `shapes` has
  /// the descriptions of the matrices.
  ///
  /// If the cache has an algorithm for the key, and cuBLASLt accepts the
  /// algorithm, selects it. Otherwise selects the algorithm that the heuristics
  /// of cuBLASLt propose, and adds it to the cache.
  ///
  /// The heuristics may propose no algorithm. choose() then returns an error if
  /// `mayLack` is false. If `mayLack` is true, choose() returns success, and
  /// the member `isChosen` is false.
  Status choose(const std::string &problem, const Shapes &shapes, bool mayLack);
  /// Asks the heuristics of cuBLASLt for an algorithm of the product, and
  /// stores their first proposal in the member `algorithm`. `shapes` has the
  /// descriptions of the matrices. Sets the member `isChosen` to whether there
  /// is a proposal.
  ///
  /// If there is no proposal, askForAlgorithm() returns an error if `mayLack`
  /// is false. If `mayLack` is true, askForAlgorithm() returns success.
  Status askForAlgorithm(const Shapes &shapes, bool mayLack);
  /// Returns whether cuBLASLt can compute the product with the algorithm
  /// `known`. The algorithm comes from a cache, which contains the algorithms
  /// that this run and earlier runs have selected. Returns false if cuBLASLt
  /// rejects the algorithm. Also returns false if the algorithm needs more
  /// temporary GPU memory than cuBLASLt may use.
  bool accepts(const cublasLtMatmulAlgo_t &known) const;

  CudaResources &resources;
  const CublasLibrary &blas;
  /// Whether the result c is row-major. If it is, cuBLASLt computes the
  /// transpose cᵀ = bᵀ aᵀ. The first factor that cuBLASLt receives is then bᵀ,
  /// and the second factor is aᵀ. If c is column-major, the first factor is a,
  /// and the second factor is b.
  bool isByRows = true;
  /// Whether the member `algorithm` contains an algorithm of cuBLASLt that can
  /// compute the product. Before open(), the value is false. After open(), the
  /// value is false if cuBLASLt has no algorithm for the product.
  bool isChosen = false;
  OwnedHandle<cublasLtMatmulDesc_t> operation;
  Matrix x, y, added, result;
  cublasLtMatmulAlgo_t algorithm = {};
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUBLASCALL_H
