//===- GpuEnvironment.cpp - environment variables for CUDA and NCCL -------===//

#include "runtime/launch/rank/GpuEnvironment.h"

#include <cstdlib>
#include <string>

namespace pcc::runtime {

namespace {
/// Name and value of an environment variable to set.
struct Variable {
  const char *name, *value;
};
} // namespace

/// Values of environment variables that prevent a deadlock. A receive may begin
/// on the GPU of this rank long before another rank, the sender, sends the
/// data. The sender may need other data from this rank before it can send.
/// While the receive waits on the GPU, this rank must therefore be able to
/// execute other operations:
///
/// - CUDA_DEVICE_MAX_CONNECTIONS=32: The CUDA driver uses up to 32 hardware
///   queues. The receive and the other operations can then be in different
///   queues. In one common queue, an operation would wait until the receive has
///   ended.
/// - CUDA_LAUNCH_BLOCKING=0: The host starts an operation on the GPU, and does
///   not wait until the operation has ended. With the value 1, the host would
///   wait for the receive, and could not start other operations.
/// - NCCL_LAUNCH_ORDER_IMPLICIT=0: An operation of one communicator does not
///   wait for operations of other communicators, even if the host has started
///   them before.
/// - NCCL_COMM_SPLIT_SHARE_RESOURCES=0: A communicator that is made by
///   ncclCommSplit() does not share resources with the communicator from which
///   it was made. Otherwise, operations of the two communicators could wait for
///   each other.
static constexpr Variable always[] = {{"CUDA_DEVICE_MAX_CONNECTIONS", "32"},
                                      {"CUDA_LAUNCH_BLOCKING", "0"},
                                      {"NCCL_LAUNCH_ORDER_IMPLICIT", "0"},
                                      {"NCCL_COMM_SPLIT_SHARE_RESOURCES", "0"}};

/// Values of environment variables for several processes that share one GPU.
/// The processes take turns on the GPU: only one process executes its
/// operations at a time.
///
/// - NCCL_MAX_CTAS=1: An operation of NCCL occupies only one GPU thread block
///   while the operation waits for another process.
/// - NCCL_BUFFSIZE=8388608: NCCL uses buffers of 8 MiB, so that a process can
///   transfer much data in each turn.
/// - NCCL_ALGO=Ring, NCCL_PROTO=Simple: NCCL uses only the ring algorithm, and
///   only the protocol with the name Simple.
/// - NCCL_RAS_ENABLE=0: NCCL does not start its service that monitors the
///   ranks.
/// - All other variables: The ranks communicate only through sockets of the
///   loopback interface "lo". NCCL uses no other connections, such as NVLink,
///   shared memory or InfiniBand.
static constexpr Variable shared[] = {
    {"NCCL_SOCKET_IFNAME", "lo"},  {"NCCL_SOCKET_FAMILY", "AF_INET"},
    {"NCCL_NET", "Socket"},        {"NCCL_NET_PLUGIN", "none"},
    {"NCCL_IB_DISABLE", "1"},      {"NCCL_P2P_DISABLE", "1"},
    {"NCCL_SHM_DISABLE", "1"},     {"NCCL_MNNVL_ENABLE", "0"},
    {"NCCL_NVLS_ENABLE", "0"},     {"NCCL_COLLNET_ENABLE", "0"},
    {"NCCL_NET_GDR_LEVEL", "LOC"}, {"NCCL_ALGO", "Ring"},
    {"NCCL_PROTO", "Simple"},      {"NCCL_MAX_CTAS", "1"},
    {"NCCL_BUFFSIZE", "8388608"},  {"NCCL_RAS_ENABLE", "0"}};

void setGpuEnvironment(int rank, bool isShared) {
  for (const Variable &variable : always)
    setenv(variable.name, variable.value, /*overwrite=*/1);
  if (!isShared)
    return;
  for (const Variable &variable : shared)
    setenv(variable.name, variable.value, /*overwrite=*/0);
  setenv("NCCL_HOSTID", ("pcc-rank-" + std::to_string(rank)).c_str(),
         /*overwrite=*/0);
}

} // namespace pcc::runtime
