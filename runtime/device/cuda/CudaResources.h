//===- CudaResources.h - what the operations of one rank share ------------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDARESOURCES_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDARESOURCES_H

#include "runtime/device/AlgorithmCache.h"
#include "runtime/device/Device.h"
#include "runtime/device/cuda/CublasLibrary.h"
#include "runtime/device/cuda/CudaContext.h"
#include "runtime/device/cuda/CudnnAttention.h"

#include <algorithm>

namespace pcc::runtime {

/// A GPU with a program's kernels, with cuBLASLt and cuDNN, each loaded when
/// the first instruction asks for it.
class CudaResources {
public:
  /// `bundle` is the folder where algorithms are kept.
  explicit CudaResources(std::string bundle) : bundle(std::move(bundle)) {}
  ~CudaResources();

  CudaContext &context() { return gpu; }

  /// The function of a kernel of the program.
  Status findKernel(const ProgramImage &image, int32_t kernel,
                    CUfunction &function);

  /// cuBLASLt, ready; its products share one workspace.
  Status useCublas();
  const CublasLibrary &blas() const { return library; }
  cublasLtHandle_t cublasHandle() const { return handle; }
  void *workspace() const { return workspaceData; }
  /// As its documentation wants it: more for GPUs from Hopper on.
  size_t workspaceBytes() const {
    return size_t(gpu.capability() >= 90 ? 32 : 4) << 20;
  }
  AlgorithmCache &algorithms() { return algorithmCache; }

  /// cuDNN, opened if it is there.
  CudnnAttention &useCudnn();
  CudnnAttention &attention() { return dnn; }
  /// Asks for bytes that an operation may use while it runs; allocateScratch()
  /// makes them, once all have asked.
  void reserve(int64_t bytes) { scratchBytes = std::max(scratchBytes, bytes); }
  Status allocateScratch();
  char *scratch() const { return static_cast<char *>(scratchData); }

private:
  Status loadCode(const ProgramImage &image);

  std::string bundle;
  CudaContext gpu;
  CUmodule code = nullptr;
  CublasLibrary library;
  cublasLtHandle_t handle = nullptr;
  void *workspaceData = nullptr;
  AlgorithmCache algorithmCache;
  CudnnAttention dnn;
  bool isCudnnAsked = false;
  int64_t scratchBytes = 0;
  void *scratchData = nullptr;
};

/// Whether a buffer may be written before the first step: nothing is in it yet.
inline bool isInArena(const LoadContext &context, int32_t buffer) {
  return context.program.buffers[size_t(buffer)]->memory ==
         program::Memory::Arena;
}

/// Makes one kind of instruction ready; one function per kind, in the file
/// named after it.
using PrepareCuda = Status (*)(CudaResources &, const LoadContext &,
                               const program::InstructionT &,
                               std::unique_ptr<Operation> &);

Status prepareKernel(CudaResources &, const LoadContext &,
                     const program::InstructionT &,
                     std::unique_ptr<Operation> &);
/// Null where cuDNN does not compute that.
std::unique_ptr<Operation> prepareAttention(CudaResources &,
                                            const LoadContext &,
                                            const program::AttentionT &);
Status prepareMatmul(CudaResources &, const LoadContext &,
                     const program::InstructionT &,
                     std::unique_ptr<Operation> &);
Status prepareCopy(CudaResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);
Status prepareFill(CudaResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);

/// Begins Device::generate().
Status makeRandom(CudaResources &, const ProgramImage &, int32_t kernel,
                  uint64_t key, std::span<const StridedCopy> copies, void *to);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDARESOURCES_H
