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

/// Variables that prevent deadlocks. A receive that is posted early occupies
/// the GPU until the peer sends. Other work of this rank must not wait for the
/// receive:
///
/// - CUDA_DEVICE_MAX_CONNECTIONS: work and receive get different hardware
///   queues.
/// - CUDA_LAUNCH_BLOCKING: the host launches work without waiting.
/// - NCCL_LAUNCH_ORDER_IMPLICIT, NCCL_COMM_SPLIT_SHARE_RESOURCES: communicators
///   do not wait for each other.
static constexpr Variable always[] = {{"CUDA_DEVICE_MAX_CONNECTIONS", "32"},
                                      {"CUDA_LAUNCH_BLOCKING", "0"},
                                      {"NCCL_LAUNCH_ORDER_IMPLICIT", "0"},
                                      {"NCCL_COMM_SPLIT_SHARE_RESOURCES", "0"}};

/// Variables that let several processes share a GPU. NCCL then uses few thread
/// blocks with large buffers, and only sockets between the ranks.
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
