//===- Matmul.cpp - matrix products by oneDNN or by loops -----------------===//
//
// The first of these implementations that supports a product computes it:
//
//   1. DnnlMatmul: a oneDNN primitive with bias, activation and residual fused
//   2. DnnlMatmul: the same, but a loop adds the residual afterwards
//   3. SgemmMatmul, for f32: one call of oneDNN's sgemm for each product of the
//      batch, then a loop for bias, activation and residual
//   4. WidenedMatmul, for f16 and bf16: like 3, on operands converted to f32
//   5. PlainMatmul: loops, for any element type and any strides
//
// Products that must be computed one by one (MatmulProblem::oneByOne) skip 1
// and 2: the bits of a batched primitive's results may depend on the size of
// the batch.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/MatmulProblem.h"
#include "runtime/device/cpu/DnnlCall.h"
#include "runtime/device/cpu/WidenedProduct.h"
#include "runtime/tensor/ElementDispatch.h"

#include <algorithm>

namespace pcc::runtime {

namespace {
/// Addresses of the beginnings of the operands' buffers in one run. `bias` and
/// `residual` are null if the product has none.
struct MatmulAddresses {
  const void *a, *b, *bias, *residual;
  void *c;
};

/// Offsets of the operands of one product, in elements from the beginning of
/// each buffer.
struct BatchOffsets {
  int64_t a = 0, b = 0, c = 0, residual = 0;
};
} // namespace

/// Returns the indices in the buffers at which the operands of one matrix
/// product begin. `batch` is the row-major index of the product in the batch
/// dims. For example, 5 is the index (1, 2) in batch dims [2, 3].
static BatchOffsets offsetsOf(const MatmulProblem &problem, int64_t batch) {
  BatchOffsets offsets{problem.a.offset, problem.b.offset};
  for (size_t dim = problem.batch.size(); dim-- > 0;) {
    const int64_t index = batch % problem.batch[dim];
    batch /= problem.batch[dim];
    offsets.a += index * problem.a.batch[dim];
    offsets.b += index * problem.b.batch[dim];
    offsets.c += index * problem.c.batch[dim];
    offsets.residual += index * problem.residual.batch[dim];
  }
  return offsets;
}

/// Returns the addresses that the operands' buffers have in the microbatch with
/// index `microbatch`.
static MatmulAddresses addressesOf(const program::MatmulT &matmul,
                                   const BufferTable &buffers,
                                   int64_t microbatch) {
  const auto at = [&](int32_t buffer) {
    return buffer < 0 ? nullptr : buffers.at(buffer, microbatch);
  };
  return {at(matmul.a), at(matmul.b), at(matmul.bias), at(matmul.residual),
          at(matmul.c)};
}

/// Returns the smallest number of rows that a thread receives if a loop over
/// rows is divided over several threads. With fewer rows, starting the thread
/// would cost more time than the thread saves. `work` is the number of
/// multiplications or additions per row. The rows of one thread must need at
/// least about 16384 multiplications or additions in total. For example, if
/// `work` is 64, the result is 16384 / 64 = 256 rows. The result is at least 1.
static int64_t grainFor(int64_t work) {
  return std::max<int64_t>(16384 / std::max<int64_t>(work, 1), 1);
}

/// Applies bias, activation and residual to c, the result of the batched matrix
/// product `problem`. Before this call, c contains the product. Each element of
/// c is replaced:
///
///   if `withActivation` is true    c = activation(c + bias) + residual
///   if `withActivation` is false   c = c + residual
///
/// If `problem` has no bias, no bias is added. If `problem` has no residual, no
/// residual is added. `at` contains the addresses of c, bias and residual. The
/// rows of c are divided over `threads`.
template <typename T>
static void finishRows(const MatmulProblem &problem, const ThreadTeam &threads,
                       const MatmulAddresses &at, bool withActivation) {
  const T *bias = withActivation ? static_cast<const T *>(at.bias) : nullptr;
  const T *residual = static_cast<const T *>(at.residual);
  const auto activation =
      withActivation ? problem.activation : program::Activation::None;
  const auto finish = [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const BatchOffsets from = offsetsOf(problem, row / problem.m);
      const int64_t i = row % problem.m;
      T *c = static_cast<T *>(at.c) + from.c + i * problem.c.row;
      const T *r =
          residual ? residual + from.residual + i * problem.residual.row : c;
      for (int64_t j = 0; j < problem.n; ++j) {
        using C = Computed<T>;
        C value = static_cast<C>(c[j * problem.c.column]);
        if (bias)
          value += static_cast<C>(bias[j]);
        if constexpr (std::is_floating_point_v<C>)
          value = activate(activation, value);
        if (residual)
          value += static_cast<C>(r[j * problem.residual.column]);
        c[j * problem.c.column] = static_cast<T>(value);
      }
    }
  };
  threads.parallelFor(problem.numBatches() * problem.m, grainFor(problem.n),
                      finish);
}

//===----------------------------------------------------------------------===//
// oneDNN primitive
//===----------------------------------------------------------------------===//

namespace {
using dnnl::memory;

/// Computes a batch of matrix products c = a b with one oneDNN primitive. The
/// primitive also adds the bias and applies the activation.
///
/// oneDNN may compute the products faster if the factor b has another memory
/// format than in the program's buffer. If b is a single weight matrix that
/// only this instruction uses, the function create() may replace b by a copy in
/// the faster format.
class DnnlMatmul : public Operation {
public:
  DnnlMatmul(CpuResources &resources, const LoadContext &context,
             const program::MatmulT &matmul, MatmulProblem problem)
      : resources(resources), context(context), matmul(matmul),
        problem(std::move(problem)), call(resources) {}

  /// Creates the oneDNN primitive. Sets `created` to whether oneDNN has a fast
  /// implementation of the primitive. If `created` is false, the caller must
  /// discard this object.
  ///
  /// A residual is a matrix that is added to the product. If the product has a
  /// residual, `residualInPrimitive` selects the code that adds the residual:
  ///
  /// - If `residualInPrimitive` is true, the primitive adds the residual.
  /// - If `residualInPrimitive` is false, run() executes the primitive, and
  ///   then adds the residual with a loop.
  Status create(bool residualInPrimitive, bool &created) {
    created = false;
    const auto type = dnnlTypeOf(problem.type);
    if (!type || !isSupported())
      return Status::success();
    fusesResidual = residualInPrimitive;
    const memory::desc a = descOf(problem.a, problem.m, problem.k, *type);
    const memory::desc b = descOf(problem.b, problem.k, problem.n, *type);
    const memory::desc c = descOf(problem.c, problem.m, problem.n, *type);
    const bool packs = problem.batch.empty() && problem.b.offset == 0 &&
                       mayPack(context, matmul.b);
    const memory::desc wanted =
        packs ? memory::desc(b.dims(), *type, memory::format_tag::any) : b;
    dnnl::matmul::primitive_desc description;
    try {
      description = {biasIsOperand()
                         ? dnnl::matmul::desc(a, wanted, biasDesc(*type), c)
                         : dnnl::matmul::desc(a, wanted, c),
                     attributes(postOps(*type)), resources.engine()};
    } catch (const dnnl::error &) {
      return Status::success();
    }
    if (isReference(description.impl_info_str()))
      return Status::success();
    created = true;
    return bind(description, a, b, c, *type);
  }

  Status run(const RunContext &run) override {
    PCC_RETURN_IF_ERROR(call.run(context.buffers, run.microbatch));
    if (problem.hasResidual && !fusesResidual)
      dispatch(problem.type, [&](auto element) {
        finishRows<decltype(element)>(
            problem, resources.threads(),
            addressesOf(matmul, context.buffers, run.microbatch),
            /*withActivation=*/false);
      });
    return Status::success();
  }

private:
  /// Returns whether oneDNN supports the strides and the number of batch dims
  /// of the matrices. Each product of the batch multiplies a matrix `a` by a
  /// matrix `b`, and stores the result in a matrix `c`. All conditions must
  /// hold:
  ///
  /// - `a` and `b` are row-major or column-major.
  /// - `c` is row-major.
  /// - The row strides and the column strides of `a` and `b` are greater than
  ///   0, so that rows and columns are not broadcast.
  /// - There are at most four batch dims.
  bool isSupported() const {
    for (const MatrixStrides *matrix : {&problem.a, &problem.b})
      if (matrix->row <= 0 || matrix->column <= 0 ||
          (matrix->row != 1 && matrix->column != 1))
        return false;
    return problem.c.column == 1 && problem.c.row >= problem.n &&
           problem.batch.size() <= 4;
  }

  /// Returns the offset in bytes at which an operand begins in its buffer. An
  /// operand is a matrix or a batch of matrices. `matrix` contains the offset
  /// and the strides of the operand, in elements. For example, if
  /// `matrix.offset` is 3 and the element type is f32, the result is 3 * 4 = 12
  /// bytes.
  size_t bytesTo(const MatrixStrides &matrix) const {
    return size_t(matrix.offset) * sizeOf(problem.type);
  }

  /// Returns oneDNN's description of an operand, with its batch dims. Batch
  /// dims over which the operand is broadcast have size 1.
  memory::desc descOf(const MatrixStrides &matrix, int64_t rows,
                      int64_t columns, memory::data_type type) const {
    memory::dims dims, strides;
    for (size_t i = 0; i < problem.batch.size(); ++i) {
      dims.push_back(matrix.batch[i] == 0 ? 1 : problem.batch[i]);
      strides.push_back(std::max<int64_t>(matrix.batch[i], 1));
    }
    dims.insert(dims.end(), {rows, columns});
    strides.insert(strides.end(), {matrix.row, matrix.column});
    return {dims, type, strides};
  }

  /// Returns oneDNN's description of the bias [n], which is broadcast over the
  /// batch dims and the rows.
  memory::desc biasDesc(memory::data_type type) const {
    memory::dims dims(problem.batch.size() + 1, 1), strides(dims.size() + 1, 1);
    dims.push_back(problem.n);
    std::fill(strides.begin(), strides.end() - 1, problem.n);
    return {dims, type, strides};
  }

  /// Returns whether the primitive receives the bias as an operand. oneDNN
  /// would multiply this operand by alpha, so alpha must be 1. With any other
  /// alpha, a post-op (an operation on the result) adds the bias.
  bool biasIsOperand() const { return problem.hasBias && problem.alpha == 1; }

  /// Returns the post-ops (operations on the product) in the order in which the
  /// primitive applies them: multiplication by alpha, bias, activation,
  /// residual.
  dnnl::post_ops postOps(memory::data_type type) const {
    dnnl::post_ops ops;
    if (problem.alpha != 1)
      ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_linear, problem.alpha,
                         0.0f);
    if (problem.hasBias && !biasIsOperand())
      ops.append_binary(dnnl::algorithm::binary_add, biasDesc(type));
    appendActivation(ops, problem.activation);
    if (problem.hasResidual && fusesResidual)
      ops.append_binary(dnnl::algorithm::binary_add,
                        descOf(problem.residual, problem.m, problem.n, type));
    return ops;
  }

  /// Prepares `call`, the oneDNN primitive that computes the product of a and
  /// b. Adds the operands: a, b, the result c, the bias and the residual (a
  /// matrix that is added after the activation). Copies b to another memory
  /// format if `description` requires that format.
  ///
  /// `a`, `b` and `c` describe the matrices in the program's buffers. `type` is
  /// the element type of the bias and the residual. The counter `postOp` in the
  /// body must agree with the order of the operations in postOps().
  Status bind(const dnnl::matmul::primitive_desc &description,
              const memory::desc &a, const memory::desc &b,
              const memory::desc &c, memory::data_type type) {
    PCC_RETURN_IF_ERROR(makeWeight(resources, context, matmul.b, b,
                                   description.weights_desc(), weight));
    weight.offset = bytesTo(problem.b);
    call.addBuffer(DNNL_ARG_SRC, a, matmul.a, bytesTo(problem.a));
    call.addWeight(DNNL_ARG_WEIGHTS, weight);
    call.addBuffer(DNNL_ARG_DST, c, matmul.c);
    int postOp = problem.alpha != 1;
    if (biasIsOperand())
      call.addBuffer(DNNL_ARG_BIAS, biasDesc(type), matmul.bias);
    else if (problem.hasBias)
      call.addBuffer(DNNL_ARG_ATTR_MULTIPLE_POST_OP(postOp++) | DNNL_ARG_SRC_1,
                     biasDesc(type), matmul.bias);
    postOp += problem.activation != program::Activation::None;
    if (problem.hasResidual && fusesResidual)
      call.addBuffer(DNNL_ARG_ATTR_MULTIPLE_POST_OP(postOp) | DNNL_ARG_SRC_1,
                     descOf(problem.residual, problem.m, problem.n, type),
                     matmul.residual);
    call.finish(dnnl::matmul(description), description.scratchpad_desc(), 0);
    return Status::success();
  }

  CpuResources &resources;
  LoadContext context;
  const program::MatmulT &matmul;
  MatmulProblem problem;
  DnnlCall call;
  WeightOperand weight;
  bool fusesResidual = true;
};

//===----------------------------------------------------------------------===//
// sgemm per batch
//===----------------------------------------------------------------------===//

/// Executes a batched product of f32 matrices with one call of oneDNN's sgemm
/// per product.
class SgemmMatmul : public Operation {
public:
  SgemmMatmul(CpuResources &resources, const LoadContext &context,
              const program::MatmulT &matmul, MatmulProblem problem)
      : threads(resources.threads()), context(context), matmul(matmul),
        problem(std::move(problem)) {}

  /// Returns whether this class can compute `problem`, a batch of matrix
  /// products. Each product multiplies a matrix `a` by a matrix `b`, and stores
  /// the result in a matrix `c`. All conditions must hold:
  ///
  /// - The element type of the matrices is f32.
  /// - `a` and `b` are row-major or column-major.
  /// - `c` is row-major.
  /// - `a` has at least one column.
  static bool supports(const MatmulProblem &problem) {
    return problem.type == ElementType::F32 && problem.k > 0 &&
           isPlain(problem.a, problem.m, problem.k) &&
           isPlain(problem.b, problem.k, problem.n) && problem.c.column == 1 &&
           problem.c.row >= problem.n;
  }

  Status run(const RunContext &run) override {
    const MatmulAddresses at =
        addressesOf(matmul, context.buffers, run.microbatch);
    const auto multiply = [&](int64_t begin, int64_t end) {
      for (int64_t batch = begin; batch < end; ++batch)
        runBatch(at, batch);
    };
    // The batch contains one or more matrix products. In two cases, the
    // products are divided over the threads, and each product is computed by
    // one thread:
    //
    // - The product must have the same bits for every batch size. The member
    //   `oneByOne` is true in this case.
    // - There are at least as many products as threads.
    //
    // In all other cases, the products are computed one after another. sgemm
    // may divide each product over the threads. This may change the order of
    // additions, and thus the bits of the product.
    if (problem.oneByOne || problem.numBatches() >= threads.size())
      threads.parallelFor(problem.numBatches(), 1, multiply);
    else
      multiply(0, problem.numBatches());
    if (problem.hasBias || problem.hasResidual ||
        problem.activation != program::Activation::None)
      finishRows<float>(problem, threads, at, /*withActivation=*/true);
    return Status::success();
  }

private:
  /// Returns whether `matrix` is row-major or column-major. The matrix has
  /// `rows` rows and `columns` columns.
  ///
  /// - Row-major: the column stride is 1, and the row stride is at least
  ///   `columns`. For example, a matrix with 4 columns may have row stride 6.
  ///   In this example, 2 elements of the buffer between two rows do not belong
  ///   to the matrix.
  /// - Column-major: the row stride is 1, and the column stride is at least
  ///   `rows`.
  ///
  /// A stride of 0 is neither, even if the matrix has no elements.
  static bool isPlain(const MatrixStrides &matrix, int64_t rows,
                      int64_t columns) {
    return (matrix.column == 1 &&
            matrix.row >= std::max<int64_t>(columns, 1)) ||
           (matrix.row == 1 && matrix.column >= std::max<int64_t>(rows, 1));
  }

  /// Computes one matrix product of the batch. `batch` is the index of the
  /// product. `at` contains the addresses of the operands' buffers.
  ///
  /// The product is computed by oneDNN's sgemm. sgemm reads row-major matrices
  /// only, but can transpose each factor (argument 'T'). A column-major matrix
  /// is the transpose of a row-major matrix in the same memory. Therefore 'T'
  /// is passed for each factor that is column-major, and 'N' (not transposed)
  /// is passed for each factor that is row-major.
  void runBatch(const MatmulAddresses &at, int64_t batch) const {
    const BatchOffsets from = offsetsOf(problem, batch);
    const bool turnsA = problem.a.column != 1, turnsB = problem.b.column != 1;
    dnnl_sgemm(turnsA ? 'T' : 'N', turnsB ? 'T' : 'N', problem.m, problem.n,
               problem.k, problem.alpha,
               static_cast<const float *>(at.a) + from.a,
               turnsA ? problem.a.column : problem.a.row,
               static_cast<const float *>(at.b) + from.b,
               turnsB ? problem.b.column : problem.b.row, 0.0f,
               static_cast<float *>(at.c) + from.c, problem.c.row);
  }

  const ThreadTeam &threads;
  LoadContext context;
  const program::MatmulT &matmul;
  MatmulProblem problem;
};

//===----------------------------------------------------------------------===//
// Widened operands
//===----------------------------------------------------------------------===//

/// Computes a batch of matrix products with elements of type f16 or bf16. The
/// class WidenedProduct computes each product in f32, and rounds the result.
///
/// In two cases, the products are divided over the threads, and each product is
/// computed by one thread:
///
/// - There are at least as many products as threads.
/// - `problem.oneByOne` is true: each product must have the same bits for every
///   batch size.
///
/// In all other cases, all threads may compute one product together.
class WidenedMatmul : public Operation {
public:
  WidenedMatmul(CpuResources &resources, const LoadContext &context,
                const program::MatmulT &matmul, MatmulProblem problem)
      : resources(resources), context(context), matmul(matmul),
        problem(std::move(problem)) {
    const int64_t threads = resources.threads().size();
    sharesOut = this->problem.oneByOne || this->problem.numBatches() >= threads;
    resources.reserveScratch(size_t(sharesOut ? threads : 1) * scratchFloats() *
                             sizeof(float));
  }

  /// Returns whether this class can compute `problem`, a batch of matrix
  /// products. Each product multiplies a matrix `a` by a matrix `b`, and stores
  /// the result in a matrix `c`. All conditions must hold:
  ///
  /// - The element type of the matrices is f16 or bf16.
  /// - `c` is row-major.
  /// - `a` has at least one column.
  static bool supports(const MatmulProblem &problem) {
    return (problem.type == ElementType::F16 ||
            problem.type == ElementType::BF16) &&
           problem.k > 0 && problem.c.column == 1 && problem.c.row >= problem.n;
  }

  Status run(const RunContext &run) override {
    const MatmulAddresses at =
        addressesOf(matmul, context.buffers, run.microbatch);
    if (problem.type == ElementType::F16)
      multiply<Float16>(at);
    else
      multiply<BFloat16>(at);
    return Status::success();
  }

private:
  /// Returns the number of floats that one product needs as scratch memory.
  size_t scratchFloats() const {
    return size_t(WidenedProduct<Float16>::scratchSize(problem.m, problem.k));
  }

  /// Computes all products of the batch, then adds the bias, applies the
  /// activation and adds the residual.
  template <typename T> void multiply(const MatmulAddresses &at) const {
    const ThreadTeam &threads = resources.threads();
    const int64_t batches = problem.numBatches(), parts = threads.size();
    auto *scratch = static_cast<float *>(resources.scratch());
    if (sharesOut)
      threads.parallelFor(parts, 1, [&](int64_t begin, int64_t end) {
        for (int64_t part = begin; part < end; ++part)
          multiplyBatches<T>(at, batches * part / parts,
                             batches * (part + 1) / parts,
                             scratch + size_t(part) * scratchFloats());
      });
    else
      multiplyBatches<T>(at, 0, batches, scratch);
    finishRows<T>(problem, threads, at, /*withActivation=*/true);
  }

  /// Computes the matrix products with the batch indices [begin, end). Uses
  /// only the calling thread.
  template <typename T>
  void multiplyBatches(const MatmulAddresses &at, int64_t begin, int64_t end,
                       float *scratch) const {
    for (int64_t batch = begin; batch < end; ++batch) {
      const BatchOffsets from = offsetsOf(problem, batch);
      WidenedProduct<T>{problem.m,
                        problem.n,
                        problem.k,
                        static_cast<const T *>(at.a) + from.a,
                        problem.a.row,
                        problem.a.column,
                        static_cast<const T *>(at.b) + from.b,
                        problem.b.row,
                        problem.b.column,
                        static_cast<T *>(at.c) + from.c,
                        problem.c.row,
                        problem.alpha}
          .run(scratch);
    }
  }

  CpuResources &resources;
  LoadContext context;
  const program::MatmulT &matmul;
  MatmulProblem problem;
  /// Whether the products of the batch are divided over the threads. If false,
  /// all threads compute each product together.
  bool sharesOut;
};

//===----------------------------------------------------------------------===//
// Plain loops
//===----------------------------------------------------------------------===//

/// Computes a batch of matrix products with nested loops. Supports all element
/// types and all strides. Each product has a result matrix. The rows of all
/// result matrices are divided over the threads.
class PlainMatmul : public Operation {
public:
  PlainMatmul(CpuResources &resources, const LoadContext &context,
              const program::MatmulT &matmul, MatmulProblem problem)
      : threads(resources.threads()), context(context), matmul(matmul),
        problem(std::move(problem)) {}

  Status run(const RunContext &run) override {
    const MatmulAddresses at =
        addressesOf(matmul, context.buffers, run.microbatch);
    dispatch(problem.type, [&](auto element) {
      using T = decltype(element);
      threads.parallelFor(problem.numBatches() * problem.m,
                          grainFor(problem.n * problem.k),
                          [&](int64_t begin, int64_t end) {
                            for (int64_t row = begin; row < end; ++row)
                              runRow<T>(at, row);
                          });
      finishRows<T>(problem, threads, at, /*withActivation=*/true);
    });
    return Status::success();
  }

private:
  /// Computes one row of the result c of a batch of matrix products c = a b.
  /// `row` counts the rows of all results of the batch. For example, if each
  /// result has 10 rows, row 23 is row 3 of the third product. `at` has the
  /// addresses of the buffers of a, b and c.
  ///
  /// For f16 and bf16, the sums have type f32, so each element of the result is
  /// rounded to f16 or bf16 only once.
  template <typename T>
  void runRow(const MatmulAddresses &at, int64_t row) const {
    using C = Computed<T>;
    constexpr int64_t width = 64;
    const BatchOffsets from = offsetsOf(problem, row / problem.m);
    const int64_t i = row % problem.m;
    const T *a = static_cast<const T *>(at.a) + from.a + i * problem.a.row;
    const T *b = static_cast<const T *>(at.b) + from.b;
    T *c = static_cast<T *>(at.c) + from.c + i * problem.c.row;
    for (int64_t first = 0; first < problem.n; first += width) {
      const int64_t count = std::min(width, problem.n - first);
      C sums[width] = {};
      for (int64_t p = 0; p < problem.k; ++p) {
        const C factor = static_cast<C>(a[p * problem.a.column]);
        const T *line = b + p * problem.b.row + first * problem.b.column;
        for (int64_t j = 0; j < count; ++j)
          sums[j] += C(factor * static_cast<C>(line[j * problem.b.column]));
      }
      for (int64_t j = 0; j < count; ++j)
        c[(first + j) * problem.c.column] = static_cast<T>(
            problem.alpha == 1 ? sums[j] : C(sums[j] * C(problem.alpha)));
    }
  }

  const ThreadTeam &threads;
  LoadContext context;
  const program::MatmulT &matmul;
  MatmulProblem problem;
};

/// Executes nothing. Used for a product whose result has no elements.
class EmptyMatmul : public Operation {
public:
  Status run(const RunContext &) override { return Status::success(); }
};
} // namespace

/// Sets `operation` to a DnnlMatmul. A DnnlMatmul computes the matrix product
/// `problem` with a oneDNN primitive. A residual is a matrix that is added to
/// the product. If the product has a residual, there are two attempts:
///
/// 1. The primitive adds the residual to the product.
/// 2. A loop adds the residual after the primitive.
///
/// The second attempt is made only if oneDNN has no fast implementation for the
/// first attempt. If the product has no residual, there is one attempt. If all
/// attempts fail because oneDNN has no fast implementation, `operation` is not
/// changed, and the function returns success.
static Status prepareDnnl(CpuResources &resources, const LoadContext &context,
                          const program::MatmulT &matmul,
                          const MatmulProblem &problem,
                          std::unique_ptr<Operation> &operation) {
  for (bool residualInPrimitive : {true, false}) {
    auto dnnlMatmul =
        std::make_unique<DnnlMatmul>(resources, context, matmul, problem);
    bool created = false;
    PCC_RETURN_IF_ERROR(dnnlMatmul->create(residualInPrimitive, created));
    if (created) {
      operation = std::move(dnnlMatmul);
      break;
    }
    if (!problem.hasResidual)
      break;
  }
  return Status::success();
}

Status prepareMatmul(CpuResources &resources, const LoadContext &context,
                     const program::InstructionT &instruction,
                     std::unique_ptr<Operation> &operation) {
  const program::MatmulT &matmul = *instruction.body.AsMatmul();
  const MatmulProblem problem(matmul,
                              typeOf(context.program.buffers[matmul.c]->type));
  if (problem.isEmpty()) {
    operation = std::make_unique<EmptyMatmul>();
    return Status::success();
  }
  if (problem.k > 0 && !problem.oneByOne)
    if (Status status =
            prepareDnnl(resources, context, matmul, problem, operation);
        status.failed() || operation)
      return status;
  if (SgemmMatmul::supports(problem))
    operation =
        std::make_unique<SgemmMatmul>(resources, context, matmul, problem);
  else if (WidenedMatmul::supports(problem))
    operation =
        std::make_unique<WidenedMatmul>(resources, context, matmul, problem);
  else
    operation =
        std::make_unique<PlainMatmul>(resources, context, matmul, problem);
  return Status::success();
}

} // namespace pcc::runtime
