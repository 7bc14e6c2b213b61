//===- Matmul.cpp - matrix products by cuBLASLt ---------------------------===//

#include "runtime/device/cuda/CublasCall.h"
#include "runtime/tensor/ElementDispatch.h"

#include <algorithm>

namespace pcc::runtime {

namespace {
/// A number that is an argument of cuBLASLt. cuBLASLt computes alpha * a b +
/// beta * d. In this formula, a, b and d are matrices, and alpha and beta are
/// numbers. A CublasScale holds one of these two numbers. cuBLASLt expects the
/// number as f64 if the matrices are f64. Otherwise, cuBLASLt expects the
/// number as f32.
struct CublasScale {
  CublasScale(double value, cudaDataType_t type)
      : isDouble(type == CUDA_R_64F), narrow(float(value)), wide(value) {}
  /// Returns the address of a scalar argument of cuBLASLt, such as alpha in the
  /// matrix product alpha * a b. cuBLASLt expects the scalar as f64 if the
  /// matrices are f64, and as f32 otherwise. This object stores the scalar
  /// twice: the member `wide` is the scalar as f64, and the member `narrow` is
  /// the scalar as f32. The function returns the address of the member that has
  /// the expected type.
  const void *get() const {
    return isDouble ? static_cast<const void *>(&wide) : &narrow;
  }

  bool isDouble;
  float narrow;
  double wide;
};

/// Computes the matrix products of one instruction with cuBLASLt. The
/// instruction computes one product c = a b, or a batch of products with one or
/// more batch dims. One call of cuBLASLt computes all products along the last
/// batch dim. The operation loops over the other batch dims. For example, let
/// the batch dims have the sizes 2, 3 and 8. The operation calls cuBLASLt 6
/// times, and each call computes 8 products.
class MatmulOperation : public Operation {
public:
  MatmulOperation(CudaResources &resources, const LoadContext &context,
                  const program::MatmulT &matmul, const CublasTypes &types)
      : resources(resources), context(context), matmul(matmul), types(types),
        problem(matmul, types.factors), alpha(matmul.alpha, types.scale),
        beta(problem.hasResidual ? 1 : 0, types.scale), call(resources) {}

  /// Selects an algorithm of cuBLASLt for the product c = a b. Does nothing if
  /// c has no elements.
  ///
  /// Some products have a second result: either the sum of each row of a, or
  /// the sum of each column of b. In training, these sums are the gradient of a
  /// bias. If cuBLASLt has an algorithm that computes c and the sums in one
  /// call, this function selects it. Otherwise, this function prepares two
  /// products: one computes c, and the other one computes the sums.
  Status open() {
    if (problem.isEmpty())
      return Status::success();
    if (problem.k == 0)
      PCC_RETURN_IF_ERROR(multiplyZeros());
    const bool sums = problem.sums != MatmulProblem::Sums::None;
    if (Status status = call.open(problem, types, /*mayLack=*/sums);
        status.failed() || call.canRun())
      return status;
    return openFactorSum();
  }

  Status run(const RunContext &run) override {
    if (problem.isEmpty())
      return Status::success();
    microbatch = run.microbatch;
    PCC_RETURN_IF_ERROR(setVector());
    MatmulAddresses places = {factor(matmul.a, problem.a),
                              factor(matmul.b, problem.b),
                              address(matmul.c),
                              {}};
    places.residual = problem.hasResidual ? address(matmul.residual) : places.c;
    return runFrom(0, places);
  }

  /// Executes the product once before the first step, because cuBLASLt loads
  /// code at its first call. The execution overwrites the result buffers with
  /// meaningless values. Only buffers in the arena may be overwritten. The
  /// arena is the memory of intermediate results. If a result buffer is in
  /// other memory, this function does not execute the product.
  Status warmUp(const RunContext &context) override {
    for (const int32_t written : {matmul.c, matmul.a_sums, matmul.b_sums})
      if (written >= 0 && !isInArena(this->context, written))
        return Status::success();
    return run(context);
  }

private:
  /// Addresses of the matrices of one product c = a b + residual. If there is
  /// no residual, `residual` equals `c`.
  struct MatmulAddresses {
    char *a, *b, *c, *residual;
  };

  /// Prepares two products. The first one, `call`, computes c = a b. The second
  /// one, `factorSum`, computes one of these vectors:
  ///
  /// - the sum of each row of a, which is a times a column of ones;
  /// - the sum of each column of b, which is a row of ones times b.
  ///
  /// For example, the matrix [[1, 2], [3, 4]] times a column of ones is [3, 7].
  Status openFactorSum() {
    const bool ofA = problem.sums == MatmulProblem::Sums::OfA;
    program::MatmulT sums = matmul;
    sums.residual = sums.a_sums = sums.b_sums = -1;
    (ofA ? sums.n : sums.m) = 1;
    (ofA ? sums.b_strides : sums.a_strides) = {1, 1};
    (ofA ? sums.b_offset : sums.a_offset) = 0;
    sums.c_strides = {1, 1};
    factorSum.emplace(MatmulProblem(sums, types.factors), types, resources);
    problem.sums = MatmulProblem::Sums::None;
    PCC_RETURN_IF_ERROR(call.open(problem, types));
    PCC_RETURN_IF_ERROR(factorSum->call.open(factorSum->problem, types));
    return fillOnes();
  }

  /// Allocates a vector in GPU memory, fills the vector with ones, and stores
  /// its address in `factorSum->ones`. The product `factorSum` uses the vector
  /// as a factor:
  ///
  /// - The product of a and the vector has the sum of each row of a. For
  ///   example, if a is [[1, 2], [3, 4]], the product is [3, 7].
  /// - The product of the vector and b has the sum of each column of b. For
  ///   example, if b is [[1, 2], [3, 4]], the product is [4, 6].
  ///
  /// If a is [m, k] and b is [k, n], the vector has k elements.
  Status fillOnes() {
    const auto count = size_t(problem.k);
    const size_t bytes = count * sizeOf(types.factors);
    PCC_RETURN_IF_ERROR(resources.context().allocate(bytes, factorSum->ones));
    const std::vector<double> ones(count, 1);
    std::vector<char> converted(bytes);
    convertElements(ElementType::F64, ones.data(), int64_t(count),
                    types.factors, converted.data());
    return context.device.upload(factorSum->ones, converted.data(), bytes);
  }

  /// Prepares the vector of the next execution of c = a b, if there is one. The
  /// vector is the bias, or a second result: the sums of each row of a or of
  /// each column of b. Usually, the function passes the vector's address to
  /// cuBLASLt, which then reads or writes the vector together with c. If
  /// cuBLASLt cannot compute the sums together with c, the function executes a
  /// second matrix product, `factorSum`, that writes the sums.
  Status setVector() {
    const int32_t sums = std::max(matmul.a_sums, matmul.b_sums);
    if (factorSum) {
      void *data = address(sums);
      const bool ofA = matmul.a_sums >= 0;
      return factorSum->call.run(
          factorSum->one.get(),
          ofA ? factor(matmul.a, problem.a) : factorSum->ones,
          ofA ? factorSum->ones : factor(matmul.b, problem.b),
          factorSum->zero.get(), data, data);
    }
    if (!problem.hasVector())
      return Status::success();
    return call.setVector(address(problem.hasBias ? matmul.bias : sums));
  }

  /// Prepares a product c = a b whose a has no columns (k = 0), because
  /// cuBLASLt rejects k = 0. Replaces a by a column of zeros and b by a row of
  /// zeros, so that k is 1. The product is zero in both cases. Bias, activation
  /// and residual are computed as usual.
  Status multiplyZeros() {
    problem.k = 1;
    for (MatrixStrides *matrix : {&problem.a, &problem.b}) {
      const bool isA = matrix == &problem.a;
      matrix->offset = 0;
      matrix->row = isA ? 1 : problem.n;
      matrix->column = isA ? problem.m : 1;
      matrix->batch.assign(problem.batch.size(), 0);
    }
    return resources.context().allocate(
        size_t(std::max(problem.m, problem.n)) * sizeOf(types.factors), zeros);
  }

  /// Returns the address of the buffer with index `buffer` for the current
  /// microbatch.
  char *address(int32_t buffer) const {
    return static_cast<char *>(context.buffers.at(buffer, microbatch));
  }

  /// Returns the address of the matrix a or b of the product c = a b, for the
  /// current microbatch. `buffer` is the index of the buffer that contains the
  /// matrix. `matrix.offset` is the index of the matrix's first element in this
  /// buffer. For example, if the offset is 16 and an element has 4 bytes, the
  /// result is the address of the buffer plus 64. If there is a batch of
  /// products, the result is the address of the first matrix.
  ///
  /// If a has no columns, this class multiplies zeros instead of a and b. The
  /// function then returns `zeros`, the address of these zeros.
  char *factor(int32_t buffer, const MatrixStrides &matrix) const {
    return zeros ? static_cast<char *>(zeros)
                 : moved(address(buffer), matrix.offset, types.factors);
  }

  /// Returns `data` advanced by `elements` elements of type `type`.
  static char *moved(char *data, int64_t elements, ElementType type) {
    return data + elements * int64_t(sizeOf(type));
  }

  /// Executes all products over batch dim `dim` and all later batch dims. `at`
  /// has the addresses of the matrices of the first product. For each index of
  /// batch dim `dim`, the function calls itself with `dim` + 1. The last batch
  /// dim needs no loop, because one call of cuBLASLt executes all products
  /// along it.
  ///
  /// For example, let the batch dims have sizes 2, 3 and 8. If `dim` is 0, the
  /// function calls cuBLASLt 6 times, and each call executes 8 products. If
  /// `dim` is 1, the function calls cuBLASLt 3 times.
  Status runFrom(size_t dim, const MatmulAddresses &at) {
    if (dim + 1 >= problem.batch.size())
      return call.run(alpha.get(), at.a, at.b, beta.get(), at.residual, at.c);
    for (int64_t i = 0; i < problem.batch[dim]; ++i) {
      const MatmulAddresses next = {
          moved(at.a, i * problem.a.batch[dim], types.factors),
          moved(at.b, i * problem.b.batch[dim], types.factors),
          moved(at.c, i * problem.c.batch[dim], types.stored),
          moved(at.residual, i * problem.residual.batch[dim], types.stored)};
      PCC_RETURN_IF_ERROR(runFrom(dim + 1, next));
    }
    return Status::success();
  }

  /// A second matrix product, which computes sums of a factor of c = a b. The
  /// matrix a times a column of ones gives the sum of each row of a. A row of
  /// ones times b gives the sum of each column of b. `one` and `zero` are alpha
  /// and beta of the second product: cuBLASLt multiplies the product by alpha,
  /// and adds beta times another matrix.
  struct FactorSum {
    FactorSum(MatmulProblem problem, const CublasTypes &types,
              CudaResources &resources)
        : problem(std::move(problem)), one(1, types.scale),
          zero(0, types.scale), call(resources) {}
    MatmulProblem problem;
    CublasScale one, zero;
    CublasCall call;
    /// Address of a vector in GPU memory. All elements of the vector are 1. A
    /// matrix times this vector gives the sum of each row of the matrix. This
    /// vector times a matrix gives the sum of each column of the matrix. For
    /// example, [[1, 2], [3, 4]] times [1, 1] is [3, 7], and [1, 1] times
    /// [[1, 2], [3, 4]] is [4, 6].
    void *ones = nullptr;
  };

  CudaResources &resources;
  LoadContext context;
  const program::MatmulT &matmul;
  CublasTypes types;
  MatmulProblem problem;
  CublasScale alpha, beta;
  CublasCall call;
  std::optional<FactorSum> factorSum;
  /// Zeros in GPU memory that replace a and b in the product c = a b if a has
  /// no columns; null if a has columns.
  void *zeros = nullptr;
  /// Index of the microbatch that the latest call of run() computes. The
  /// address of a buffer depends on the microbatch.
  int64_t microbatch = 0;
};
} // namespace

Status prepareMatmul(CudaResources &resources, const LoadContext &context,
                     const program::InstructionT &instruction,
                     std::unique_ptr<Operation> &operation) {
  const program::MatmulT &matmul = *instruction.body.AsMatmul();
  const auto typeOfBuffer = [&](int32_t buffer) {
    return typeOf(context.program.buffers[size_t(buffer)]->type);
  };
  const ElementType factors = typeOfBuffer(matmul.a),
                    stored = typeOfBuffer(matmul.c);
  const auto types = cublasTypesOf(factors, stored, context.program.tf32);
  if (!types)
    return Status::error(
        Defect, "cuBLASLt has no products of " + std::string(nameOf(factors)) +
                    " that are stored as " + std::string(nameOf(stored)));
  PCC_RETURN_IF_ERROR(resources.useCublas());
  auto made =
      std::make_unique<MatmulOperation>(resources, context, matmul, *types);
  if (Status status = made->open(); status.failed())
    return status.addNote("node '" + instruction.node + "'");
  operation = std::move(made);
  return Status::success();
}

} // namespace pcc::runtime
