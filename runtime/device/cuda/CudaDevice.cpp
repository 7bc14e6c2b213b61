//===- CudaDevice.cpp - executes instructions on a GPU --------------------===//

#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/device/CheckIndices.h"
#include "runtime/device/cuda/CudaResources.h"
#include "runtime/device/cuda/StridedCopies.h"

#include <iterator>
#include <utility>

namespace pcc::runtime {

/// The host looks at inputs before it gives them away.
static Status prepareCheck(CudaResources &, const LoadContext &context,
                           const program::InstructionT &instruction,
                           std::unique_ptr<Operation> &operation) {
  operation = makeCheckIndices(context, instruction);
  return Status::success();
}

/// By InstructionBody; 7-emit makes no others for GPUs.
static constexpr PrepareCuda prepares[] = {
    nullptr, prepareKernel, prepareMatmul, nullptr,     nullptr,
    nullptr, prepareCheck,  prepareCopy,   prepareFill, nullptr};
static_assert(std::size(prepares) == size_t(program::InstructionBody::MAX) + 1);

namespace {
class CudaDevice : public Device {
public:
  explicit CudaDevice(const std::string &bundle) : resources(bundle) {}

  Status open(int localRank) { return gpu.open(localRank); }

  bool sharesHostMemory() const override { return false; }

  Status allocate(int64_t bytes, char *&data) override {
    void *allocated = nullptr;
    Status status = gpu.allocate(size_t(bytes), allocated);
    data = static_cast<char *>(allocated);
    return status;
  }

  Status allocatePinned(int64_t bytes, char *&data) override {
    void *allocated = nullptr;
    Status status = gpu.allocatePinned(size_t(bytes), allocated);
    data = static_cast<char *>(allocated);
    return status;
  }

  Status upload(void *to, const void *from, size_t bytes) override {
    Status status = upload(to, from, bytes, gpu.stream());
    return status.failed() ? status : gpu.waitFor(gpu.stream());
  }

  Status beginUpload(void *to, const void *from, size_t bytes) override {
    if (!uploads)
      if (Status status = openUploads(); status.failed())
        return status;
    return upload(to, from, bytes, uploads);
  }

  Status copyWithin(std::span<const DeviceCopy> copies) override {
    if (uploads)
      if (Status status = gpu.order(uploads, gpu.stream(), order);
          status.failed())
        return status;
    for (const auto &[to, from, bytes] : copies)
      if (bytes > 0)
        if (Status status = gpu.check(
                gpu.driver().cuMemcpyDtoDAsync(addressOf(to), addressOf(from),
                                               bytes, gpu.stream()),
                "cuMemcpyDtoDAsync");
            status.failed())
          return status;
    return uploads ? gpu.order(gpu.stream(), uploads, order)
                   : Status::success();
  }

  Status download(void *to, const void *from, size_t bytes) override {
    if (bytes == 0)
      return Status::success();
    Status status = gpu.check(gpu.driver().cuMemcpyDtoHAsync(
                                  to, addressOf(from), bytes, gpu.stream()),
                              "cuMemcpyDtoHAsync");
    return status.failed() ? status : gpu.waitFor(gpu.stream());
  }

  Status clear(void *data, size_t bytes) override {
    return bytes == 0 ? Status::success()
                      : gpu.check(gpu.driver().cuMemsetD8Async(
                                      addressOf(data), 0, bytes, gpu.stream()),
                                  "cuMemsetD8Async");
  }

  Status copy(std::span<const StridedCopy> copies, const void *from, void *to,
              size_t size) override {
    for (const StridedCopy &copy : copies)
      if (Status status = copyStrided(gpu, copy, from, to, size);
          status.failed())
        return status;
    return Status::success();
  }

  Status generate(const ProgramImage &image, int32_t kernel, uint64_t key,
                  std::span<const StridedCopy> copies, void *to) override {
    return makeRandom(resources, image, kernel, key, copies, to);
  }

  Status prepare(const LoadContext &context,
                 const program::InstructionT &instruction,
                 std::unique_ptr<Operation> &operation) override {
    const PrepareCuda prepare = prepares[size_t(instruction.body.type)];
    if (!prepare)
      return Status::error(DamagedBundle,
                           "the cuda device has no instruction \"" +
                               instruction.node + "\"");
    return prepare(resources, context, instruction, operation);
  }

  Status finishLoading() override {
    resources.algorithms().keep();
    return resources.allocateScratch();
  }

  Status poll(bool &isDone) override { return gpu.poll(gpu.stream(), isDone); }

  bool canRecord() const override { return true; }

  Status beginRecording() override {
    return gpu.check(gpu.driver().cuStreamBeginCapture(
                         gpu.stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                     "cuStreamBeginCapture");
  }

  Status endRecording() override {
    CUgraph graph = nullptr;
    if (Status status =
            gpu.check(gpu.driver().cuStreamEndCapture(gpu.stream(), &graph),
                      "cuStreamEndCapture");
        status.failed())
      return status;
    Status status =
        gpu.check(gpu.driver().cuGraphInstantiateWithFlags(&step, graph, 0),
                  "cuGraphInstantiateWithFlags");
    gpu.driver().cuGraphDestroy(graph);
    return status;
  }

  Status replay() override {
    return gpu.check(gpu.driver().cuGraphLaunch(step, gpu.stream()),
                     "cuGraphLaunch");
  }

  void dropRecording() override {
    if (step)
      gpu.driver().cuGraphExecDestroy(std::exchange(step, nullptr));
  }

  CudaContext &context() { return gpu; }

private:
  Status upload(void *to, const void *from, size_t bytes, CUstream stream) {
    return bytes == 0 ? Status::success()
                      : gpu.check(gpu.driver().cuMemcpyHtoDAsync(
                                      addressOf(to), from, bytes, stream),
                                  "cuMemcpyHtoDAsync");
  }

  /// A stream of their own, behind what has been begun.
  Status openUploads() {
    Status status = gpu.createEvent(order);
    if (status.ok())
      status = gpu.createStream(uploads);
    return status.failed() ? status : gpu.order(gpu.stream(), uploads, order);
  }

  CUgraphExec step = nullptr;
  CUstream uploads = nullptr;
  CUevent order = nullptr; ///< between it and all else
  CudaResources resources;
  CudaContext &gpu = resources.context();
};
} // namespace

Status createCudaDevice(int localRank, const std::string &bundle,
                        std::unique_ptr<Device> &device, CudaContext *&gpu) {
  auto made = std::make_unique<CudaDevice>(bundle);
  Status status = made->open(localRank);
  gpu = &made->context();
  device = std::move(made);
  return status;
}

} // namespace pcc::runtime
