//===- GpuEnvironment.h - what NVIDIA's libraries are told ----------------===//

#ifndef PCC_RUNTIME_LAUNCH_RANK_GPUENVIRONMENT_H
#define PCC_RUNTIME_LAUNCH_RANK_GPUENVIRONMENT_H

namespace pcc::runtime {

/// Sets the variables that the driver and NCCL read when they are first used.
/// What the user has set stays, but for what a run would hang without.
/// `isShared`: several ranks have one GPU, which NCCL only lets pass if each
/// seems to be on a host of its own; they meet over sockets of the loopback
/// then, as slowly as that is.
void setGpuEnvironment(int rank, bool isShared);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RANK_GPUENVIRONMENT_H
