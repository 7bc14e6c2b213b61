//===- CudaContext.h - the GPU of a rank, its memory and its streams ------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDACONTEXT_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDACONTEXT_H

#include "runtime/device/cuda/CudaDriver.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pcc::runtime {

/// The GPU of one rank, and everything that the rank allocates on it. All
/// functions are called by the rank's thread, except the one that adopter()
/// returns.
class CudaContext {
public:
  CudaContext() = default;
  /// Frees all memory, streams and events, unless leaveToProcess() was called.
  ~CudaContext();
  CudaContext(const CudaContext &) = delete;
  CudaContext &operator=(const CudaContext &) = delete;

  /// Opens the driver, and makes GPU `number` the current one of the calling
  /// thread. `number` is taken modulo the number of visible GPUs. Exit code 13
  /// if there is no driver or no GPU.
  Status open(int number);
  /// Makes the destructor free nothing. Another thread may still be inside a
  /// call that needs the memory or the streams; the end of the process frees
  /// them.
  void leaveToProcess() { isLeft = true; }

  /// Allocates GPU memory, aligned to 256 bytes, which this object owns.
  /// Zeroing it is enqueued on stream(). `data` is null if `bytes` is 0. Exit
  /// code 13 if there is not enough memory.
  Status allocate(size_t bytes, void *&data);
  /// Allocates zeroed page-locked host memory, which this object owns.
  /// Transfers to and from such memory can be asynchronous. `data` is null if
  /// `bytes` is 0.
  Status allocatePinned(size_t bytes, void *&data);

  /// Creates a stream, which this object owns. The stream does not synchronize
  /// with the default stream.
  Status createStream(CUstream &stream);
  /// Creates an event without timing, which this object owns.
  Status createEvent(CUevent &event);
  /// Makes all later work of the stream `later` wait for all work that
  /// `earlier` has been given so far. `event` is recorded on `earlier`, and may
  /// be used again afterwards.
  Status order(CUstream earlier, CUstream later, CUevent event) const;
  /// Returns a function that makes this GPU the current one of the thread that
  /// calls it. The function does not refer to this object, and may be called
  /// after its destruction.
  std::function<void()> adopter() const {
    return [set = functions.cuCtxSetCurrent, gpu = context] { set(gpu); };
  }

  /// Enqueues a kernel on stream(), with a one-dimensional grid of `blocks`
  /// blocks of `threads` threads. `arguments` are the addresses of the kernel's
  /// parameters, which are read before the function returns.
  Status launch(CUfunction function, int64_t blocks, int64_t threads,
                std::vector<void *> &arguments) const;
  /// Sets `isDone` to whether the stream has completed all its work, without
  /// blocking. Returns an error if any of the work has failed.
  Status poll(CUstream stream, bool &isDone) const;
  /// Blocks until the stream has completed all its work. There is no deadline,
  /// so the work must not depend on another rank.
  Status waitFor(CUstream stream) const;

  /// Returns the functions of the driver.
  const CudaDriver &driver() const { return functions; }
  /// Turns the result of a driver function into a Status (CudaDriver::check).
  Status check(CUresult result, const char *call) const {
    return functions.check(result, call);
  }
  /// Returns the compute stream, on which kernels, library calls and copies run
  /// in order. Communicators have streams of their own.
  CUstream stream() const { return computeStream; }
  /// Returns the model of the GPU, such as "NVIDIA H100 80GB HBM3".
  const std::string &name() const { return model; }
  /// Returns the text that messages use for the GPU, such as "GPU 0 (NVIDIA
  /// H100 80GB HBM3, compute capability 9.0)".
  const std::string &description() const { return text; }
  /// Sets `bus` to the PCI bus address of the GPU, such as "0000:01:00.0". The
  /// address is unique on this machine, so two ranks with equal addresses share
  /// a GPU.
  Status findBus(std::string &bus) const;
  /// Returns the latest CUDA version that the driver supports, such as "13.0".
  std::string driverVersion() const;
  /// Returns the compute capability: 90 stands for 9.0.
  int capability() const { return capabilityNumber; }
  /// Returns the number of streaming multiprocessors.
  int multiprocessors() const { return multiprocessorCount; }

private:
  /// Reads the name and the properties of the GPU from the driver.
  Status describe();

  CudaDriver functions;
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUstream computeStream = nullptr;
  /// Objects that the destructor frees.
  std::vector<CUstream> streams;
  std::vector<CUevent> events;
  std::vector<CUdeviceptr> memory;
  std::vector<void *> pinned;
  /// See name() and description().
  std::string model, text;
  int capabilityNumber = 0, multiprocessorCount = 0;
  /// Whether leaveToProcess() was called.
  bool isLeft = false;
};

/// Returns an address in GPU memory in the type that the driver takes.
inline CUdeviceptr addressOf(const void *data) {
  return reinterpret_cast<CUdeviceptr>(data);
}

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDACONTEXT_H
