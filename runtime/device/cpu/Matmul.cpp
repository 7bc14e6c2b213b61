//===- Matmul.cpp - matrix products ---------------------------------------===//
//
// Tried in this order, first fit wins:
//   1. a oneDNN primitive that does everything
//   2. a oneDNN primitive, and the residual added by a loop of ours
//   3. oneDNN's sgemm per batch, of half precisions on widened operands, and a
//      loop of ours
//   4. plain loops: any type, any strides
//
// Products that have to be made one by one begin with 3: what a primitive does
// for one may depend on how many there are.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/MatmulProblem.h"
#include "runtime/device/cpu/DnnlCall.h"
#include "runtime/device/cpu/WidenedProduct.h"
#include "runtime/tensor/ElementDispatch.h"

#include <algorithm>

namespace pcc::runtime {

namespace {
/// Where one run's operands are.
struct MatmulAddresses {
  const void *a, *b, *bias, *residual;
  void *c;
};

/// Element offsets of a batch in the matrices.
struct BatchOffsets {
  int64_t a = 0, b = 0, c = 0, residual = 0;
};
} // namespace

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

static MatmulAddresses addressesOf(const program::MatmulT &matmul,
                                   const BufferTable &buffers,
                                   int64_t microbatch) {
  const auto at = [&](int32_t buffer) {
    return buffer < 0 ? nullptr : buffers.at(buffer, microbatch);
  };
  return {at(matmul.a), at(matmul.b), at(matmul.bias), at(matmul.residual),
          at(matmul.c)};
}

/// Rows below which another thread does not pay, for `work` per row.
static int64_t grainFor(int64_t work) {
  return std::max<int64_t>(16384 / std::max<int64_t>(work, 1), 1);
}

/// c = activation(c + bias) + residual, as far as asked for.
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

class DnnlMatmul : public Operation {
public:
  DnnlMatmul(CpuResources &resources, const LoadContext &context,
             const program::MatmulT &matmul, MatmulProblem problem)
      : resources(resources), context(context), matmul(matmul),
        problem(std::move(problem)), call(resources) {}

  /// False if oneDNN has no fast implementation; then nothing has changed.
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
    if (Status status = call.run(context.buffers, run.microbatch);
        status.failed())
      return status;
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
  /// oneDNN wants one of a matrix' strides to be 1, and no broadcast inside it.
  bool isSupported() const {
    for (const MatrixStrides *matrix : {&problem.a, &problem.b})
      if (matrix->row <= 0 || matrix->column <= 0 ||
          (matrix->row != 1 && matrix->column != 1))
        return false;
    return problem.c.column == 1 && problem.c.row >= problem.n &&
           problem.batch.size() <= 4;
  }

  size_t bytesTo(const MatrixStrides &matrix) const {
    return size_t(matrix.offset) * sizeOf(problem.type);
  }

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

  memory::desc biasDesc(memory::data_type type) const {
    memory::dims dims(problem.batch.size() + 1, 1), strides(dims.size() + 1, 1);
    dims.push_back(problem.n);
    std::fill(strides.begin(), strides.end() - 1, problem.n);
    return {dims, type, strides};
  }

  /// A factor comes before the bias, so that the bias must come after it.
  bool biasIsOperand() const { return problem.hasBias && problem.alpha == 1; }

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

  Status bind(const dnnl::matmul::primitive_desc &description,
              const memory::desc &a, const memory::desc &b,
              const memory::desc &c, memory::data_type type) {
    if (Status status = makeWeight(resources, context, matmul.b, b,
                                   description.weights_desc(), weight);
        status.failed())
      return status;
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

class SgemmMatmul : public Operation {
public:
  SgemmMatmul(CpuResources &resources, const LoadContext &context,
              const program::MatmulT &matmul, MatmulProblem problem)
      : threads(resources.threads()), context(context), matmul(matmul),
        problem(std::move(problem)) {}

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
    // Few large products divide themselves, in ways that may depend on threads;
    // many small ones are divided here.
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
  static bool isPlain(const MatrixStrides &matrix, int64_t rows,
                      int64_t columns) {
    return (matrix.column == 1 &&
            matrix.row >= std::max<int64_t>(columns, 1)) ||
           (matrix.row == 1 && matrix.column >= std::max<int64_t>(rows, 1));
  }

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
  size_t scratchFloats() const {
    return size_t(WidenedProduct<Float16>::scratchSize(problem.m, problem.k));
  }

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
  /// Whether each thread makes products of its own.
  bool sharesOut;
};

//===----------------------------------------------------------------------===//
// Plain loops
//===----------------------------------------------------------------------===//

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

/// A product without elements.
class EmptyMatmul : public Operation {
public:
  Status run(const RunContext &) override { return Status::success(); }
};
} // namespace

static Status prepareDnnl(CpuResources &resources, const LoadContext &context,
                          const program::MatmulT &matmul,
                          const MatmulProblem &problem,
                          std::unique_ptr<Operation> &operation) {
  for (bool residualInPrimitive : {true, false}) {
    auto dnnlMatmul =
        std::make_unique<DnnlMatmul>(resources, context, matmul, problem);
    bool created = false;
    if (Status status = dnnlMatmul->create(residualInPrimitive, created);
        status.failed())
      return status;
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
