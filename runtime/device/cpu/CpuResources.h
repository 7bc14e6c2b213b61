//===- CpuResources.h - what the operations of one rank share -------------===//

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

/// Threads, oneDNN's engine, and memory that one operation uses at a time.
class CpuResources {
public:
  explicit CpuResources(int numThreads);
  ~CpuResources();

  const ThreadTeam &threads() const { return team; }
  dnnl::engine &engine() { return *dnnlEngine; }
  dnnl::stream &stream() { return *dnnlStream; }

  /// Asks for scratch of at least this many bytes; valid after
  /// allocateScratch().
  void reserveScratch(size_t bytes);
  void allocateScratch();
  void *scratch() const { return scratchData; }

  CpuResources(const CpuResources &) = delete;
  CpuResources &operator=(const CpuResources &) = delete;

private:
  ThreadTeam team;
  std::unique_ptr<dnnl::engine> dnnlEngine;
  std::unique_ptr<dnnl::stream> dnnlStream;
  size_t scratchBytes = 0;
  void *scratchData = nullptr;
};

/// Makes one kind of instruction ready; one function per kind, in the file
/// named after it.
using Prepare = Status (*)(CpuResources &, const LoadContext &,
                           const program::InstructionT &,
                           std::unique_ptr<Operation> &);

Status prepareKernel(CpuResources &, const LoadContext &,
                     const program::InstructionT &,
                     std::unique_ptr<Operation> &);
Status prepareMatmul(CpuResources &, const LoadContext &,
                     const program::InstructionT &,
                     std::unique_ptr<Operation> &);
Status prepareConv(CpuResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);
Status preparePool(CpuResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);
Status prepareCopy(CpuResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);
Status prepareFill(CpuResources &, const LoadContext &,
                   const program::InstructionT &, std::unique_ptr<Operation> &);
Status prepareHostOp(CpuResources &, const LoadContext &,
                     const program::InstructionT &,
                     std::unique_ptr<Operation> &);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_CPURESOURCES_H
