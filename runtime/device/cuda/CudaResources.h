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

/// The GPU of one rank, the kernels of its program, cuBLASLt, cuDNN and scratch
/// memory. Kernels and libraries are loaded when first needed. Operations run
/// in order on one stream, so they share one cuBLASLt workspace and one scratch
/// memory.
class CudaResources {
public:
  /// Creates the resources without opening the GPU; the caller must then call
  /// context().open(). `bundle` is the directory in which the algorithms of
  /// cuBLASLt are stored.
  explicit CudaResources(std::string bundle) : bundle(std::move(bundle)) {}
  ~CudaResources();

  /// Returns the GPU of the rank.
  CudaContext &context() { return gpu; }

  /// Sets `function` to the kernel with index `kernel` in the program `image`,
  /// ready to launch. The first call loads the code of all kernels. Exit code
  /// 13 (NoDevice) if the GPU is too old for the code.
  Status findKernel(const ProgramImage &image, int32_t kernel,
                    CUfunction &function);

  /// Opens cuBLASLt, allocates its workspace, and reads a file of algorithms
  /// that earlier runs selected. Later calls do nothing. Must be called before
  /// blas(), cublasHandle(), workspace() and algorithms(). Exit code 13
  /// (NoDevice) if cuBLASLt is absent.
  Status useCublas();
  /// Returns the functions of cuBLASLt.
  const CublasLibrary &blas() const { return library; }
  /// Returns the handle of cuBLASLt, with which its functions are called.
  cublasLtHandle_t cublasHandle() const { return handle; }
  /// Returns the GPU memory that cuBLASLt may use as scratch in each matrix
  /// product.
  void *workspace() const { return workspaceData; }
  /// Returns the size, in bytes, of the GPU memory that cuBLASLt uses as
  /// scratch. NVIDIA recommends 32 MiB for GPUs since Hopper (compute
  /// capability 9.0), and 4 MiB for older ones.
  size_t workspaceBytes() const {
    return size_t(gpu.capability() >= 90 ? 32 : 4) << 20;
  }
  /// Returns the cache of the algorithms that cuBLASLt selected in this run and
  /// in earlier runs.
  AlgorithmCache &algorithms() { return algorithmCache; }

  /// Opens cuDNN on the first call, if it is installed. Returns the object that
  /// finds plans (compiled cuDNN graphs) for attention. Without cuDNN, the
  /// object finds no plans.
  CudnnAttention &useCudnn();
  /// Returns the object that finds cuDNN plans, without opening cuDNN. Until
  /// useCudnn() is called, the object finds no plans.
  CudnnAttention &attention() { return dnn; }
  /// Requests `bytes` bytes of scratch memory in GPU memory for one operation.
  /// All operations share the scratch memory, so allocateScratch() later
  /// allocates the largest request.
  void reserve(int64_t bytes) { scratchBytes = std::max(scratchBytes, bytes); }
  /// Allocates scratch memory of the largest size that was requested. Called
  /// once, after the last instruction is prepared.
  Status allocateScratch();
  /// Returns the scratch memory in GPU memory. Each operation overwrites it, so
  /// its contents are undefined when an operation begins. Null before
  /// allocateScratch() or if nothing was requested.
  char *scratch() const { return static_cast<char *>(scratchData); }

private:
  /// Loads the program's kernels onto the GPU. Loads the machine code (cubin)
  /// if it is compiled for this generation of GPUs, otherwise the PTX.
  Status loadCode(const ProgramImage &image);

  std::string bundle;
  CudaContext gpu;
  /// Module with the loaded kernels; null before the first findKernel().
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

/// Returns whether the buffer with index `buffer` is in the arena (memory of
/// intermediate results). A warm-up may overwrite only arena buffers.
inline bool isInArena(const LoadContext &context, int32_t buffer) {
  return context.program.buffers[size_t(buffer)]->memory ==
         program::Memory::Arena;
}

/// Function that creates the operations of one kind of instruction. For
/// example, prepareMatmul() is in Matmul.cpp.
using PrepareCuda = Status (*)(CudaResources &, const LoadContext &,
                               const program::InstructionT &,
                               std::unique_ptr<Operation> &);

/// Creates the operation that launches a kernel that pcc has compiled.
/// Attention that cuDNN supports is computed by cuDNN instead.
Status prepareKernel(CudaResources &, const LoadContext &,
                     const program::InstructionT &,
                     std::unique_ptr<Operation> &);
/// Creates the operation that computes attention with cuDNN. Returns null if
/// cuDNN is absent or has no engine for this attention. The caller must then
/// launch the program's kernel.
std::unique_ptr<Operation> prepareAttention(CudaResources &,
                                            const LoadContext &,
                                            const program::AttentionT &);
/// Creates the operation of a matrix product by cuBLASLt.
Status prepareMatmul(CudaResources &, const LoadContext &,
                     const program::InstructionT &,
                     std::unique_ptr<Operation> &);
/// Creates the operation that copies contiguous elements from one buffer to
/// another.
Status prepareCopy(CudaResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);
/// Creates the operation that sets all elements of a buffer to one value.
Status prepareFill(CudaResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);

/// Implements QueuedDevice::generate(): enqueues launches of the generator
/// kernel with index `kernel`, which write random elements to `to`.
Status makeRandom(CudaResources &, const ProgramImage &, int32_t kernel,
                  uint64_t key, std::span<const StridedCopy> copies, void *to);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDARESOURCES_H
