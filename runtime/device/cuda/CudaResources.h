//===- CudaResources.h - resources that a rank's GPU operations share -----===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDARESOURCES_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDARESOURCES_H

#include "runtime/device/AlgorithmCache.h"
#include "runtime/device/Device.h"
#include "runtime/device/cuda/CublasLibrary.h"
#include "runtime/device/cuda/CudaContext.h"
#include "runtime/device/cuda/CudnnAttention.h"

#include <algorithm>

namespace pcc::runtime {

/// The GPU of one rank, the kernels of its program, cuBLASLt, cuDNN, and
/// scratch memory. Kernels and libraries are loaded when an instruction first
/// needs them, while the program is loaded. Operations run in order on one
/// stream, so a single workspace and a single scratch serve all of them.
class CudaResources {
public:
  /// Creates the resources without opening the GPU; call context().open() next.
  /// `bundle` is the folder that keeps the algorithms of cuBLASLt.
  explicit CudaResources(std::string bundle) : bundle(std::move(bundle)) {}
  ~CudaResources();

  /// Returns the GPU.
  CudaContext &context() { return gpu; }

  /// Sets `function` to a kernel of the program, ready to launch without
  /// further loading. `kernel` is the kernel's number in the program. The first
  /// call loads the code of all kernels; exit code 13 if the GPU is too old for
  /// it.
  Status findKernel(const ProgramImage &image, int32_t kernel,
                    CUfunction &function);

  /// Opens cuBLASLt, its workspace and the cache of algorithms on the first
  /// call. The functions below require it. Exit code 13 if the library is
  /// absent.
  Status useCublas();
  /// Returns the functions of cuBLASLt.
  const CublasLibrary &blas() const { return library; }
  /// Returns the handle of cuBLASLt.
  cublasLtHandle_t cublasHandle() const { return handle; }
  /// Returns the workspace that all products share.
  void *workspace() const { return workspaceData; }
  /// Returns the size of the workspace in bytes. NVIDIA recommends 32 MiB for
  /// GPUs from Hopper on, and 4 MiB for older ones.
  size_t workspaceBytes() const {
    return size_t(gpu.capability() >= 90 ? 32 : 4) << 20;
  }
  /// Returns the algorithms that cuBLASLt selected in this run and in earlier
  /// ones.
  AlgorithmCache &algorithms() { return algorithmCache; }

  /// Opens cuDNN on the first call, if it is installed, and returns it. Without
  /// cuDNN the returned object finds no plans.
  CudnnAttention &useCudnn();
  /// Returns cuDNN as useCudnn() has opened it.
  CudnnAttention &attention() { return dnn; }
  /// Requests scratch memory of at least `bytes` bytes for one operation. Must
  /// precede allocateScratch().
  void reserve(int64_t bytes) { scratchBytes = std::max(scratchBytes, bytes); }
  /// Allocates scratch memory of the largest requested size. Called once, after
  /// the last instruction is prepared.
  Status allocateScratch();
  /// Returns the scratch memory, whose contents are undefined when an operation
  /// begins. Null before allocateScratch() or if nothing was requested.
  char *scratch() const { return static_cast<char *>(scratchData); }

private:
  /// Loads the program's kernels onto the GPU: the machine code if it is made
  /// for this generation of GPUs, otherwise the PTX.
  Status loadCode(const ProgramImage &image);

  std::string bundle;
  CudaContext gpu;
  /// The loaded kernels; null before the first findKernel().
  CUmodule code = nullptr;
  CublasLibrary library;
  /// Handle of cuBLASLt; null before useCublas().
  cublasLtHandle_t handle = nullptr;
  void *workspaceData = nullptr;
  AlgorithmCache algorithmCache;
  CudnnAttention dnn;
  /// Whether useCudnn() was called.
  bool isCudnnAsked = false;
  /// Largest requested size of the scratch memory, in bytes.
  int64_t scratchBytes = 0;
  void *scratchData = nullptr;
};

/// Returns whether a buffer is in the arena. Arena buffers hold no data before
/// the first step, so a warm-up may overwrite them, unlike parameters and
/// constants.
inline bool isInArena(const LoadContext &context, int32_t buffer) {
  return context.program.buffers[size_t(buffer)]->memory ==
         program::Memory::Arena;
}

/// Function that prepares the operations of one kind of instruction. Each
/// function is in the source file that is named after its kind.
using PrepareCuda = Status (*)(CudaResources &, const LoadContext &,
                               const program::InstructionT &,
                               std::unique_ptr<Operation> &);

/// Prepares a launch of a kernel that pcc has compiled. If the kernel computes
/// attention and cuDNN can do that, prepares a call of cuDNN instead.
Status prepareKernel(CudaResources &, const LoadContext &,
                     const program::InstructionT &,
                     std::unique_ptr<Operation> &);
/// Prepares attention by cuDNN. Returns null if cuDNN is absent or has no
/// engine for it; the kernel must then be launched.
std::unique_ptr<Operation> prepareAttention(CudaResources &,
                                            const LoadContext &,
                                            const program::AttentionT &);
/// Prepares a matrix product by cuBLASLt.
Status prepareMatmul(CudaResources &, const LoadContext &,
                     const program::InstructionT &,
                     std::unique_ptr<Operation> &);
/// Prepares a copy of contiguous elements between two buffers.
Status prepareCopy(CudaResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);
/// Prepares an operation that fills a buffer with one element.
Status prepareFill(CudaResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);

/// Implements Device::generate(): enqueues launches of a generator kernel.
Status makeRandom(CudaResources &, const ProgramImage &, int32_t kernel,
                  uint64_t key, std::span<const StridedCopy> copies, void *to);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDARESOURCES_H
