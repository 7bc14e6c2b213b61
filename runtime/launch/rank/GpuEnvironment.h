//===- GpuEnvironment.h - environment variables for CUDA and NCCL ---------===//

#ifndef PCC_RUNTIME_LAUNCH_RANK_GPUENVIRONMENT_H
#define PCC_RUNTIME_LAUNCH_RANK_GPUENVIRONMENT_H

namespace pcc::runtime {

/// Sets the environment variables that the CUDA driver and NCCL read when they
/// are first used; must be called before their first use. A variable that the
/// user has set is overwritten only if a run may deadlock with the user's
/// value.
///
/// With `isShared`, several ranks share one GPU. NCCL accepts that only if the
/// ranks seem to be on different hosts. Each rank therefore gets its own
/// NCCL_HOSTID, derived from `rank`. The ranks then communicate through
/// loopback sockets, which is slow.
void setGpuEnvironment(int rank, bool isShared);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RANK_GPUENVIRONMENT_H
