//===- CudaContext.h - a GPU, its memory and its streams ------------------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDACONTEXT_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDACONTEXT_H

#include "runtime/device/cuda/CudaDriver.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pcc::runtime {

/// The GPU of one rank, as long as the rank lives. All calls are made by the
/// rank's thread.
class CudaContext {
public:
  CudaContext() = default;
  /// Frees everything, unless that is left to the process' end.
  ~CudaContext();
  CudaContext(const CudaContext &) = delete;
  CudaContext &operator=(const CudaContext &) = delete;

  /// Opens the driver and takes the GPU with that number; numbers begin again
  /// behind the last one that this process sees.
  Status open(int number);
  /// Somebody may still be in a call that needs what the destructor would free.
  void leaveToProcess() { isLeft = true; }

  /// Memory that is freed with this. Of the GPU: zeroed, aligned to 256 bytes.
  Status allocate(size_t bytes, void *&data);
  /// Of the host, where copies reach it without waiting.
  Status allocatePinned(size_t bytes, void *&data);

  /// A stream or an event that ends with this.
  Status createStream(CUstream &stream);
  Status createEvent(CUevent &event);
  /// What `later` is given from now on waits for what `earlier` has been given.
  Status order(CUstream earlier, CUstream later, CUevent event) const;
  /// Makes the thread that calls it one of this GPU, which need not be there
  /// any more.
  std::function<void()> adopter() const {
    return [set = functions.cuCtxSetCurrent, gpu = context] { set(gpu); };
  }

  /// Starts a kernel of one dim behind what everything waits for already.
  Status launch(CUfunction function, int64_t blocks, int64_t threads,
                std::vector<void *> &arguments) const;
  /// Whether the stream has nothing left to do.
  Status poll(CUstream stream, bool &isDone) const;
  /// Waits for that; for what waits for no other rank.
  Status waitFor(CUstream stream) const;

  const CudaDriver &driver() const { return functions; }
  Status check(CUresult result, const char *call) const {
    return functions.check(result, call);
  }
  /// Where everything runs.
  CUstream stream() const { return computeStream; }
  /// "NVIDIA H100 80GB HBM3"
  const std::string &name() const { return model; }
  /// For messages: "GPU 0 (NVIDIA H100 80GB HBM3, compute capability 9.0)".
  const std::string &description() const { return text; }
  /// "0000:01:00.0": no other GPU of this machine is there.
  Status findBus(std::string &bus) const;
  /// "13.0": the CUDA that the driver is made for.
  std::string driverVersion() const;
  /// 90 for compute capability 9.0.
  int capability() const { return capabilityNumber; }
  int multiprocessors() const { return multiprocessorCount; }

private:
  Status describe();

  CudaDriver functions;
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUstream computeStream = nullptr;
  std::vector<CUstream> streams;
  std::vector<CUevent> events;
  std::vector<CUdeviceptr> memory;
  std::vector<void *> pinned;
  std::string model, text;
  int capabilityNumber = 0, multiprocessorCount = 0;
  bool isLeft = false;
};

/// An address of the GPU as its driver has it.
inline CUdeviceptr addressOf(const void *data) {
  return reinterpret_cast<CUdeviceptr>(data);
}

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDACONTEXT_H
