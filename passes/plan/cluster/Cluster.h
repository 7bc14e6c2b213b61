//===- Cluster.h - what compute and communication cost --------------------===//

#ifndef PCC_PASSES_PLAN_CLUSTER_CLUSTER_H
#define PCC_PASSES_PLAN_CLUSTER_CLUSTER_H

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pcc::plan {

/// Points of a measured curve, ascending in the first component.
using Curve = std::vector<std::pair<double, double>>;

/// One level of the network: it connects `span` consecutive ranks.
struct Link {
  std::string level;
  int span = 1;
  /// Seconds per call, and per second received bytes.
  double alpha = 0;
  double bytesPerSecond = 0;
};

/// The machines that a plan is priced for. Without `--cluster` it is the fixed
/// profile of the target with alpha = 0, never measured on the host: bytes
/// decide, calls break ties, and equal commands give equal bundles.
struct Cluster {
  int nodes = 1;
  int devicesPerNode = 1;
  double hostMemoryBytes = 0;
  /// How much slower either gets while the other runs.
  double computeSlowdown = 1;
  double commSlowdown = 1;

  double memoryBytes = 0;
  /// Memory of a device that libraries take.
  double reservedBytes = 0;
  double memoryBytesPerSecond = 0;
  double launchSeconds = 0;
  /// By dtype as pcc spells it (f32, bf16, …).
  std::map<std::string, double, std::less<>> peakFlops;
  /// Reached fraction of the peak by flops of a matmul; empty means 1.
  Curve matmulEfficiency;

  /// Ascending in span.
  std::vector<Link> links;
  /// Measured seconds by kind, group size and bytes; wins over links.
  std::map<std::string, std::map<int, Curve>, std::less<>> collectives;

  /// Peak of a dtype; of f32 where the dtype has none.
  double peakOf(std::string_view dtype) const;
  /// Time of an op that computes `flops` and moves `bytes` through memory.
  double computeSeconds(double flops, double bytes,
                        std::string_view dtype) const;
  /// The link that a group uses whose `size` members are `stride` ranks apart:
  /// the one with the least span that connects all, else the widest.
  const Link &linkFor(int stride, int size) const;
  /// Time in which every member of such a group receives `bytes` in `calls`
  /// calls of a collective (as named in collectives.<kind>).
  double commSeconds(std::string_view kind, int stride, int size, double bytes,
                     double calls) const;
};

/// A cluster, or what is wrong with its file.
struct ClusterOrError {
  Cluster cluster;
  std::string error;
};

/// The fixed profile of `cpu` or `cuda`; nothing for another target.
std::optional<Cluster> defaultCluster(std::string_view target);

/// Reads a cluster file. Fields that are missing keep the value of `defaults`;
/// a field that is unknown, or has the wrong type or sign, is an error that
/// names it and its line.
///
///     nodes = 16
///     devices_per_node = 8
///     host_ram_gb = 2048
///     overlap_slowdown = { compute = 1.12, comm = 1.2 }
///     gemm_eff = [[1e9, 0.25], [1e13, 0.78]]          # flops, fraction
///     links = [{ level = "nvlink", span = 8, alpha_us = 8, beta_gbps = 370 }]
///
///     [device]
///     mem_gb = 80
///     mem_gbps = 3350                                 # gigabytes per second
///     launch_us = 4.0
///     reserved_gb = 3.5
///     peak_tflops = { bf16 = 989, fp32 = 67 }
///
///     [collectives.all_reduce]
///     8 = [[65536, 28], [1048576, 41]]                 # bytes, microseconds
ClusterOrError parseCluster(std::string_view text, const Cluster &defaults);

/// The cluster of a file's text that has been checked; the fixed profile of
/// `target` where there is none.
Cluster clusterOf(std::string_view text, std::string_view target);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_CLUSTER_CLUSTER_H
