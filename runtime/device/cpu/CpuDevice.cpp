//===- CpuDevice.cpp - executes instructions on the host's cores ----------===//

#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/device/cpu/CpuResources.h"

#include <dnnl.hpp>

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace pcc::runtime {

CpuResources::CpuResources(int numThreads) : team(numThreads) {
  team.adopt();
  dnnlEngine = std::make_unique<dnnl::engine>(dnnl::engine::kind::cpu, 0);
  dnnlStream = std::make_unique<dnnl::stream>(*dnnlEngine);
}

CpuResources::~CpuResources() { std::free(scratchData); }

void CpuResources::reserveScratch(size_t bytes) {
  scratchBytes = std::max(scratchBytes, bytes);
}

void CpuResources::allocateScratch() {
  const size_t rounded =
      (scratchBytes + kAlignment - 1) / kAlignment * kAlignment;
  if (rounded > 0)
    scratchData = std::aligned_alloc(kAlignment, rounded);
}

/// By InstructionBody; collectives are the engine's.
static constexpr Prepare prepares[] = {
    nullptr, prepareKernel,       prepareMatmul, prepareConv, preparePool,
    nullptr, prepareCheckIndices, prepareCopy,   prepareFill, prepareHostOp};
static_assert(std::size(prepares) == size_t(program::InstructionBody::MAX) + 1);

namespace {
class CpuDevice : public Device {
public:
  explicit CpuDevice(int numThreads) : resources(numThreads) {}

  Status prepare(const LoadContext &context,
                 const program::InstructionT &instruction,
                 std::unique_ptr<Operation> &operation) override {
    const Prepare prepare = prepares[size_t(instruction.body.type)];
    if (!prepare)
      return Status::error(Defect, "the cpu device has no instruction \"" +
                                       instruction.node + "\"");
    // oneDNN reports by exceptions, which may not leave the device.
    try {
      return prepare(resources, context, instruction, operation);
    } catch (const std::exception &error) {
      return Status::error(Defect, "cannot prepare node \"" + instruction.node +
                                       "\": " + error.what());
    }
  }

  Status finishLoading() override {
    resources.allocateScratch();
    return Status::success();
  }

private:
  CpuResources resources;
};
} // namespace

std::unique_ptr<Device> createCpuDevice(int numThreads) {
  return std::make_unique<CpuDevice>(std::max(numThreads, 1));
}

} // namespace pcc::runtime
