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

/// Represents the GPU of one rank. Owns all memory, streams and events that the
/// rank creates on the GPU. Only the thread that executes the program of the
/// rank may call the member functions.
///
/// Another thread may call CUDA only after it has made this GPU its current
/// GPU. The member function adopter() returns a function that does this. The
/// other thread may call the returned function.
class CudaContext {
public:
  CudaContext() = default;
  /// Frees the memory, the streams and the events that this object owns. If
  /// leaveToProcess() has been called, the destructor does nothing, because
  /// another thread may still use the memory or the streams. The operating
  /// system then frees them when the process ends.
  ~CudaContext();
  CudaContext(const CudaContext &) = delete;
  CudaContext &operator=(const CudaContext &) = delete;

  /// Opens the CUDA driver, and selects one GPU for the CUDA calls of the
  /// calling thread. The index of the GPU is `number` modulo the number of
  /// visible GPUs. For example, with 4 visible GPUs, `number` 5 selects GPU 1.
  /// If there is no driver or no GPU, the function returns an error with exit
  /// code 13 (NoDevice).
  Status open(int number);
  /// Makes the destructor free nothing: the operating system frees everything
  /// when the process ends. Used if another thread may still be inside a call
  /// that needs the memory or the streams.
  void leaveToProcess() { isLeft = true; }

  /// Allocates `bytes` bytes of GPU memory, and sets `data` to the address of
  /// the memory. The address is a multiple of 256. Enqueues a memset on
  /// stream() that sets all bytes of the memory to 0. The destructor of this
  /// object frees the memory.
  ///
  /// If `bytes` is 0, the function allocates no memory, and sets `data` to
  /// null. If the GPU has too little free memory, the function returns an error
  /// with exit code 13 (NoDevice).
  Status allocate(size_t bytes, void *&data);
  /// Sets `data` to `bytes` bytes of new, zeroed, page-locked host memory, or
  /// to null if `bytes` is 0. Transfers between this memory and the GPU can be
  /// asynchronous. This object owns the memory.
  Status allocatePinned(size_t bytes, void *&data);

  /// Sets `stream` to a new stream, which this object owns. The stream does not
  /// synchronize with CUDA's default stream.
  Status createStream(CUstream &stream);
  /// Sets `event` to a new CUDA event without timing. This object owns the
  /// event.
  Status createEvent(CUevent &event);
  /// Makes later work on the stream `later` wait for all work that is already
  /// enqueued on `earlier`. Records `event` on `earlier`. The caller may use
  /// `event` again after this call.
  Status order(CUstream earlier, CUstream later, CUevent event) const;
  /// Returns a function that makes this GPU the current one of the calling
  /// thread. The function may be called after the destruction of this object.
  std::function<void()> adopter() const {
    return [set = functions.cuCtxSetCurrent, gpu = context] { set(gpu); };
  }

  /// Enqueues the kernel `function` on stream(), with a one-dimensional grid of
  /// `blocks` blocks of `threads` threads each. `arguments` holds the address
  /// of each kernel parameter. The parameters are copied before launch()
  /// returns.
  Status launch(CUfunction function, int64_t blocks, int64_t threads,
                std::vector<void *> &arguments) const;
  /// Sets `isDone` to whether `stream` has completed all its work. Does not
  /// block. Returns an error if any of the work has failed.
  Status poll(CUstream stream, bool &isDone) const;
  /// Blocks the calling thread until `stream` has completed all its work.
  /// Returns an error if any of the work has failed. The function has no
  /// timeout. The work on `stream` must therefore not depend on another rank. A
  /// rank is one process of the run. If the work depended on another rank, and
  /// the other rank had crashed, the function might never return.
  Status waitFor(CUstream stream) const;

  /// Returns the functions of the driver.
  const CudaDriver &driver() const { return functions; }
  /// Converts `result` to a Status. `call` is the name of the driver function
  /// that returned `result`. A Status is either a success, or an error with an
  /// exit code for the process:
  ///
  /// - CUDA_SUCCESS becomes a success.
  /// - An error of the machine, such as too little free GPU memory, becomes an
  ///   error with exit code 13 (NoDevice).
  /// - Any other error of the driver becomes an error with exit code 1
  ///   (Defect).
  Status check(CUresult result, const char *call) const {
    return functions.check(result, call);
  }
  /// Returns the compute stream. The compute stream executes kernels, calls of
  /// libraries such as cuBLASLt, and copies, in the order in which they were
  /// enqueued. Two kinds of work are enqueued on other streams: NCCL calls, and
  /// copies of model inputs from host memory to GPU memory that overlap with
  /// kernels.
  CUstream stream() const { return computeStream; }
  /// Returns the model of the GPU, such as "NVIDIA H100 80GB HBM3".
  const std::string &name() const { return model; }
  /// Returns the name of the GPU in messages, such as "GPU 0 (NVIDIA H100 80GB
  /// HBM3, compute capability 9.0)".
  const std::string &description() const { return text; }
  /// Sets `bus` to the PCI bus address of the GPU, such as "0000:01:00.0". Two
  /// ranks of a host with equal addresses share a GPU.
  Status findBus(std::string &bus) const;
  /// Returns the latest CUDA version that the driver supports, such as "13.0".
  std::string driverVersion() const;
  /// Returns the compute capability times 10: 90 for 9.0.
  int capability() const { return capabilityNumber; }
  /// Returns the number of streaming multiprocessors of the GPU.
  int multiprocessors() const { return multiprocessorCount; }

private:
  /// Sets `model`, `text`, `capabilityNumber` and `multiprocessorCount` from
  /// the driver's description of the GPU.
  Status describe();

  CudaDriver functions;
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUstream computeStream = nullptr;
  /// Resources that the destructor frees, in four lists:
  ///
  /// - `streams`: CUDA streams
  /// - `events`: CUDA events
  /// - `memory`: addresses of GPU memory
  /// - `pinned`: addresses of page-locked host memory
  std::vector<CUstream> streams;
  std::vector<CUevent> events;
  std::vector<CUdeviceptr> memory;
  std::vector<void *> pinned;
  /// Texts that describe the GPU. `model` is the model of the GPU, such as
  /// "NVIDIA H100 80GB HBM3". `text` is the name of the GPU in messages, such
  /// as "GPU 0 (NVIDIA H100 80GB HBM3, compute capability 9.0)".
  std::string model, text;
  int capabilityNumber = 0, multiprocessorCount = 0;
  /// Whether leaveToProcess() has been called. If the value is true, the
  /// destructor does not free the memory, the streams and the events of this
  /// object, because another thread may still use them. The operating system
  /// frees them when the process ends.
  bool isLeft = false;
};

/// Returns `data`, an address in GPU memory, as a CUdeviceptr, the type of
/// addresses in driver functions.
inline CUdeviceptr addressOf(const void *data) {
  return reinterpret_cast<CUdeviceptr>(data);
}

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDACONTEXT_H
