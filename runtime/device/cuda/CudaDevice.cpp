//===- CudaDevice.cpp - device that executes programs on an NVIDIA GPU ----===//

#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/device/CheckIndices.h"
#include "runtime/device/QueuedDevice.h"
#include "runtime/device/cuda/CudaResources.h"
#include "runtime/device/cuda/StridedCopies.h"

#include <iterator>
#include <utility>

namespace pcc::runtime {

/// Sets `operation` to an object that executes `instruction`, which checks that
/// the elements of an index tensor are in range. For example, a token number
/// must be less than the size of the vocabulary. The host does the check, so
/// the function does not use the CudaResources. If the GPU computes the index
/// tensor, run() enqueues a copy to the host, and the check takes place at the
/// end of the step.
static Status prepareCheck(CudaResources &, const LoadContext &context,
                           const program::InstructionT &instruction,
                           std::unique_ptr<Operation> &operation) {
  return prepareCheckIndices(context, instruction, operation);
}

/// Functions that create the operations, indexed by program::InstructionBody.
/// The order must therefore be that of the enumeration. An entry is null if
/// CudaDevice does not execute instructions of the kind. For example,
/// CudaDevice does not support convolutions, and the code in
/// runtime/engine/collective executes the collectives.
static constexpr PrepareCuda prepares[] = {
    nullptr, prepareKernel, prepareMatmul, nullptr,     nullptr,
    nullptr, prepareCheck,  prepareCopy,   prepareFill, nullptr};
static_assert(std::size(prepares) == size_t(program::InstructionBody::MAX) + 1);

namespace {
/// Device that executes a program on an NVIDIA GPU with two CUDA streams. The
/// stream `uploads` copies the inputs of the next step from host memory to
/// temporary buffers. All other work is on the stream `compute`, so the kernels
/// run at the same time as the uploads. copyWithin() copies the inputs from the
/// temporary buffers to the buffers of the kernels. These copies wait for
/// earlier uploads, and later uploads wait for the copies. The vertical lines
/// are the two waits:
///
///   compute   kernels of step n ──┬── copyWithin() ──┬── kernels of step n + 1
///   uploads   beginUpload() ──────┘                  └── beginUpload()
class CudaDevice final : public Device, public QueuedDevice {
public:
  explicit CudaDevice(const std::string &bundle) : resources(bundle) {}

  /// Opens the GPU.
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
      PCC_RETURN_IF_ERROR(openUploads());
    return upload(to, from, bytes, uploads);
  }

  /// Enqueues the copies in the list `copies` on the compute stream. Source and
  /// target of each copy are in GPU memory. The source is a temporary buffer.
  /// beginUpload() fills the temporary buffer with data from host memory, on
  /// another stream: the stream `uploads`. Two waits order the work of the two
  /// streams:
  ///
  /// - The compute stream waits until `uploads` has executed all uploads that
  ///   were enqueued before this call. The copies therefore read complete data.
  /// - The stream `uploads` waits until the compute stream has executed the
  ///   copies. An upload that is enqueued after this call therefore does not
  ///   overwrite data that a copy still reads.
  Status copyWithin(std::span<const DeviceCopy> copies) override {
    if (uploads)
      PCC_RETURN_IF_ERROR(gpu.order(uploads, gpu.stream(), order));
    for (const auto &[to, from, bytes] : copies)
      if (bytes > 0)
        PCC_RETURN_IF_ERROR(
            gpu.check(gpu.driver().cuMemcpyDtoDAsync(
                          addressOf(to), addressOf(from), bytes, gpu.stream()),
                      "cuMemcpyDtoDAsync"));
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

  Status beginDownload(void *to, const void *from, size_t bytes) override {
    return bytes == 0 ? Status::success()
                      : gpu.check(gpu.driver().cuMemcpyDtoHAsync(
                                      to, addressOf(from), bytes, gpu.stream()),
                                  "cuMemcpyDtoHAsync");
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
      PCC_RETURN_IF_ERROR(copyStrided(gpu, copy, from, to, size));
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
                           "the cuda device has no instruction '" +
                               instruction.node + "'");
    return prepare(resources, context, instruction, operation);
  }

  /// Finishes the loading of a program. Called once, after prepare() has been
  /// called for all instructions.
  ///
  /// - Writes the algorithm that cuBLASLt selected for each matrix product to a
  ///   file in the bundle. Later runs of the bundle then use the same
  ///   algorithms.
  /// - Allocates the scratch memory: temporary GPU memory that all instructions
  ///   share. The size of the scratch memory is the largest size that one
  ///   instruction needs.
  Status finishLoading() override {
    resources.algorithms().keep();
    return resources.allocateScratch();
  }

  Status poll(bool &isDone) override { return gpu.poll(gpu.stream(), isDone); }

  QueuedDevice *queued() override { return this; }

  /// Begins to capture a CUDA graph. Until endRecording() is called, CUDA does
  /// not execute work that is enqueued on the compute stream. CUDA adds the
  /// work to the graph instead.
  ///
  /// If another stream waits for an event that was recorded on the compute
  /// stream during the capture, CUDA also adds the later work of the other
  /// stream to the graph. For example, NCCL calls run on other streams. Before
  /// each NCCL call, the stream of the call waits for an event of the compute
  /// stream. The graph therefore contains the NCCL calls.
  Status beginRecording() override {
    return gpu.check(gpu.driver().cuStreamBeginCapture(
                         gpu.stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                     "cuStreamBeginCapture");
  }

  /// Ends the capture that beginRecording() has begun. Compiles the captured
  /// CUDA graph, so that replay() can launch it.
  Status endRecording() override {
    CUgraph graph = nullptr;
    PCC_RETURN_IF_ERROR(
        gpu.check(gpu.driver().cuStreamEndCapture(gpu.stream(), &graph),
                  "cuStreamEndCapture"));
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

  /// Returns the GPU.
  CudaContext &context() { return gpu; }

private:
  /// Enqueues a copy of `bytes` bytes from host memory to GPU memory on
  /// `stream`.
  Status upload(void *to, const void *from, size_t bytes, CUstream stream) {
    return bytes == 0 ? Status::success()
                      : gpu.check(gpu.driver().cuMemcpyHtoDAsync(
                                      addressOf(to), from, bytes, stream),
                                  "cuMemcpyHtoDAsync");
  }

  /// Creates the CUDA stream `uploads`, on which beginUpload() copies data from
  /// host memory to GPU memory. Also creates the CUDA event `order`, with which
  /// `uploads` and the compute stream wait for each other. The compute stream
  /// executes the kernels.
  ///
  /// The function makes `uploads` wait for all work that is already enqueued on
  /// the compute stream. For example, the compute stream may still have to set
  /// new GPU memory to 0. An upload to that memory must not start earlier.
  Status openUploads() {
    Status status = gpu.createEvent(order);
    if (status.ok())
      status = gpu.createStream(uploads);
    return status.failed() ? status : gpu.order(gpu.stream(), uploads, order);
  }

  /// Executable CUDA graph with the captured work of one step (one run of the
  /// program); null if there is none.
  CUgraphExec step = nullptr;
  /// CUDA stream on which beginUpload() enqueues its copies from host memory to
  /// GPU memory. The first call of beginUpload() creates the stream. Before
  /// that call, the pointer is null.
  CUstream uploads = nullptr;
  /// CUDA event for the waits between two streams. The two streams are the
  /// compute stream and `uploads`, which copies data from host memory to GPU
  /// memory. In a wait, the event is recorded on one stream, and the other
  /// stream waits for this recording. For example, copyWithin() records the
  /// event on `uploads`, and the compute stream waits until `uploads` has
  /// finished its copies.
  ///
  /// One event is enough for all waits, because a new recording does not change
  /// earlier waits. The event is null before the first call of beginUpload().
  CUevent order = nullptr;
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
