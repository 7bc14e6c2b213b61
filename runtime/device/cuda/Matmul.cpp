//===- Matmul.cpp - products by cuBLASLt ----------------------------------===//

#include "runtime/device/cuda/BlasCall.h"

#include <algorithm>

namespace pcc::runtime {

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
                  const program::MatmulT &matmul, const BlasTypes &types)
      : resources(resources), context(context), matmul(matmul), types(types),
        problem(matmul, types.factors), alpha(matmul.alpha, types.scale),
        beta(problem.hasResidual ? 1 : 0, types.scale), call(resources) {}

  Status open() {
    if (problem.isEmpty())
      return Status::success();
    if (problem.k == 0)
      if (Status status = multiplyZeros(); status.failed())
        return status;
    return call.open(problem, types);
  }

  Status run(const RunContext &run) override {
    if (problem.isEmpty())
      return Status::success();
    microbatch = run.microbatch;
    if (problem.hasBias)
      if (Status status = call.setBias(address(matmul.bias)); status.failed())
        return status;
    Places places = {factor(matmul.a, problem.a),
                     factor(matmul.b, problem.b),
                     address(matmul.c),
                     {}};
    places.residual = problem.hasResidual ? address(matmul.residual) : places.c;
    return runFrom(0, places);
  }

private:
  struct Places {
    char *a, *b, *c, *residual;
  };

  /// A sum of nothing is one product of zeros, which cuBLASLt knows.
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

  char *address(int32_t buffer) const {
    return static_cast<char *>(context.buffers.at(buffer, microbatch));
  }

  char *factor(int32_t buffer, const MatrixStrides &matrix) const {
    return zeros ? static_cast<char *>(zeros)
                 : moved(address(buffer), matrix.offset, types.factors);
  }

  static char *moved(char *data, int64_t elements, ElementType type) {
    return data + elements * int64_t(sizeOf(type));
  }

  /// All but the last dim of the batch are ours to walk.
  Status runFrom(size_t dim, const Places &at) {
    if (dim + 1 >= problem.batch.size())
      return call.run(alpha.get(), at.a, at.b, beta.get(), at.residual, at.c);
    for (int64_t i = 0; i < problem.batch[dim]; ++i) {
      const Places next = {
          moved(at.a, i * problem.a.batch[dim], types.factors),
          moved(at.b, i * problem.b.batch[dim], types.factors),
          moved(at.c, i * problem.c.batch[dim], types.stored),
          moved(at.residual, i * problem.residual.batch[dim], types.stored)};
      if (Status status = runFrom(dim + 1, next); status.failed())
        return status;
    }
    return Status::success();
  }

  CudaResources &resources;
  LoadContext context;
  const program::MatmulT &matmul;
  BlasTypes types;
  MatmulProblem problem;
  BlasFactor alpha, beta;
  BlasCall call;
  void *zeros = nullptr; ///< in place of a and b
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
  const auto types = blasTypesOf(factors, stored, context.program.tf32);
  if (!types)
    return Status::error(
        Defect, "cuBLASLt has no products of " + std::string(nameOf(factors)) +
                    " that are stored as " + std::string(nameOf(stored)));
  if (Status status = resources.useBlas(); status.failed())
    return status;
  auto made =
      std::make_unique<MatmulOperation>(resources, context, matmul, *types);
  if (Status status = made->open(); status.failed())
    return status.addNote("node \"" + instruction.node + "\"");
  operation = std::move(made);
  return Status::success();
}

} // namespace pcc::runtime
