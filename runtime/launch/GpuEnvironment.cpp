//===- GpuEnvironment.cpp - what NVIDIA's libraries are told --------------===//

#include "runtime/launch/GpuEnvironment.h"

#include <cstdlib>
#include <string>

namespace pcc::runtime {

namespace {
struct Variable {
  const char *name, *value;
};
} // namespace

/// Streams that share a queue of the hardware would wait for each other; calls
/// of several communicators run in the order in which the host makes them; code
/// that is loaded while kernels wait for a peer may wait for them.
static constexpr Variable always[] = {{"CUDA_DEVICE_MAX_CONNECTIONS", "32"},
                                      {"NCCL_LAUNCH_ORDER_IMPLICIT", "1"},
                                      {"CUDA_MODULE_LOADING", "EAGER"}};

/// A GPU takes turns between its processes: few blocks, and nothing that one
/// would reach the other by.
static constexpr Variable shared[] = {
    {"NCCL_SOCKET_IFNAME", "lo"},  {"NCCL_SOCKET_FAMILY", "AF_INET"},
    {"NCCL_NET", "Socket"},        {"NCCL_NET_PLUGIN", "none"},
    {"NCCL_IB_DISABLE", "1"},      {"NCCL_P2P_DISABLE", "1"},
    {"NCCL_SHM_DISABLE", "1"},     {"NCCL_MNNVL_ENABLE", "0"},
    {"NCCL_NVLS_ENABLE", "0"},     {"NCCL_COLLNET_ENABLE", "0"},
    {"NCCL_NET_GDR_LEVEL", "LOC"}, {"NCCL_ALGO", "Ring"},
    {"NCCL_PROTO", "Simple"},      {"NCCL_MAX_CTAS", "1"},
    {"NCCL_BUFFSIZE", "1048576"},  {"NCCL_RAS_ENABLE", "0"}};

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
