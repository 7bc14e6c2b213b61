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

/// Environment variables that prevent a deadlock. A receive may wait on the GPU
/// while its sender needs other data from this rank. Other operations must be
/// able to run during the receive.
///
/// - CUDA_DEVICE_MAX_CONNECTIONS: other operations use other hardware queues.
/// - CUDA_LAUNCH_BLOCKING: the host does not wait for the receive.
/// - NCCL_LAUNCH_ORDER_IMPLICIT: communicators do not wait for each other.
/// - NCCL_COMM_SPLIT_SHARE_RESOURCES: a communicator from ncclCommSplit()
///   shares no resources with its parent, and does not wait for its parent.
static constexpr Variable always[] = {{"CUDA_DEVICE_MAX_CONNECTIONS", "32"},
                                      {"CUDA_LAUNCH_BLOCKING", "0"},
                                      {"NCCL_LAUNCH_ORDER_IMPLICIT", "0"},
                                      {"NCCL_COMM_SPLIT_SHARE_RESOURCES", "0"}};

/// Environment variables for several processes that share one GPU. Only one
/// process executes its operations at a time. The processes communicate only
/// through sockets of the loopback interface "lo".
///
/// - NCCL_MAX_CTAS: a waiting NCCL operation occupies only one thread block.
/// - NCCL_BUFFSIZE: with 8 MiB, a process transfers much data in each turn.
/// - NCCL_RAS_ENABLE: NCCL does not start its service that monitors the ranks.
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
