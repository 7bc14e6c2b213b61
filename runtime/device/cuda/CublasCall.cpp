//===- CublasCall.cpp - matrix product by cuBLASLt with a fused epilogue --===//

#include "runtime/device/cuda/CublasCall.h"

#include <algorithm>
#include <cstring>

namespace pcc::runtime {

/// Returns CUDA's name for the element type `type`, which is f32, f64, f16 or
/// bf16.
static cudaDataType_t dataTypeOf(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return CUDA_R_64F;
  case ElementType::F16:
    return CUDA_R_16F;
  case ElementType::BF16:
    return CUDA_R_16BF;
  default:
    return CUDA_R_32F;
  }
}

std::optional<CublasTypes>
cublasTypesOf(ElementType factors, ElementType stored, bool mayRoundFactors) {
  const bool isNarrow =
      factors == ElementType::F16 || factors == ElementType::BF16;
  if (stored != factors && !(isNarrow && stored == ElementType::F32))
    return std::nullopt;
  if (factors == ElementType::F64)
    return CublasTypes{factors, stored, CUBLAS_COMPUTE_64F, CUDA_R_64F};
  if (factors == ElementType::F32)
    return CublasTypes{factors, stored,
                       mayRoundFactors ? CUBLAS_COMPUTE_32F_FAST_TF32
                                       : CUBLAS_COMPUTE_32F,
                       CUDA_R_32F};
  if (isNarrow)
    return CublasTypes{factors, stored, CUBLAS_COMPUTE_32F, CUDA_R_32F};
  return std::nullopt;
}

/// Returns the epilogue for the matrix product c = a b that `problem`
/// describes. An epilogue is work that cuBLASLt does in the same kernel, after
/// the product. An epilogue can add a bias and apply an activation. If
/// `problem.sums` is OfA, the epilogue instead sums the rows of a. If
/// `problem.sums` is OfB, it sums the columns of b. `isByRows` is true if the
/// result c is row-major.
///
/// Returns std::nullopt if cuBLASLt has no such epilogue. For example,
/// `problem` may apply an activation and then add a residual. cuBLASLt can add
/// a residual only before the activation.
static std::optional<cublasLtEpilogue_t>
epilogueOf(const MatmulProblem &problem, bool isByRows) {
  if (problem.hasResidual && problem.activation != program::Activation::None)
    return std::nullopt;
  // The epilogue BGRADA sums the first factor that cuBLASLt receives. BGRADB
  // sums the second factor. Both sum along k, the dim that the product reduces.
  // If c is column-major, the first factor is a, and the second factor is b. If
  // c is row-major, cuBLASLt computes cᵀ = bᵀ aᵀ. The first factor is then bᵀ,
  // and the second factor is aᵀ. This gives the four cases:
  //
  //                     sums of rows of a    sums of columns of b
  //   c column-major    BGRADA               BGRADB
  //   c row-major       BGRADB               BGRADA
  if (problem.sums != MatmulProblem::Sums::None)
    return (problem.sums == MatmulProblem::Sums::OfB) == isByRows
               ? CUBLASLT_EPILOGUE_BGRADA
               : CUBLASLT_EPILOGUE_BGRADB;
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

/// Returns the alignment, in bytes, of one matrix operand of a product.
/// `matrix` has the offset and the strides of the operand, in elements of
/// `type`. The alignment is a power of two that divides each address that
/// CublasCall::run() receives for the operand. The alignment is at most
/// kAlignment, which is the alignment of the buffers.
///
/// The address is the address of the buffer, plus `matrix.offset` elements,
/// plus a multiple of the stride of each outer batch dim. For example, let the
/// elements be f32, the offset 4, and let there be no outer batch dims. The
/// operand then begins 16 bytes after the beginning of its buffer, and the
/// alignment is 16.
///
/// The stride of the innermost batch dim does not matter. One call of run()
/// computes all products along that dim, and receives only the address of the
/// first one.
static uint32_t alignmentOf(const MatrixStrides &matrix, ElementType type) {
  const auto size = int64_t(sizeOf(type));
  auto bits = uint64_t(kAlignment) | uint64_t(matrix.offset * size);
  for (size_t dim = 0; dim + 1 < matrix.batch.size(); ++dim)
    bits |= uint64_t(matrix.batch[dim] * size);
  return uint32_t(bits & ~(bits - 1));
}

/// Returns the description of a matrix for cuBLASLt. The matrix has `rows` rows
/// and `columns` columns. `matrix` has its strides, in elements of `type`. If
/// `isSwapped` is true, the function describes the transpose of the matrix
/// instead. Let M be the described matrix:
///
/// - If each column of M is contiguous, the result describes M itself, and
///   `isTransposed` is false.
/// - If each row of M is contiguous, the result describes the transpose of M,
///   and `isTransposed` is true. cuBLASLt then transposes the described matrix,
///   which gives M.
/// - Otherwise returns std::nullopt, because cuBLASLt has no description of M.
///
/// Also returns std::nullopt if the rows or columns of M overlap in memory.
static std::optional<ColumnMatrix> byColumns(const MatrixStrides &matrix,
                                             ElementType type, int64_t rows,
                                             int64_t columns, bool isSwapped) {
  int64_t rowStride = matrix.row, columnStride = matrix.column;
  if (isSwapped) {
    std::swap(rows, columns);
    std::swap(rowStride, columnStride);
  }
  const int64_t batch = matrix.batch.empty() ? 0 : matrix.batch.back();
  const uint32_t alignment = alignmentOf(matrix, type);
  if (rowStride == 1 && columnStride >= std::max<int64_t>(rows, 1))
    return ColumnMatrix{type,  rows,  columns,  columnStride,
                        false, batch, alignment};
  if (columnStride == 1 && rowStride >= std::max<int64_t>(columns, 1))
    return ColumnMatrix{type, columns, rows, rowStride, true, batch, alignment};
  return std::nullopt;
}

/// Returns `matrix`, the strides of a matrix with `columns` columns. If the
/// matrix has only one column, the returned column stride is 1. The column
/// index is then always 0, so the column stride has no effect on the addresses.
/// A matrix with column stride 1 is row-major. This matters for the result of a
/// product, because only a row-major result may have a bias.
static MatrixStrides byRowsIfColumn(MatrixStrides matrix, int64_t columns) {
  if (columns == 1)
    matrix.column = 1;
  return matrix;
}

CublasCall::CublasCall(CudaResources &resources)
    : resources(resources), blas(resources.blas()),
      operation(blas.cublasLtMatmulDescDestroy),
      x(blas.cublasLtMatrixLayoutDestroy), y(blas.cublasLtMatrixLayoutDestroy),
      added(blas.cublasLtMatrixLayoutDestroy),
      result(blas.cublasLtMatrixLayoutDestroy) {}

std::optional<CublasCall::Shapes>
CublasCall::shapesOf(const MatmulProblem &problem, const CublasTypes &types) {
  const MatrixStrides stored = byRowsIfColumn(problem.c, problem.n);
  const MatrixStrides addend = byRowsIfColumn(problem.residual, problem.n);
  isByRows = stored.column == 1;
  const auto a =
      byColumns(problem.a, types.factors, problem.m, problem.k, isByRows);
  const auto b =
      byColumns(problem.b, types.factors, problem.k, problem.n, isByRows);
  const auto c =
      byColumns(stored, types.stored, problem.m, problem.n, isByRows);
  const auto r =
      byColumns(addend, types.stored, problem.m, problem.n, isByRows);
  // A bias [n] has one number per column of c [m, n]. cuBLASLt expects one
  // number per row of the matrix that it stores. If c is row-major, cuBLASLt
  // stores cᵀ [n, m]. The bias then has one number per row, as cuBLASLt
  // expects. If c is column-major, cuBLASLt stores c [m, n], and would expect a
  // bias [m]. A product with a bias must therefore have a row-major c.
  //
  // cuBLASLt can transpose the factors of a product only. It cannot transpose
  // the result c or the residual r.
  const bool isOrdered = a && b && c && r && !c->isTransposed &&
                         !r->isTransposed && (isByRows || !problem.hasBias);
  if (!isOrdered)
    return std::nullopt;
  return isByRows ? Shapes{*b, *a, *r, *c} : Shapes{*a, *b, *r, *c};
}

Status CublasCall::makeLayout(Matrix &matrix, const ColumnMatrix &shape,
                              int64_t batch) {
  PCC_RETURN_IF_ERROR(blas.check(
      blas.cublasLtMatrixLayoutCreate(matrix.place(), dataTypeOf(shape.type),
                                      uint64_t(shape.rows),
                                      uint64_t(shape.columns), shape.ld),
      "cublasLtMatrixLayoutCreate"));
  const auto count = int32_t(batch);
  const auto setAttribute = [&](cublasLtMatrixLayoutAttribute_t attribute,
                                const auto &value) {
    return blas.check(blas.cublasLtMatrixLayoutSetAttribute(
                          matrix.get(), attribute, &value, sizeof value),
                      "cublasLtMatrixLayoutSetAttribute");
  };
  PCC_RETURN_IF_ERROR(setAttribute(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, count));
  return setAttribute(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                      shape.batchStride);
}

/// Creates the descriptor of the product, with a placeholder as the address of
/// the bias. cuBLASLt's heuristics need only the alignment of this address.
/// setVector() later sets the real address.
Status CublasCall::makeOperation(const CublasTypes &types, const Shapes &shapes,
                                 cublasLtEpilogue_t epilogue) {
  const auto turn = [](const ColumnMatrix &matrix) {
    return matrix.isTransposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  PCC_RETURN_IF_ERROR(
      blas.check(blas.cublasLtMatmulDescCreate(operation.place(), types.compute,
                                               types.scale),
                 "cublasLtMatmulDescCreate"));
  PCC_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_TRANSA, turn(shapes.x)));
  PCC_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_TRANSB, turn(shapes.y)));
  PCC_RETURN_IF_ERROR(setVector(reinterpret_cast<const void *>(kAlignment)));
  return set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
}

Status CublasCall::askForAlgorithm(const Shapes &shapes, bool mayLack) {
  OwnedHandle<cublasLtMatmulPreference_t> preference(
      blas.cublasLtMatmulPreferenceDestroy);
  PCC_RETURN_IF_ERROR(
      blas.check(blas.cublasLtMatmulPreferenceCreate(preference.place()),
                 "cublasLtMatmulPreferenceCreate"));
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute,
                          const auto &value) {
    return blas.check(blas.cublasLtMatmulPreferenceSetAttribute(
                          preference.get(), attribute, &value, sizeof value),
                      "cublasLtMatmulPreferenceSetAttribute");
  };
  PCC_RETURN_IF_ERROR(prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                             resources.workspaceBytes()));
  const std::pair<cublasLtMatmulPreferenceAttributes_t, uint32_t> aligned[] = {
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, shapes.x.alignment},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, shapes.y.alignment},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, shapes.added.alignment},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, shapes.result.alignment}};
  for (const auto &[attribute, bytes] : aligned)
    PCC_RETURN_IF_ERROR(prefer(attribute, bytes));
  cublasLtMatmulHeuristicResult_t found = {};
  int count = 0;
  const cublasStatus_t asked = blas.cublasLtMatmulAlgoGetHeuristic(
      resources.cublasHandle(), operation.get(), x.get(), y.get(), added.get(),
      result.get(), preference.get(), 1, &found, &count);
  isChosen = asked == CUBLAS_STATUS_SUCCESS && count > 0 &&
             found.state == CUBLAS_STATUS_SUCCESS;
  algorithm = found.algo;
  const bool isLacking = asked == CUBLAS_STATUS_SUCCESS ||
                         asked == CUBLAS_STATUS_NOT_SUPPORTED ||
                         asked == CUBLAS_STATUS_INVALID_VALUE;
  if (isChosen || (mayLack && isLacking))
    return Status::success();
  PCC_RETURN_IF_ERROR(blas.check(asked, "cublasLtMatmulAlgoGetHeuristic"));
  return Status::error(Defect, "cuBLASLt has no algorithm for a product");
}

/// Returns the key of a matrix product in the cache of algorithms. The key is a
/// text with all properties that affect the selection of an algorithm.
static std::string describe(const CublasTypes &types,
                            std::initializer_list<ColumnMatrix> matrices,
                            cublasLtEpilogue_t epilogue, int64_t batch,
                            size_t workspaceBytes) {
  std::string text = "compute " + std::to_string(types.compute) + " epilogue " +
                     std::to_string(epilogue) + " batch " +
                     std::to_string(batch) + " workspace " +
                     std::to_string(workspaceBytes);
  for (const ColumnMatrix &matrix : matrices) {
    text += " " + std::string(nameOf(matrix.type)) +
            (matrix.isTransposed ? " turned" : " plain");
    for (int64_t number : {matrix.rows, matrix.columns, matrix.ld,
                           matrix.batchStride, int64_t(matrix.alignment)})
      text += " " + std::to_string(number);
  }
  return text;
}

bool CublasCall::accepts(const cublasLtMatmulAlgo_t &known) const {
  cublasLtMatmulHeuristicResult_t found = {};
  return blas.cublasLtMatmulAlgoCheck(resources.cublasHandle(), operation.get(),
                                      x.get(), y.get(), added.get(),
                                      result.get(), &known,
                                      &found) == CUBLAS_STATUS_SUCCESS &&
         found.state == CUBLAS_STATUS_SUCCESS &&
         found.workspaceSize <= resources.workspaceBytes();
}

Status CublasCall::choose(const std::string &problem, const Shapes &shapes,
                          bool mayLack) {
  static_assert(sizeof algorithm == sizeof(AlgorithmBytes));
  AlgorithmCache &known = resources.algorithms();
  if (const AlgorithmBytes *bytes = known.find(problem)) {
    std::memcpy(&algorithm, bytes, sizeof algorithm);
    if (isChosen = accepts(algorithm); isChosen)
      return Status::success();
  }
  if (Status status = askForAlgorithm(shapes, mayLack);
      status.failed() || !isChosen)
    return status;
  AlgorithmBytes bytes;
  std::memcpy(&bytes, &algorithm, sizeof algorithm);
  known.add(problem, bytes);
  return Status::success();
}

Status CublasCall::open(const MatmulProblem &problem, const CublasTypes &types,
                        bool mayLack) {
  const auto shapes = shapesOf(problem, types);
  if (!shapes)
    return Status::error(Defect, "cuBLASLt has no layout for a matrix");
  const auto epilogue = epilogueOf(problem, isByRows);
  if (!epilogue)
    return Status::error(
        Defect, "cuBLASLt does not support the ops that follow a product");
  PCC_RETURN_IF_ERROR(makeOperation(types, *shapes, *epilogue));
  const int64_t batch = problem.batch.empty() ? 1 : problem.batch.back();
  const std::pair<Matrix &, const ColumnMatrix &> layouts[] = {
      {x, shapes->x},
      {y, shapes->y},
      {added, shapes->added},
      {result, shapes->result}};
  for (const auto &[matrix, shape] : layouts)
    PCC_RETURN_IF_ERROR(makeLayout(matrix, shape, batch));
  return choose(describe(types,
                         {shapes->x, shapes->y, shapes->added, shapes->result},
                         *epilogue, batch, resources.workspaceBytes()),
                *shapes, mayLack);
}

Status CublasCall::setVector(const void *vector) {
  return set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, vector);
}

/// Enqueues the matrix product. cuBLASLt adds the matrix at `addedData` to the
/// product. The strides of that matrix depend on its address:
///
/// - If `addedData` equals `resultData`, the matrix is in the memory of the
///   result c, and has the strides of c.
/// - Otherwise the matrix is a residual in its own memory, and has the strides
///   of the residual.
Status CublasCall::run(const void *alpha, const void *aData, const void *bData,
                       const void *beta, const void *addedData,
                       void *resultData) {
  const void *xData = isByRows ? bData : aData,
             *yData = isByRows ? aData : bData;
  const Matrix &lies = addedData == resultData ? result : added;
  return blas.check(
      blas.cublasLtMatmul(resources.cublasHandle(), operation.get(), alpha,
                          xData, x.get(), yData, y.get(), beta, addedData,
                          lies.get(), resultData, result.get(), &algorithm,
                          resources.workspace(), resources.workspaceBytes(),
                          resources.context().stream()),
      "cublasLtMatmul");
}

} // namespace pcc::runtime
