//===- GpuEnvironment.h - environment variables for CUDA and NCCL ---------===//

#ifndef PCC_RUNTIME_LAUNCH_RANK_GPUENVIRONMENT_H
#define PCC_RUNTIME_LAUNCH_RANK_GPUENVIRONMENT_H

namespace pcc::runtime {

/// Sets environment variables of the CUDA driver and NCCL; must be called
/// before their first use. A variable of the user is overwritten only if it may
/// cause a deadlock.
///
/// With `isShared`, several ranks share one GPU. Each rank then gets its own
/// NCCL_HOSTID, derived from `rank`, because NCCL accepts a shared GPU only on
/// different hosts. The ranks communicate through loopback sockets, which is
/// slow.
void setGpuEnvironment(int rank, bool isShared);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RANK_GPUENVIRONMENT_H
