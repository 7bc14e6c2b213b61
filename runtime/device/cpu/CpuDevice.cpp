//===- CpuDevice.cpp - device that executes programs on CPU cores ---------===//

#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/base/Exhaustion.h"
#include "runtime/device/CheckIndices.h"
#include "runtime/device/cpu/CpuResources.h"
#include "status/Counted.h"

#include <dnnl.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <future>
#include <iterator>
#include <new>

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

Status CpuResources::allocateScratch() {
  const size_t rounded =
      (scratchBytes + kAlignment - 1) / kAlignment * kAlignment;
  if (rounded > 0)
    scratchData = std::aligned_alloc(kAlignment, rounded);
  if (rounded > 0 && !scratchData)
    return Status::error(NoDevice, "out of memory: no " +
                                       counted(rounded, "byte") +
                                       " of scratch memory");
  return Status::success();
}

/// Creates the operation of a CheckIndices instruction. The operation checks
/// that each element of an index tensor is in the allowed range. For example,
/// if the elements are row numbers of a table with 100 rows, element 100 is an
/// error.
static Status prepareCheck(CpuResources &, const LoadContext &context,
                           const program::InstructionT &instruction,
                           std::unique_ptr<Operation> &operation) {
  return prepareCheckIndices(context, instruction, operation);
}

/// Table of the functions that create operations. An operation is an object
/// that executes one instruction. The index in the table is the kind of the
/// instruction, an enumerator of program::InstructionBody. The entry of
/// enumerator 0 (no instruction) is null. The entry of collectives is also
/// null, because this device does not execute collectives: the code in
/// runtime/engine/collective executes them.
static constexpr Prepare prepares[] = {
    nullptr, prepareKernel, prepareMatmul, prepareConv, preparePool,
    nullptr, prepareCheck,  prepareCopy,   prepareFill, prepareHostOp};
static_assert(std::size(prepares) == size_t(program::InstructionBody::MAX) + 1);

namespace {
/// Device on the host's cores. Its memory is host memory. All work is complete
/// when a function returns.
class CpuDevice : public Device {
public:
  explicit CpuDevice(int numThreads) : resources(numThreads) {}

  bool sharesHostMemory() const override { return true; }

  Status allocate(int64_t bytes, char *&data) override {
    void *allocated = nullptr;
    // posix_memalign is used because aligned_alloc requires a size that is a
    // multiple of the alignment.
    if (posix_memalign(&allocated, size_t(kAlignment), size_t(bytes)) != 0)
      return Status::error(NoDevice, "out of memory: no " +
                                         counted(bytes, "byte") +
                                         " for the arena");
    data = static_cast<char *>(allocated);
    memory.emplace_back(data, &std::free);
    // Sets the memory to 0, because a kernel may read padding that no
    // instruction has written. Padding is the unused end of a shard of a
    // tensor. For example, a tensor of 10 elements is divided among 4 ranks.
    // The shard of each rank has 3 elements. The last rank stores one element
    // of the tensor and 2 elements of padding.
    return clear(data, size_t(bytes));
  }

  Status allocatePinned(int64_t bytes, char *&data) override {
    return allocate(bytes, data);
  }

  Status upload(void *to, const void *from, size_t bytes) override {
    std::memcpy(to, from, bytes);
    return Status::success();
  }

  Status download(void *to, const void *from, size_t bytes) override {
    std::memcpy(to, from, bytes);
    return Status::success();
  }

  Status clear(void *data, size_t bytes) override {
    std::memset(data, 0, bytes);
    return Status::success();
  }

  Status copy(std::span<const StridedCopy> copies, const void *from, void *to,
              size_t size) override {
    for (const StridedCopy &copy : copies)
      runCopy(copy, from, to, size);
    return Status::success();
  }

  Status prepare(const LoadContext &context,
                 const program::InstructionT &instruction,
                 std::unique_ptr<Operation> &operation) override {
    const Prepare prepare = prepares[size_t(instruction.body.type)];
    if (!prepare)
      return Status::error(Defect, "the cpu device has no instruction '" +
                                       instruction.node + "'");
    // oneDNN throws exceptions, which are converted to a Status here. Without
    // memory, they may be of any type.
    const std::string claim = "cannot prepare node '" + instruction.node + "'";
    try {
      return prepare(resources, context, instruction, operation);
    } catch (const std::bad_alloc &) {
      return outOfMemory().prefixed(claim + ": ");
    } catch (const std::future_error &) {
      // Another thread that made the same primitive had no memory for it.
      return outOfMemory().prefixed(claim + ": ");
    } catch (const std::exception &error) {
      return isMemoryExhausted()
                 ? outOfMemory().prefixed(claim + ": ")
                 : Status::error(Defect, claim + ": " + error.what());
    }
  }

  Status finishLoading() override { return resources.allocateScratch(); }

  Status poll(bool &isDone) override {
    isDone = true;
    return Status::success();
  }

private:
  CpuResources resources;
  /// Memory of allocate().
  std::vector<std::unique_ptr<char, decltype(&std::free)>> memory;
};
} // namespace

std::unique_ptr<Device> createCpuDevice(int numThreads) {
  return std::make_unique<CpuDevice>(std::max(numThreads, 1));
}

} // namespace pcc::runtime
