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

/// Returns the epilogue of the product c = a b: work that cuBLASLt does in the
/// same kernel after the product. `isByRows` is true if c is row-major. If
/// `problem.sums` is OfA, the epilogue computes the sum of each row of a. If
/// `problem.sums` is OfB, the epilogue computes the sum of each column of b.
/// Otherwise the epilogue adds the bias and applies the activation.
///
/// Returns std::nullopt if cuBLASLt has no such epilogue. For example, cuBLASLt
/// lacks the activation tanh, and cannot add a residual after an activation.
static std::optional<cublasLtEpilogue_t>
epilogueOf(const MatmulProblem &problem, bool isByRows) {
  if (problem.hasResidual && problem.activation != program::Activation::None)
    return std::nullopt;
  // BGRADA sums each row of the first factor. BGRADB sums each column of the
  // second factor. If c is row-major, cuBLASLt computes cᵀ = bᵀ aᵀ, so the
  // first factor is bᵀ. The epilogue is therefore:
  //
  //                    sum of each   sum of each
  //                    row of a      column of b
  //   c column-major   BGRADA        BGRADB
  //   c row-major      BGRADB        BGRADA
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

/// Returns the alignment in bytes of all addresses that cuBLASLt receives for
/// one operand: the largest power of two that divides kAlignment (64), the
/// offset of the operand in its buffer, and the strides of all batch dims
/// except the last. The last batch dim does not matter, because one call
/// computes all products along this dim and receives only the first address.
///
/// `matrix` has the offset and the strides in elements of `type`. For example,
/// the offset 8 and the batch strides 100 and 10 of f32 give 16.
static uint32_t alignmentOf(const MatrixStrides &matrix, ElementType type) {
  const auto size = int64_t(sizeOf(type));
  auto bits = uint64_t(kAlignment) | uint64_t(matrix.offset * size);
  for (size_t dim = 0; dim + 1 < matrix.batch.size(); ++dim)
    bits |= uint64_t(matrix.batch[dim] * size);
  return uint32_t(bits & ~(bits - 1));
}

/// Returns cuBLASLt's column-major description of a matrix M. M is the matrix
/// that `matrix`, `rows` and `columns` describe, or its transpose if
/// `isSwapped` is true. If M is row-major, the description is that of the
/// transpose of M, and its member `isTransposed` is true.
///
/// Returns std::nullopt if M is neither column-major nor row-major. Also
/// returns std::nullopt if rows or columns of M share elements in memory. For
/// example, all rows have the same address if the row stride is 0.
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

/// Returns the strides `matrix` with the column stride 1 if the matrix has only
/// one column. The addresses of the elements stay the same, but the matrix then
/// counts as row-major. CublasCall can add a bias only to a row-major result.
/// If there are more columns, the function returns `matrix` unchanged.
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
  // cuBLASLt can compute c = a b, with the residual r, under three conditions.
  // Without a residual, r is equal to c.
  //
  // - cuBLASLt can describe the strides of a, b, c and r.
  // - c and r are both row-major or both column-major: cuBLASLt can transpose
  //   neither of them.
  // - c is row-major, or there is no bias. The bias has one number per column
  //   of c. cuBLASLt adds one number per row of the matrix that it writes. This
  //   matrix is the transpose of c if c is row-major.
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
  // The heuristics of cuBLASLt need only the alignment of the vector, so a
  // placeholder serves until setVector() sets the real address. A product
  // without a vector must not get an address, because cuBLASLt rejects it.
  if (problem.hasVector())
    PCC_RETURN_IF_ERROR(setVector(reinterpret_cast<const void *>(kAlignment)));
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

/// Enqueues the matrix product. If `addedData` equals `resultData`, the added
/// matrix is in the memory of the result, and has the strides of the result.
/// cuBLASLt then needs the descriptor of the result for both matrices.
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
