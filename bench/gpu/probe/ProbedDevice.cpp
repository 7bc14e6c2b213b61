//===- ProbedDevice.cpp - a device whose instructions are looked at -------===//

#include "bench/gpu/probe/ProbedDevice.h"
#include "runtime/device/cpu/InstructionSet.h"

#include <algorithm>
#include <chrono>

namespace pcc::bench {

using namespace pcc;
using namespace pcc::runtime;
using Clock = std::chrono::steady_clock;

Status finish(Device &gpu) {
  for (bool isDone = false; !isDone;)
    PCC_RETURN_IF_ERROR(gpu.poll(isDone));
  return Status::success();
}

Status time(Device &gpu, const std::function<Status()> &work, double &seconds) {
  constexpr int most = 20;
  PCC_RETURN_IF_ERROR(finish(gpu));
  const auto begin = Clock::now();
  for (int i = 0; i < most; ++i)
    PCC_RETURN_IF_ERROR(work());
  PCC_RETURN_IF_ERROR(finish(gpu));
  seconds = std::chrono::duration<double>(Clock::now() - begin).count() / most;
  return Status::success();
}

namespace {
class TimedOperation : public Operation {
public:
  /// `bare`, the product without fused steps, may be null.
  TimedOperation(Device &gpu, std::unique_ptr<Operation> timed,
                 std::unique_ptr<Operation> bare, Observation &seen)
      : gpu(gpu), timed(std::move(timed)), bare(std::move(bare)), seen(seen) {}

  Status run(const RunContext &run) override {
    Status status = Status::success();
    if (bare)
      status = quickest(*bare, run, seen.bareSeconds);
    if (status.ok())
      status = quickest(*timed, run, seen.seconds);
    ++seen.runs;
    return status;
  }

private:
  Status quickest(Operation &operation, const RunContext &run, double &known) {
    double seconds = 0;
    Status status = time(gpu, [&] { return operation.run(run); }, seconds);
    known = seen.runs ? std::min(known, seconds) : seconds;
    return status;
  }

  Device &gpu;
  const std::unique_ptr<Operation> timed, bare;
  Observation &seen;
};

class CheckedOperation : public Operation {
public:
  CheckedOperation(Device &gpu, std::unique_ptr<Operation> checked,
                   KernelCheck check, Observation &seen)
      : gpu(gpu), checked(std::move(checked)), check(std::move(check)),
        seen(seen) {}

  Status run(const RunContext &run) override {
    ++seen.runs;
    PCC_RETURN_IF_ERROR(finish(gpu));
    return check.run(
        run,
        [&] {
          Status status = checked->run(run);
          return status.failed() ? status : finish(gpu);
        },
        seen.errors);
  }

private:
  Device &gpu;
  const std::unique_ptr<Operation> checked;
  KernelCheck check;
  Observation &seen;
};
} // namespace

/// Returns the product without fused steps. It writes to the result of `fused`.
static program::InstructionT bareOf(const program::InstructionT &fused) {
  program::MatmulT product = *fused.body.AsMatmul();
  product.bias = product.residual = product.a_sums = product.b_sums = -1;
  product.activation = program::Activation::None;
  program::InstructionT bare;
  bare.node = fused.node;
  bare.body.Set(std::move(product));
  return bare;
}

Status ProbedDevice::prepare(const LoadContext &context,
                             const program::InstructionT &instruction,
                             std::unique_ptr<Operation> &op) {
  PCC_RETURN_IF_ERROR(gpu.prepare(context, instruction, op));
  if (op->runsOnHost())
    return Status::success();
  const program::KernelT *kernel = instruction.body.AsKernel();
  if (probe == Probe::Check && !kernel)
    return Status::success();
  Observation &seen =
      *observations.emplace_back(std::make_unique<Observation>());
  seen.instruction = &instruction;
  if (probe == Probe::Time) {
    std::unique_ptr<Operation> bare;
    if (instruction.body.AsMatmul()) {
      seen.bare = bareOf(instruction);
      PCC_RETURN_IF_ERROR(gpu.prepare(context, seen.bare, bare));
    }
    op = std::make_unique<TimedOperation>(gpu, std::move(op), std::move(bare),
                                          seen);
    return Status::success();
  }
  const KernelFunction *twins = nullptr;
  PCC_RETURN_IF_ERROR(
      chooseVariant(context.image, context.program.num_kernels, twins));
  if (!twins)
    return Status::error(WrongUsage, "the bundle has no kernels for "
                                     "processors: compile it with --cpu");
  op = std::make_unique<CheckedOperation>(
      gpu, std::move(op), KernelCheck(context, *kernel, twins[kernel->kernel]),
      seen);
  return Status::success();
}

} // namespace pcc::bench
