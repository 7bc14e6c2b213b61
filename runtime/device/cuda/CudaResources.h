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

/// Owns the GPU of one rank, the compiled kernels of the program, cuBLASLt,
/// cuDNN, and the scratch memory. The first calls of findKernel(), useCublas()
/// and useCudnn() load the kernels, cuBLASLt and cuDNN.
///
/// An operation is an object that executes one instruction of the program. All
/// operations execute one after another on one CUDA stream. All operations can
/// therefore use the same scratch memory and the same workspace of cuBLASLt.
class CudaResources {
public:
  /// Creates the resources without opening the GPU; the caller must then call
  /// context().open(). `bundle` is the directory in which the algorithms of
  /// cuBLASLt are stored.
  explicit CudaResources(std::string bundle) : bundle(std::move(bundle)) {}
  ~CudaResources();

  /// Returns the GPU of the rank.
  CudaContext &context() { return gpu; }

  /// Sets `function` to a kernel that is loaded onto the GPU and can be
  /// launched. `image` has the compiled kernels of the program that this rank
  /// executes. `kernel` is the index of the kernel in `image`. The first call
  /// loads the code of all kernels onto the GPU.
  ///
  /// Returns an error with exit code 13 (NoDevice) if the compute capability of
  /// the GPU is lower than the one for which the kernels were compiled.
  Status findKernel(const ProgramImage &image, int32_t kernel,
                    CUfunction &function);

  /// Opens cuBLASLt, creates its handle, and allocates its workspace (temporary
  /// GPU memory). Also reads the algorithms that cuBLASLt selected in earlier
  /// runs from a file in the bundle, so that this run uses the same algorithms.
  /// Only the first call does this work. Must be called before blas(),
  /// cublasHandle(), workspace() and algorithms(). Returns an error with exit
  /// code 13 (NoDevice) if cuBLASLt is absent.
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

  /// Returns an object that compiles and executes attention with cuDNN. The
  /// first call opens cuDNN, if cuDNN is installed. If cuDNN could not be
  /// opened, the object cannot compute attention. The functions findResult()
  /// and findGradients() of the object, which compile the attention, then
  /// return null.
  CudnnAttention &useCudnn();
  /// Returns an object that compiles and executes attention with cuDNN. This
  /// function does not open cuDNN. The caller must have called useCudnn(),
  /// which opens cuDNN and returns the same object.
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
  /// Loads the code of all kernels in `image` onto the GPU. `image` has the
  /// kernels of the program that this rank executes. `image` has PTX, and
  /// usually also machine code (cubin) for one compute capability. The function
  /// loads the machine code if the GPU can execute it. Otherwise the function
  /// loads the PTX, which the driver compiles for the GPU.
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

/// Type of a function that creates the operation for one instruction of the
/// program. An operation is an object. The function run() of the object
/// executes the instruction. There are several kinds of instructions, such as
/// matrix products and copies. Each kind that a GPU supports has its own
/// function of this type. For example, prepareMatmul() is the function for
/// matrix products. The parameters, in their order, are:
///
/// - the GPU and its libraries
/// - the program that contains the instruction, the compiled kernels of the
///   program, and the GPU addresses of the program's tensors
/// - the instruction
/// - a pointer, which the function sets to the new operation
using PrepareCuda = Status (*)(CudaResources &, const LoadContext &,
                               const program::InstructionT &,
                               std::unique_ptr<Operation> &);

/// Creates the operation for an instruction that launches a kernel. An
/// operation is an object whose run() executes one instruction of the program.
/// The kernel is GPU code that pcc has compiled.
///
/// Exception: if the kernel computes attention, and cuDNN supports this
/// attention, run() does not launch the kernel. cuDNN computes the attention
/// instead.
///
/// The parameters, in their order, are: the GPU and its libraries; the program
/// and the GPU addresses of the program's tensors; the instruction; and a
/// pointer, which the function sets to the new operation.
Status prepareKernel(CudaResources &, const LoadContext &,
                     const program::InstructionT &,
                     std::unique_ptr<Operation> &);
/// Creates the operation for an instruction that computes attention with cuDNN.
/// An instruction computes the result of the forward pass (Result), the
/// gradient of the query (QueryGradient), or the gradients of the key and the
/// value (KeyGradients). cuDNN computes the three gradients in one graph. The
/// operation for KeyGradients therefore computes all three, and the operation
/// for QueryGradient does nothing.
///
/// Returns null if cuDNN is absent or does not support this attention. The
/// caller must then use a compiled kernel.
std::unique_ptr<Operation> prepareAttention(CudaResources &,
                                            const LoadContext &,
                                            const program::AttentionT &);
/// Creates the operation for an instruction that computes a matrix product, or
/// a batch of products, with cuBLASLt:
///
///   c = activation(alpha * a b + bias) + residual
///
/// alpha is a number. Bias, activation and residual are optional. The bias has
/// one number per column of c. The residual is a matrix. Sets the last
/// parameter to the new operation.
Status prepareMatmul(CudaResources &, const LoadContext &,
                     const program::InstructionT &,
                     std::unique_ptr<Operation> &);
/// Creates the operation for an instruction that copies a tensor, or a part of
/// a tensor, to another tensor. An operation is an object whose run() executes
/// one instruction of the program. Both tensors are in GPU memory. The copied
/// elements must be contiguous in both tensors.
///
/// The parameters, in their order, are: the GPU and its libraries; the program
/// and the GPU addresses of the program's tensors; the instruction; and a
/// pointer, which the function sets to the new operation.
Status prepareCopy(CudaResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);
/// Creates the operation for an instruction that sets all elements of a tensor
/// to one value. An operation is an object whose run() executes one instruction
/// of the program. The tensor is in GPU memory.
///
/// The parameters, in their order, are: the GPU and its libraries; the program
/// and the GPU addresses of the program's tensors; the instruction; and a
/// pointer, which the function sets to the new operation.
Status prepareFill(CudaResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);

/// Enqueues work on the GPU that generates elements of a random tensor in the
/// GPU memory `to`. Does not wait for the work. The value of an element depends
/// only on the index in the tensor and on `key`, a hash of the random seed and
/// of the tensor's name. `kernel` is the index of the kernel that generates
/// elements. `copies` are loop nests, and each iteration generates one element.
/// The source index is the index of the element in the tensor. The target index
/// is the index of the element in `to`.
Status makeRandom(CudaResources &, const ProgramImage &, int32_t kernel,
                  uint64_t key, std::span<const StridedCopy> copies, void *to);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDARESOURCES_H
