//===- CpuResources.h - resources that a rank's CPU operations share ------===//

#ifndef PCC_RUNTIME_DEVICE_CPU_CPURESOURCES_H
#define PCC_RUNTIME_DEVICE_CPU_CPURESOURCES_H

#include "runtime/device/Device.h"
#include "runtime/device/cpu/ThreadTeam.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace dnnl {
// Declarations of two classes of oneDNN. The names of oneDNN's classes begin
// with lower-case letters. pcc's naming rules require upper-case letters. The
// next comment therefore tells clang-tidy not to check these two names.
// NOLINTBEGIN(readability-identifier-naming)
struct engine;
struct stream;
// NOLINTEND(readability-identifier-naming)
} // namespace dnnl

namespace pcc::runtime {

/// Threads, oneDNN engine, oneDNN stream and scratch memory that all operations
/// of one rank share. An operation executes one instruction of the program.
/// Only one operation runs at a time, so all use the same scratch memory, which
/// holds temporary data. The calls must have this order:
///
///   reserveScratch(bytes)   for each operation, when the operation is created
///   allocateScratch()       once, after all operations have been created
///   scratch()               when an operation runs
class CpuResources {
public:
  /// Creates a team of `numThreads` threads, the oneDNN engine and the oneDNN
  /// stream. The team includes the thread that calls this constructor.
  ///
  /// The constructor also tells oneDNN to use `numThreads` threads. The team
  /// and oneDNN use the same threads. The setting applies only to calls of
  /// oneDNN by the thread that calls this constructor. In a call by another
  /// thread, oneDNN may use another number of threads.
  explicit CpuResources(int numThreads);
  ~CpuResources();

  /// Returns the thread team of this rank.
  const ThreadTeam &threads() const { return team; }
  /// Returns the oneDNN engine, an engine of kind CPU.
  dnnl::engine &engine() { return *dnnlEngine; }
  /// Returns the oneDNN stream on which all primitives are executed.
  dnnl::stream &stream() { return *dnnlStream; }

  /// Requests at least `bytes` bytes of scratch memory for one operation.
  /// Scratch memory is memory for temporary data. All operations use the same
  /// scratch memory, one after another. allocateScratch() later allocates the
  /// scratch memory, with the size of the largest request. Must not be called
  /// after allocateScratch().
  void reserveScratch(size_t bytes);
  /// Allocates the scratch memory, which is memory for temporary data of the
  /// operations. Earlier calls of reserveScratch() have requested sizes. The
  /// scratch memory gets the largest of these sizes. For example, after
  /// reserveScratch(100) and reserveScratch(500), the function allocates at
  /// least 500 bytes. If no size was requested, the function allocates nothing.
  /// Returns an error with exit code 13 (NoDevice) if the host has not enough
  /// memory.
  Status allocateScratch();
  /// Returns the address of the scratch memory, which is memory for temporary
  /// data of the operations. The address is a multiple of kAlignment. All
  /// operations use the same scratch memory, one after another. When an
  /// operation begins, the contents of the scratch memory are therefore
  /// undefined.
  ///
  /// Returns null before allocateScratch() is called. Also returns null if no
  /// operation has requested scratch memory with reserveScratch().
  void *scratch() const { return scratchData; }

  CpuResources(const CpuResources &) = delete;
  CpuResources &operator=(const CpuResources &) = delete;

private:
  ThreadTeam team;
  std::unique_ptr<dnnl::engine> dnnlEngine;
  std::unique_ptr<dnnl::stream> dnnlStream;
  /// Largest requested size of the scratch memory, in bytes.
  size_t scratchBytes = 0;
  void *scratchData = nullptr;
};

/// Function that creates the operations of one kind of instruction. For
/// example, prepareMatmul() is in Matmul.cpp. A function may throw dnnl::error,
/// which CpuDevice::prepare() converts to a Status.
using Prepare = Status (*)(CpuResources &, const LoadContext &,
                           const program::InstructionT &,
                           std::unique_ptr<Operation> &);

/// Creates the operation that calls a kernel that pcc has compiled.
Status prepareKernel(CpuResources &, const LoadContext &,
                     const program::InstructionT &,
                     std::unique_ptr<Operation> &);
/// Creates the operation of a matrix product.
Status prepareMatmul(CpuResources &, const LoadContext &,
                     const program::InstructionT &,
                     std::unique_ptr<Operation> &);
/// Creates the operation of a convolution or a transposed convolution.
Status prepareConv(CpuResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);
/// Creates the operation of a maximum or average pool.
Status preparePool(CpuResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);
/// Creates the operation of a strided copy between two buffers.
Status prepareCopy(CpuResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);
/// Creates the operation that sets all elements of a buffer to one value.
Status prepareFill(CpuResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);
/// Creates the operation of a HostOp instruction: a rare op, such as top_k,
/// with a hand-written loop.
Status prepareHostOp(CpuResources &, const LoadContext &,
                     const program::InstructionT &,
                     std::unique_ptr<Operation> &);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_CPURESOURCES_H
