//===- Matmul.cpp - products by cuBLASLt ----------------------------------===//
//
// cuBLASLt thinks in columns: to it a matrix by rows is the transposed one. A
// result that lies by rows is therefore made as c^T = b^T a^T.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/MatmulProblem.h"
#include "runtime/device/cuda/CudaResources.h"

#include <algorithm>
#include <optional>

namespace pcc::runtime {

namespace {
/// What of cuBLASLt has to be destroyed.
template <typename Handle> class Owned {
public:
  explicit Owned(cublasStatus_t (*destroy)(Handle)) : destroy(destroy) {}
  ~Owned() {
    if (handle)
      destroy(handle);
  }
  Owned(const Owned &) = delete;
  Owned &operator=(const Owned &) = delete;

  Handle *place() { return &handle; }
  Handle get() const { return handle; }

private:
  cublasStatus_t (*destroy)(Handle);
  Handle handle = nullptr;
};

/// A matrix of `rows` by `columns` as cuBLASLt has it: by columns, `ld`
/// elements apart, or so transposed.
struct ColumnMatrix {
  int64_t rows, columns, ld;
  bool isTransposed;
  int64_t batchStride;
};

/// The types of elements, sums and factors.
struct BlasTypes {
  cudaDataType_t data, scale;
  cublasComputeType_t compute;
};

/// One product, or one for each of a batch that lies evenly.
class BlasCall {
public:
  BlasCall(CudaResources &resources)
      : resources(resources), blas(resources.blas()),
        operation(blas.cublasLtMatmulDescDestroy),
        x(blas.cublasLtMatrixLayoutDestroy),
        y(blas.cublasLtMatrixLayoutDestroy),
        added(blas.cublasLtMatrixLayoutDestroy),
        result(blas.cublasLtMatrixLayoutDestroy) {}

  Status open(const MatmulProblem &problem, BlasTypes types);
  /// Of the next run.
  Status setBias(const void *bias);
  Status run(const void *alpha, const void *xData, const void *yData,
             const void *beta, const void *addedData, void *resultData);

  /// Whether a and b change places.
  bool isByRows = true;

private:
  using Matrix = Owned<cublasLtMatrixLayout_t>;

  template <typename T>
  Status set(cublasLtMatmulDescAttributes_t attribute, const T &value) {
    return blas.check(blas.cublasLtMatmulDescSetAttribute(
                          operation.get(), attribute, &value, sizeof value),
                      "cublasLtMatmulDescSetAttribute");
  }
  Status setOperation(const MatmulProblem &problem, const ColumnMatrix &xShape,
                      const ColumnMatrix &yShape);
  /// What cuBLASLt may rely on: bytes that addresses are multiples of.
  struct Alignments {
    uint32_t x, y, added, result;
  };
  Status makeLayout(Matrix &matrix, const ColumnMatrix &shape, int64_t batch);
  Status choose(const Alignments &alignments);

  CudaResources &resources;
  const BlasLibrary &blas;
  Owned<cublasLtMatmulDesc_t> operation;
  Matrix x, y, added, result;
  BlasTypes types = {};
  cublasLtMatmulAlgo_t algorithm = {};
};
} // namespace

static std::optional<BlasTypes> blasTypesOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return BlasTypes{CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
  case ElementType::F32:
    return BlasTypes{CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
  case ElementType::F16:
    return BlasTypes{CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
  case ElementType::BF16:
    return BlasTypes{CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
  default:
    return std::nullopt;
  }
}

/// What cuBLASLt does behind a product; nothing if it does not.
static std::optional<cublasLtEpilogue_t>
epilogueOf(const MatmulProblem &problem) {
  if (problem.hasResidual && problem.activation != program::Activation::None)
    return std::nullopt;
  switch (problem.activation) {
  case program::Activation::None:
    return problem.hasBias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  case program::Activation::Relu:
    return problem.hasBias ? CUBLASLT_EPILOGUE_RELU_BIAS
                           : CUBLASLT_EPILOGUE_RELU;
  case program::Activation::GeluTanh:
    return problem.hasBias ? CUBLASLT_EPILOGUE_GELU_BIAS
                           : CUBLASLT_EPILOGUE_GELU;
  default:
    return std::nullopt;
  }
}

/// A matrix of `rows` by `columns`, as it is or, if `isSwapped`, transposed.
static std::optional<ColumnMatrix> byColumns(const MatrixStrides &matrix,
                                             int64_t rows, int64_t columns,
                                             bool isSwapped) {
  int64_t rowStride = matrix.row, columnStride = matrix.column;
  if (isSwapped) {
    std::swap(rows, columns);
    std::swap(rowStride, columnStride);
  }
  const int64_t batch = matrix.batch.empty() ? 0 : matrix.batch.back();
  if (rowStride == 1 && columnStride >= std::max<int64_t>(rows, 1))
    return ColumnMatrix{rows, columns, columnStride, false, batch};
  if (columnStride == 1 && rowStride >= std::max<int64_t>(columns, 1))
    return ColumnMatrix{columns, rows, rowStride, true, batch};
  return std::nullopt;
}

Status BlasCall::makeLayout(Matrix &matrix, const ColumnMatrix &shape,
                            int64_t batch) {
  if (Status status =
          blas.check(blas.cublasLtMatrixLayoutCreate(
                         matrix.place(), types.data, uint64_t(shape.rows),
                         uint64_t(shape.columns), shape.ld),
                     "cublasLtMatrixLayoutCreate");
      status.failed())
    return status;
  const auto count = int32_t(batch);
  const auto setAttribute = [&](cublasLtMatrixLayoutAttribute_t attribute,
                                const auto &value) {
    return blas.check(blas.cublasLtMatrixLayoutSetAttribute(
                          matrix.get(), attribute, &value, sizeof value),
                      "cublasLtMatrixLayoutSetAttribute");
  };
  if (Status status = setAttribute(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, count);
      status.failed())
    return status;
  return setAttribute(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                      shape.batchStride);
}

Status BlasCall::setOperation(const MatmulProblem &problem,
                              const ColumnMatrix &xShape,
                              const ColumnMatrix &yShape) {
  const auto turn = [](const ColumnMatrix &matrix) {
    return matrix.isTransposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  const auto epilogue = epilogueOf(problem);
  if (!epilogue)
    return Status::error(Defect, "cuBLASLt does not do what is to follow a "
                                 "product");
  if (Status status = set(CUBLASLT_MATMUL_DESC_TRANSA, turn(xShape));
      status.failed())
    return status;
  if (Status status = set(CUBLASLT_MATMUL_DESC_TRANSB, turn(yShape));
      status.failed())
    return status;
  return set(CUBLASLT_MATMUL_DESC_EPILOGUE, *epilogue);
}

Status BlasCall::choose(const Alignments &alignments) {
  Owned<cublasLtMatmulPreference_t> preference(
      blas.cublasLtMatmulPreferenceDestroy);
  if (Status status =
          blas.check(blas.cublasLtMatmulPreferenceCreate(preference.place()),
                     "cublasLtMatmulPreferenceCreate");
      status.failed())
    return status;
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute,
                          const auto &value) {
    return blas.check(blas.cublasLtMatmulPreferenceSetAttribute(
                          preference.get(), attribute, &value, sizeof value),
                      "cublasLtMatmulPreferenceSetAttribute");
  };
  if (Status status = prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                             CudaResources::workspaceBytes);
      status.failed())
    return status;
  const std::pair<cublasLtMatmulPreferenceAttributes_t, uint32_t> aligned[] = {
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignments.x},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignments.y},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignments.added},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignments.result}};
  for (const auto &[attribute, bytes] : aligned)
    if (Status status = prefer(attribute, bytes); status.failed())
      return status;
  cublasLtMatmulHeuristicResult_t found = {};
  int count = 0;
  if (Status status = blas.check(
          blas.cublasLtMatmulAlgoGetHeuristic(
              resources.blasHandle(), operation.get(), x.get(), y.get(),
              added.get(), result.get(), preference.get(), 1, &found, &count),
          "cublasLtMatmulAlgoGetHeuristic");
      status.failed())
    return status;
  if (count == 0 || found.state != CUBLAS_STATUS_SUCCESS)
    return Status::error(Defect, "cuBLASLt has no algorithm for a product");
  algorithm = found.algo;
  return Status::success();
}

/// Buffers are aligned to 64 bytes; a view begins somewhere in one, and so do
/// the products of the batch dims that are ours to walk.
static uint32_t alignmentOf(const MatrixStrides &matrix, int64_t size) {
  auto bits = uint64_t(kAlignment) | uint64_t(matrix.offset * size);
  for (size_t dim = 0; dim + 1 < matrix.batch.size(); ++dim)
    bits |= uint64_t(matrix.batch[dim] * size);
  return uint32_t(bits & ~(bits - 1));
}

/// One column lies by rows as well as by columns; a bias wants rows.
static MatrixStrides byRowsIfColumn(MatrixStrides matrix, int64_t columns) {
  if (columns == 1)
    matrix.column = 1;
  return matrix;
}

Status BlasCall::open(const MatmulProblem &problem, BlasTypes given) {
  types = given;
  const MatrixStrides stored = byRowsIfColumn(problem.c, problem.n);
  const MatrixStrides addend = byRowsIfColumn(problem.residual, problem.n);
  isByRows = stored.column == 1;
  const int64_t batch = problem.batch.empty() ? 1 : problem.batch.back();
  const auto a = byColumns(problem.a, problem.m, problem.k, isByRows);
  const auto b = byColumns(problem.b, problem.k, problem.n, isByRows);
  const auto c = byColumns(stored, problem.m, problem.n, isByRows);
  const auto r = byColumns(addend, problem.m, problem.n, isByRows);
  const bool isOrdered = a && b && c && r && !c->isTransposed &&
                         !r->isTransposed && (isByRows || !problem.hasBias);
  if (!isOrdered)
    return Status::error(Defect, "cuBLASLt has no layout for a matrix");
  if (Status status =
          blas.check(blas.cublasLtMatmulDescCreate(operation.place(),
                                                   types.compute, types.scale),
                     "cublasLtMatmulDescCreate");
      status.failed())
    return status;
  const ColumnMatrix &xShape = isByRows ? *b : *a, &yShape = isByRows ? *a : *b;
  if (Status status = setOperation(problem, xShape, yShape); status.failed())
    return status;
  const std::pair<Matrix &, const ColumnMatrix &> layouts[] = {
      {x, xShape}, {y, yShape}, {added, *r}, {result, *c}};
  for (const auto &[matrix, shape] : layouts)
    if (Status status = makeLayout(matrix, shape, batch); status.failed())
      return status;
  const auto alignment = [&](const MatrixStrides &matrix) {
    return alignmentOf(matrix, int64_t(sizeOf(problem.type)));
  };
  const uint32_t ofA = alignment(problem.a), ofB = alignment(problem.b);
  return choose({isByRows ? ofB : ofA, isByRows ? ofA : ofB,
                 alignment(problem.residual), alignment(problem.c)});
}

Status BlasCall::setBias(const void *bias) {
  return set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
}

Status BlasCall::run(const void *alpha, const void *xData, const void *yData,
                     const void *beta, const void *addedData,
                     void *resultData) {
  return blas.check(
      blas.cublasLtMatmul(resources.blasHandle(), operation.get(), alpha, xData,
                          x.get(), yData, y.get(), beta, addedData, added.get(),
                          resultData, result.get(), &algorithm,
                          resources.workspace(), CudaResources::workspaceBytes,
                          resources.context().stream()),
      "cublasLtMatmul");
}

namespace {
/// A factor in the type that cuBLASLt has for it.
struct BlasFactor {
  BlasFactor(double value, cudaDataType_t type)
      : isDouble(type == CUDA_R_64F), narrow(float(value)), wide(value) {}
  const void *get() const {
    return isDouble ? static_cast<const void *>(&wide) : &narrow;
  }

  bool isDouble;
  float narrow;
  double wide;
};

class MatmulOperation : public Operation {
public:
  MatmulOperation(CudaResources &resources, const LoadContext &context,
                  const program::MatmulT &matmul, ElementType type,
                  BlasTypes types)
      : context(context), matmul(matmul), problem(matmul, type),
        size(int64_t(sizeOf(type))), alpha(matmul.alpha, types.scale),
        beta(problem.hasResidual ? 1 : 0, types.scale), call(resources) {}

  Status open(BlasTypes types) {
    return problem.isEmpty() ? Status::success() : call.open(problem, types);
  }

  Status run(const RunContext &run) override {
    if (problem.isEmpty())
      return Status::success();
    microbatch = run.microbatch;
    if (problem.hasBias)
      if (Status status = call.setBias(address(matmul.bias)); status.failed())
        return status;
    Places places = {address(matmul.a, problem.a.offset),
                     address(matmul.b, problem.b.offset),
                     address(matmul.c),
                     {}};
    places.residual = problem.hasResidual ? address(matmul.residual) : places.c;
    return runFrom(0, places);
  }

private:
  struct Places {
    char *a, *b, *c, *residual;
  };

  char *address(int32_t buffer, int64_t offset = 0) const {
    return static_cast<char *>(context.buffers.at(buffer, microbatch)) +
           offset * size;
  }

  /// All but the last dim of the batch are ours to walk.
  Status runFrom(size_t dim, const Places &at) {
    if (dim + 1 >= problem.batch.size())
      return call.isByRows ? call.run(alpha.get(), at.b, at.a, beta.get(),
                                      at.residual, at.c)
                           : call.run(alpha.get(), at.a, at.b, beta.get(),
                                      at.residual, at.c);
    for (int64_t i = 0; i < problem.batch[dim]; ++i)
      if (Status status = runFrom(
              dim + 1, {at.a + i * problem.a.batch[dim] * size,
                        at.b + i * problem.b.batch[dim] * size,
                        at.c + i * problem.c.batch[dim] * size,
                        at.residual + i * problem.residual.batch[dim] * size});
          status.failed())
        return status;
    return Status::success();
  }

  LoadContext context;
  const program::MatmulT &matmul;
  MatmulProblem problem;
  int64_t size;
  BlasFactor alpha, beta;
  BlasCall call;
  int64_t microbatch = 0;
};
} // namespace

Status prepareMatmul(CudaResources &resources, const LoadContext &context,
                     const program::InstructionT &instruction,
                     std::unique_ptr<Operation> &operation) {
  const program::MatmulT &matmul = *instruction.body.AsMatmul();
  const ElementType type =
      typeOf(context.program.buffers[size_t(matmul.c)]->type);
  const auto types = blasTypesOf(type);
  if (!types)
    return Status::error(Defect, "cuBLASLt has no products of " +
                                     std::string(nameOf(type)));
  if (Status status = resources.useBlas(); status.failed())
    return status;
  auto made = std::make_unique<MatmulOperation>(resources, context, matmul,
                                                type, *types);
  if (Status status = made->open(*types); status.failed())
    return status.addNote("node \"" + instruction.node + "\"");
  operation = std::move(made);
  return Status::success();
}

} // namespace pcc::runtime
