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
/// the product. `isByRows` is true if c is row-major. The epilogue does this
/// work:
///
/// - If `problem.sums` is OfA, the epilogue computes a vector with the sum of
///   each row of a.
/// - If `problem.sums` is OfB, the epilogue computes a vector with the sum of
///   each column of b.
/// - If `problem.sums` is None, the epilogue adds the bias and applies the
///   activation of `problem`. If `problem` has neither of them, the epilogue
///   does nothing.
///
/// Returns std::nullopt if cuBLASLt has no such epilogue. For example, cuBLASLt
/// has no epilogue with the activation tanh. Another example is a product with
/// an activation and a residual. The residual is a matrix that must be added
/// after the activation, but cuBLASLt can add a matrix only before the
/// activation.
static std::optional<cublasLtEpilogue_t>
epilogueOf(const MatmulProblem &problem, bool isByRows) {
  if (problem.hasResidual && problem.activation != program::Activation::None)
    return std::nullopt;
  // `problem.sums` says which vector the epilogue must compute: the sum of each
  // row of a, or the sum of each column of b. cuBLASLt has two epilogues that
  // compute sums:
  //
  // - BGRADA computes the sum of each row of the first factor.
  // - BGRADB computes the sum of each column of the second factor.
  //
  // If c is column-major, the first factor is a, and the second factor is b. If
  // c is row-major, cuBLASLt computes cᵀ = bᵀ aᵀ. The first factor is then bᵀ.
  // A row of bᵀ is a column of b, so BGRADA computes the sum of each column of
  // b. The table shows the epilogue for each case:
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

/// Returns the alignment, in bytes, of one operand of a product, such as the
/// factor a. Each address that cuBLASLt receives for the operand is a multiple
/// of the alignment.
///
/// In a batch of products, the operand consists of several matrices. The
/// address of a matrix is the sum of these numbers:
///
/// - the address of the buffer, which is a multiple of 64 bytes (kAlignment)
/// - the offset of the operand in the buffer
/// - for each batch dim, the index on the dim times the stride of the dim
///
/// One call of cuBLASLt computes all products along the last batch dim, and
/// receives only the address of the first matrix. The stride of the last batch
/// dim therefore does not matter. The function returns the largest power of two
/// that divides 64, the offset, and the strides of all batch dims except the
/// last one.
///
/// `matrix` has the offset and the strides, in elements of `type`. For example,
/// let the elements be f32, let the offset be 8 elements, and let two batch
/// dims have the strides 100 and 10. The offset is 32 bytes, and the stride 100
/// is 400 bytes. The function returns 16, the largest power of two that divides
/// 64, 32 and 400.
static uint32_t alignmentOf(const MatrixStrides &matrix, ElementType type) {
  const auto size = int64_t(sizeOf(type));
  auto bits = uint64_t(kAlignment) | uint64_t(matrix.offset * size);
  for (size_t dim = 0; dim + 1 < matrix.batch.size(); ++dim)
    bits |= uint64_t(matrix.batch[dim] * size);
  return uint32_t(bits & ~(bits - 1));
}

/// Returns a description of a matrix M for cuBLASLt, which reads memory in
/// column-major order. The parameters describe a matrix A. `rows` and `columns`
/// are the sizes of A. `matrix` has the strides of A, in elements of `type`. If
/// `isSwapped` is false, M is A. If `isSwapped` is true, M is the transpose of
/// A.
///
/// The description depends on the order of M in memory:
///
/// - M is column-major. The description has the sizes of M, and its member
///   `isTransposed` is false.
/// - M is row-major. The memory of M then contains the transpose of M in
///   column-major order. The description has the sizes of the transpose. Its
///   member `isTransposed` is true, so cuBLASLt transposes the transpose, and
///   gets M. For example, if M has 2 rows and 3 columns, the description has 3
///   rows and 2 columns.
/// - Otherwise the function returns std::nullopt, because cuBLASLt cannot read
///   M.
///
/// The function also returns std::nullopt if rows or columns of M share
/// elements in memory. For example, if the stride from one row to the next is
/// 0, all rows are at the same address.
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

/// Changes the strides of a matrix that has only one column, so that the matrix
/// is row-major. `matrix` has the strides, and `columns` is the number of
/// columns. If the matrix has more than one column, the function returns
/// `matrix` unchanged.
///
/// A matrix is row-major if its column stride is 1. The column stride is the
/// number of elements from one column to the next. A matrix with one column has
/// no next column, so every column stride gives the same addresses. The
/// function returns the column stride 1 for such a matrix. For example, let a
/// matrix [3, 1] have the row stride 1 and the column stride 3. The function
/// returns the row stride 1 and the column stride 1.
///
/// The caller passes the strides of the result of a matrix product, or of a
/// matrix that is added to the product. CublasCall can add a bias only if the
/// result is row-major.
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
  // `isOrdered` says whether cuBLASLt can compute the matrix product c = a b.
  // The matrix r is the residual, which is added to the product. Without a
  // residual, r is equal to c.
  //
  // cuBLASLt reads and writes matrices in column-major order. If c is
  // row-major, cuBLASLt therefore computes the transpose of c, and adds the
  // transpose of r. The product is possible if three conditions are met:
  //
  // - cuBLASLt can describe the strides of a, b, c and r. A variable is
  //   std::nullopt if cuBLASLt cannot describe its matrix.
  // - c and r are both row-major, or both column-major. cuBLASLt can transpose
  //   a and b, but it can transpose neither c nor r.
  // - c is row-major, or there is no bias. The bias has one number per column
  //   of c. cuBLASLt, however, adds one number per row of the matrix that it
  //   writes. If c is row-major, that matrix is the transpose of c, and its
  //   rows are the columns of c. For example, if c is [2, 3], cuBLASLt writes a
  //   matrix [3, 2], and adds one of the 3 numbers of the bias to each row.
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

/// Enqueues the matrix product
///
///   result = activation(alpha * a b + beta * added + bias)
///
/// The parameters are addresses. `aData`, `bData`, `addedData` and `resultData`
/// are the addresses of the matrices in GPU memory. `alpha` and `beta` are the
/// addresses of two numbers in host memory.
///
/// cuBLASLt needs a descriptor with the sizes and the strides of the matrix
/// `added`. The function selects this descriptor:
///
/// - If `addedData` equals `resultData`, `added` is in the memory of the
///   result, and has the strides of the result. The function passes the
///   descriptor of the result.
/// - Otherwise `added` is in other memory, and may have other strides. The
///   function passes the descriptor that open() has created for `added`.
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
