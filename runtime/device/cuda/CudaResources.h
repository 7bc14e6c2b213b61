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
  /// Returns the cache of cuBLASLt's algorithms. For each matrix product, the
  /// cache stores the algorithm that cuBLASLt selected. A file in the bundle
  /// keeps the cache, so that each later run of the bundle uses the same
  /// algorithms.
  AlgorithmCache &algorithms() { return algorithmCache; }

  /// Opens cuDNN on the first call, if it is installed. Returns the object that
  /// finds plans (compiled cuDNN graphs) for attention. Without cuDNN, the
  /// object finds no plans.
  CudnnAttention &useCudnn();
  /// Returns the object that computes attention with cuDNN. In contrast to
  /// useCudnn(), this function does not open cuDNN. Before useCudnn() is
  /// called, the object cannot compute attention: the functions findResult()
  /// and findGradients() of the object return null.
  CudnnAttention &attention() { return dnn; }
  /// Requests `bytes` bytes of scratch memory in GPU memory for one operation.
  /// All operations share the scratch memory, so allocateScratch() later
  /// allocates the largest request.
  void reserve(int64_t bytes) { scratchBytes = std::max(scratchBytes, bytes); }
  /// Allocates the scratch memory: temporary GPU memory that all operations
  /// share. The size is the largest number of bytes that a reserve() call has
  /// requested. Allocates nothing if reserve() has not been called. Must be
  /// called once, after all reserve() calls.
  Status allocateScratch();
  /// Returns the address of the scratch memory: temporary GPU memory that all
  /// operations share. An operation is the object that executes one instruction
  /// of the program. Each operation may overwrite the scratch memory, so its
  /// contents are undefined when an operation begins. Returns null before
  /// allocateScratch(), or if reserve() has not requested any bytes.
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
  /// Whether useCudnn() has been called. The first call of useCudnn() tries to
  /// open cuDNN. Later calls do not try again, even if the first call could not
  /// open cuDNN.
  bool isCudnnAsked = false;
  /// Largest number of bytes that a reserve() call has requested.
  /// allocateScratch() allocates this number of bytes as scratch memory
  /// (temporary GPU memory that all operations share).
  int64_t scratchBytes = 0;
  void *scratchData = nullptr;
};

/// Returns whether the buffer with index `buffer` is in the arena. The arena is
/// the memory of intermediate results. The other buffers contain parameters
/// (such as weights) and constants. `context.program` has the list of all
/// buffers.
///
/// Overrides of Operation::warmUp() call this function. Before the first step,
/// warmUp() executes an operation once, so that libraries load their code. The
/// execution overwrites the outputs of the operation. warmUp() therefore
/// executes the operation only if all outputs are in the arena. If an output
/// were in other memory, the execution could overwrite a weight.
inline bool isInArena(const LoadContext &context, int32_t buffer) {
  return context.program.buffers[size_t(buffer)]->memory ==
         program::Memory::Arena;
}

/// Function that creates an operation. An operation is an object whose run()
/// executes one instruction of the program. There is one function for each kind
/// of instruction. For example, prepareMatmul() is the function for matrix
/// products. The parameters, in their order, are:
///
/// - the GPU and its libraries
/// - the program that contains the instruction, and the addresses of its
///   buffers
/// - the instruction
/// - the result: a pointer that the function sets to the new operation
using PrepareCuda = Status (*)(CudaResources &, const LoadContext &,
                               const program::InstructionT &,
                               std::unique_ptr<Operation> &);

/// Creates the operation for a Kernel instruction. An operation is an object
/// whose run() executes one instruction of the program. The operation launches
/// a kernel that pcc has compiled. There is one exception: if the kernel
/// computes attention and cuDNN supports this attention, prepareAttention()
/// creates an operation that uses cuDNN, and the kernel is not launched.
/// PrepareCuda explains the parameters.
Status prepareKernel(CudaResources &, const LoadContext &,
                     const program::InstructionT &,
                     std::unique_ptr<Operation> &);
/// Creates the operation that computes an attention with cuDNN. An operation is
/// an object whose run() executes one instruction of the program. PrepareCuda
/// explains the first two parameters. The third parameter describes the
/// attention: its shapes, its buffers, and whether the instruction is part of
/// the forward or of the backward pass. Returns null if cuDNN is absent or does
/// not support this attention. The caller must then compute the attention with
/// the kernel that pcc has compiled.
///
/// The backward pass has two instructions: one for the gradient of the query,
/// and one for the gradients of key and value. cuDNN computes the three
/// gradients together. The operation of the second instruction therefore
/// computes all three gradients. The operation of the first instruction does
/// nothing.
std::unique_ptr<Operation> prepareAttention(CudaResources &,
                                            const LoadContext &,
                                            const program::AttentionT &);
/// Creates the operation for a Matmul instruction. An operation is an object
/// whose run() executes one instruction of the program. The operation uses
/// cuBLASLt to compute c = activation(alpha * a b + bias) + residual. Bias,
/// activation and residual are optional. PrepareCuda explains the parameters.
Status prepareMatmul(CudaResources &, const LoadContext &,
                     const program::InstructionT &,
                     std::unique_ptr<Operation> &);
/// Creates the operation for a Copy instruction. An operation is an object
/// whose run() executes one instruction of the program. The operation copies
/// contiguous elements from one buffer to another. Both buffers are in GPU
/// memory. PrepareCuda explains the parameters.
Status prepareCopy(CudaResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);
/// Creates the operation for a Fill instruction. An operation is an object
/// whose run() executes one instruction of the program. The operation sets all
/// elements of a buffer in GPU memory to one value. PrepareCuda explains the
/// parameters.
Status prepareFill(CudaResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);

/// Begins to generate elements of a random tensor, and stores the elements in
/// the GPU memory `to`. The elements are computed by a kernel that pcc has
/// compiled. The value of an element depends only on `key` and on the index of
/// the element in the whole tensor. The parameters are:
///
/// - the first parameter: the GPU and its libraries
/// - the second parameter: the compiled kernels of the program
/// - `kernel`: index of the kernel that generates the elements
/// - `key`: hash of the random seed and of the tensor's name
/// - `copies`: loop nests that select the elements, and their places in `to`.
///   For example, a loop nest can generate rows 2 and 3 of a 4x8 tensor, and
///   store the two rows at the beginning of `to`.
Status makeRandom(CudaResources &, const ProgramImage &, int32_t kernel,
                  uint64_t key, std::span<const StridedCopy> copies, void *to);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDARESOURCES_H
