//===- CublasCall.h - one product as cuBLASLt has it ----------------------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUBLASCALL_H
#define PCC_RUNTIME_DEVICE_CUDA_CUBLASCALL_H

#include "runtime/device/MatmulProblem.h"
#include "runtime/device/cuda/CudaResources.h"

#include <optional>

namespace pcc::runtime {

/// What of cuBLASLt has to be destroyed.
template <typename Handle> class OwnedHandle {
public:
  explicit OwnedHandle(cublasStatus_t (*destroy)(Handle)) : destroy(destroy) {}
  ~OwnedHandle() {
    if (handle)
      destroy(handle);
  }
  OwnedHandle(const OwnedHandle &) = delete;
  OwnedHandle &operator=(const OwnedHandle &) = delete;

  Handle *place() { return &handle; }
  Handle get() const { return handle; }

private:
  cublasStatus_t (*destroy)(Handle);
  Handle handle = nullptr;
};

/// The types of elements, sums and factors.
struct CublasTypes {
  ElementType factors; ///< of a and b
  ElementType stored;  ///< of all else
  cublasComputeType_t compute;
  cudaDataType_t scale;
};

/// None where cuBLASLt has no such products. `mayRoundFactors`: of f32 to tf32.
std::optional<CublasTypes>
cublasTypesOf(ElementType factors, ElementType stored, bool mayRoundFactors);

/// A matrix of `rows` by `columns` as cuBLASLt has it: by columns, `ld`
/// elements apart, or so transposed. `alignment`: bytes that its addresses are
/// multiples of.
struct ColumnMatrix {
  ElementType type;
  int64_t rows, columns, ld;
  bool isTransposed;
  int64_t batchStride;
  uint32_t alignment;
};

/// One product, or one for each of a batch that lies evenly. cuBLASLt thinks
/// in columns: to it a matrix by rows is the transposed one. A result that lies
/// by rows is therefore made as c^T = b^T a^T.
class CublasCall {
public:
  explicit CublasCall(CudaResources &resources);

  /// Chooses an algorithm: the one that was chosen in an earlier run, if the
  /// bundle has kept it. If it `mayLack` one, that is no error: see canRun().
  Status open(const MatmulProblem &problem, const CublasTypes &types,
              bool mayLack = false);
  /// Whether there is an algorithm.
  bool canRun() const { return isChosen; }
  /// The bias of the next run, or where it puts sums.
  Status setVector(const void *vector);
  /// `addedData` is `resultData`, or what lies as the problem's residual.
  Status run(const void *alpha, const void *aData, const void *bData,
             const void *beta, const void *addedData, void *resultData);

private:
  using Matrix = OwnedHandle<cublasLtMatrixLayout_t>;

  template <typename T>
  Status set(cublasLtMatmulDescAttributes_t attribute, const T &value) {
    return blas.check(blas.cublasLtMatmulDescSetAttribute(
                          operation.get(), attribute, &value, sizeof value),
                      "cublasLtMatmulDescSetAttribute");
  }
  /// The matrices of a problem; x and y are a and b, or b and a.
  struct Shapes {
    ColumnMatrix x, y, added, result;
  };
  std::optional<Shapes> shapesOf(const MatmulProblem &problem,
                                 const CublasTypes &types);
  Status makeOperation(const CublasTypes &types, const Shapes &shapes,
                       cublasLtEpilogue_t epilogue);
  Status makeLayout(Matrix &matrix, const ColumnMatrix &shape, int64_t batch);
  Status choose(const std::string &problem, const Shapes &shapes, bool mayLack);
  Status askForAlgorithm(const Shapes &shapes, bool mayLack);
  bool accepts(const cublasLtMatmulAlgo_t &known) const;

  CudaResources &resources;
  const CublasLibrary &blas;
  /// Whether a and b change places.
  bool isByRows = true;
  bool isChosen = false;
  OwnedHandle<cublasLtMatmulDesc_t> operation;
  Matrix x, y, added, result;
  cublasLtMatmulAlgo_t algorithm = {};
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUBLASCALL_H
