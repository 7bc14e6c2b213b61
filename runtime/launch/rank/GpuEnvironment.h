//===- GpuEnvironment.h - environment variables for CUDA and NCCL ---------===//

#ifndef PCC_RUNTIME_LAUNCH_RANK_GPUENVIRONMENT_H
#define PCC_RUNTIME_LAUNCH_RANK_GPUENVIRONMENT_H

namespace pcc::runtime {

/// Sets environment variables that control the CUDA driver and NCCL. The caller
/// must call the function before the first call of CUDA or NCCL. `rank` is the
/// rank of this process. A variable may have a value already, which the user
/// has set. The function replaces this value only if the value could cause a
/// deadlock.
///
/// If `isShared` is true, several ranks may use the same GPU. NCCL normally
/// refuses two ranks that use the same GPU of one host. The function therefore
/// sets the variable NCCL_HOSTID to a different host name on each rank, such as
/// "pcc-rank-3" on rank 3. NCCL then treats each rank as if the rank were on
/// its own host. The ranks communicate through sockets of the loopback
/// interface, which is slow.
void setGpuEnvironment(int rank, bool isShared);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_RANK_GPUENVIRONMENT_H
