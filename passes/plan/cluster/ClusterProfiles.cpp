//===- ClusterProfiles.cpp - clusters that have names ---------------------===//
//
// Numbers are those of vendors' data sheets, of published measurements (the
// all-reduce tables of NVIDIA's DGX Cloud benchmarks, vTrain and the ML
// Engineering book), or of NCCL's tuner. Reserved memory, launch times and the
// slowdowns are estimates, which a calibration replaces.
//
//===----------------------------------------------------------------------===//

#include "passes/plan/cluster/ClusterProfiles.h"

#include <algorithm>

namespace pcc::plan {

static constexpr std::string_view a100 = R"(nodes = 64
devices_per_node = 8
overlap_slowdown = { compute = 1.13, comm = 1.2 }
gemm_eff = [[1e9, 0.04], [1e10, 0.27], [3e10, 0.47], [1e11, 0.63], [3e11, 0.70], [1e12, 0.73], [1e13, 0.74]]
[device]
mem_gb = 80
reserved_gb = 3.0
mem_gbps = 2000
launch_us = 4.0
peak_tflops = { bf16 = 312, fp16 = 312, tf32 = 156, fp32 = 19.5 }
[[links]]
level = "nvswitch"
span = 8
alpha_us = 10
beta_gbps = 300
[[links]]
level = "hdr"
span = 65536
alpha_us = 20
beta_gbps = 22.5
[collectives.all_reduce]
2 = [[1048576, 23.72], [4194304, 68.55], [16777216, 127.16], [67108864, 165.81], [268435456, 184.39], [1073741824, 197.28]]
4 = [[1048576, 30.6], [4194304, 81.37], [16777216, 140.11], [67108864, 185.11], [268435456, 208.73], [1073741824, 221.86]]
8 = [[1048576, 19.78], [4194304, 76.62], [16777216, 126.33], [67108864, 202.52], [268435456, 217.25], [1073741824, 229.35]]
)";

static constexpr std::string_view h100 = R"(nodes = 128
devices_per_node = 8
overlap_slowdown = { compute = 1.13, comm = 1.2 }
gemm_eff = [[1e9, 0.02], [1e10, 0.16], [3e10, 0.34], [1e11, 0.55], [3e11, 0.67], [1e12, 0.72], [1e13, 0.75]]
[device]
mem_gb = 80
reserved_gb = 3.5
mem_gbps = 3350
launch_us = 4.0
peak_tflops = { bf16 = 989, fp16 = 989, fp8 = 1979, tf32 = 494.5, fp32 = 67 }
[[links]]
level = "nvswitch"
span = 8
alpha_us = 13.0
beta_gbps = 450
in_network = "nvls"
[[links]]
level = "ndr"
span = 65536
alpha_us = 18
beta_gbps = 48.4
[collectives.all_reduce]
8 = [[131072, 11.53], [524288, 44.41], [2097152, 86.94], [8388608, 176.77], [33554432, 294.69], [134217728, 400.53], [536870912, 436.79], [2147483648, 473.37], [8589934592, 480.16]]
)";

static constexpr std::string_view h200 = R"(nodes = 16
devices_per_node = 8
overlap_slowdown = { compute = 1.13, comm = 1.2 }
gemm_eff = [[1e9, 0.02], [1e10, 0.16], [3e10, 0.34], [1e11, 0.55], [3e11, 0.67], [1e12, 0.72], [1e13, 0.75]]
[device]
mem_gb = 141
reserved_gb = 3.5
mem_gbps = 4800
launch_us = 4.0
peak_tflops = { bf16 = 989, fp16 = 989, fp8 = 1979, tf32 = 494.5, fp32 = 67 }
[[links]]
level = "nvswitch"
span = 8
alpha_us = 13
beta_gbps = 450
in_network = "nvls"
[[links]]
level = "network"
span = 65536
alpha_us = 18
beta_gbps = 48.4
[collectives.all_reduce]
4 = [[8589934592, 363.3]]
8 = [[32768, 1.44], [1048576, 39.93], [16777216, 219.89], [134217728, 401.93], [1073741824, 463.58], [17179869184, 482.26]]
[collectives.all_gather]
8 = [[17179869184, 361.4]]
[collectives.reduce_scatter]
8 = [[17179869184, 362.9]]
)";

static constexpr std::string_view b200 = R"(nodes = 16
devices_per_node = 8
overlap_slowdown = { compute = 1.13, comm = 1.2 }
gemm_eff = [[1e13, 0.775]]
[device]
mem_gb = 180
reserved_gb = 4
mem_gbps = 8000
launch_us = 4.0
peak_tflops = { bf16 = 2250, fp16 = 2250, fp8 = 4500, fp4 = 9000, tf32 = 1125, fp32 = 80 }
[[links]]
level = "nvswitch"
span = 8
alpha_us = 25
beta_gbps = 900
in_network = "nvls"
[[links]]
level = "network"
span = 65536
alpha_us = 18
beta_gbps = 48.4
[collectives.all_reduce]
4 = [[8589934592, 673]]
8 = [[1048576, 36.06], [16777216, 254.96], [134217728, 568.38], [1073741824, 723.34], [17179869184, 845.67]]
)";

static constexpr std::string_view gb200 = R"(nodes = 8
devices_per_node = 72
overlap_slowdown = { compute = 1.13, comm = 1.2 }
gemm_eff = [[1e13, 0.73]]
[device]
mem_gb = 186
reserved_gb = 4
mem_gbps = 8000
launch_us = 4.0
peak_tflops = { bf16 = 2500, fp16 = 2500, fp8 = 5000, fp4 = 10000 }
[[links]]
level = "nvl72"
span = 72
alpha_us = 25
beta_gbps = 900
in_network = "nvls"
[[links]]
level = "network"
span = 65536
alpha_us = 18
beta_gbps = 48.4
[collectives.all_reduce]
72 = [[17179869184, 850]]
)";

static constexpr std::string_view cpuHost = R"(nodes = 1
devices_per_node = 2
[device]
mem_gb = 64
reserved_gb = 0.25
mem_gbps = 20
launch_us = 2.0
peak_tflops = { fp32 = 0.1, bf16 = 0.1, fp16 = 0.1, fp64 = 0.05 }
[[links]]
level = "host"
span = 65536
alpha_us = 5
beta_gbps = 5
)";

const std::vector<ClusterProfile> &clusterProfiles() {
  static const std::vector<ClusterProfile> profiles = {
      {"a100-dgx", "nodes of 8 A100 80 GB on NVLink 3, 200 Gb/s InfiniBand",
       a100},
      {"h100-dgx", "nodes of 8 H100 on NVLink 4, 400 Gb/s InfiniBand", h100},
      {"h200-dgx", "nodes of 8 H200 on NVLink 4, 400 Gb/s network", h200},
      {"b200-hgx", "nodes of 8 B200 on NVLink 5, 400 Gb/s network", b200},
      {"gb200-nvl72", "racks of 72 GB200 on NVLink 5, 400 Gb/s network", gb200},
      {"cpu-host", "CPU ranks of one machine, over shared memory", cpuHost},
      {"bytes", "no machine: received bytes, then calls", ""}};
  return profiles;
}

std::optional<std::string_view> profileText(std::string_view name) {
  for (const ClusterProfile &profile : clusterProfiles())
    if (profile.name == name)
      return profile.text;
  return std::nullopt;
}

std::vector<std::string> profileNames() {
  std::vector<std::string> names;
  for (const ClusterProfile &profile : clusterProfiles())
    names.emplace_back(profile.name);
  return names;
}

std::string listClusters() {
  constexpr size_t width = 13;
  std::string text;
  for (const ClusterProfile &profile : clusterProfiles()) {
    std::string name(profile.name);
    name.resize(std::max(width, name.size()), ' ');
    text += (text.empty() ? "" : "\n") + name + std::string(profile.summary);
  }
  return text;
}

} // namespace pcc::plan
