//===- CpuResources.h - resources that a rank's CPU operations share ------===//

#ifndef PCC_RUNTIME_DEVICE_CPU_CPURESOURCES_H
#define PCC_RUNTIME_DEVICE_CPU_CPURESOURCES_H

#include "runtime/device/Device.h"
#include "runtime/device/cpu/ThreadTeam.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace dnnl {
struct engine;
struct stream;
} // namespace dnnl

namespace pcc::runtime {

/// Thread team, oneDNN engine and scratch memory of one rank. Operations run
/// one at a time, so a single scratch of the largest requested size serves all
/// of them:
///
///   reserveScratch() …    while instructions are prepared
///   allocateScratch()     once, after the last instruction is prepared
///   scratch()             while an operation runs
class CpuResources {
public:
  /// Creates a team of `numThreads` threads, which oneDNN uses, too, when the
  /// calling thread calls it.
  explicit CpuResources(int numThreads);
  ~CpuResources();

  /// Returns the threads of this rank.
  const ThreadTeam &threads() const { return team; }
  /// Returns the oneDNN engine, which is that of the CPU.
  dnnl::engine &engine() { return *dnnlEngine; }
  /// Returns the oneDNN stream on which all primitives are executed.
  dnnl::stream &stream() { return *dnnlStream; }

  /// Requests scratch memory of at least `bytes` bytes for one operation. Must
  /// precede allocateScratch().
  void reserveScratch(size_t bytes);
  /// Allocates scratch memory of the largest requested size; none if nothing
  /// was requested.
  void allocateScratch();
  /// Returns the scratch memory, aligned to kAlignment. Its contents are
  /// undefined when an operation begins. Null before allocateScratch().
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

/// Function that prepares the operations of one kind of instruction. Each
/// function is in the source file that is named after its kind. A function may
/// throw dnnl::error, which the device turns into a Status.
using Prepare = Status (*)(CpuResources &, const LoadContext &,
                           const program::InstructionT &,
                           std::unique_ptr<Operation> &);

/// Prepares a call of a kernel that pcc has compiled.
Status prepareKernel(CpuResources &, const LoadContext &,
                     const program::InstructionT &,
                     std::unique_ptr<Operation> &);
/// Prepares a matrix product.
Status prepareMatmul(CpuResources &, const LoadContext &,
                     const program::InstructionT &,
                     std::unique_ptr<Operation> &);
/// Prepares a convolution or a transposed convolution.
Status prepareConv(CpuResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);
/// Prepares a maximum or average over windows.
Status preparePool(CpuResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);
/// Prepares a strided copy between two buffers.
Status prepareCopy(CpuResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);
/// Prepares an operation that fills a buffer with one element.
Status prepareFill(CpuResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);
/// Prepares an op that has no kind of instruction of its own and is found by
/// name (HostOps.h).
Status prepareHostOp(CpuResources &, const LoadContext &,
                     const program::InstructionT &,
                     std::unique_ptr<Operation> &);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_CPURESOURCES_H
