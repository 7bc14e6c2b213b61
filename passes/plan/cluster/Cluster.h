//===- Cluster.h - cost model of a cluster: roofline and alpha-beta links -===//
//
// Prices compute with a roofline (the slower of flops at the peak and bytes at
// the memory bandwidth) and communication with an alpha-beta model per network
// level: seconds = alpha * calls + bytes / bandwidth. All quantities are in
// seconds, bytes and flops per second; the cluster file uses larger units.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_PLAN_CLUSTER_CLUSTER_H
#define PCC_PASSES_PLAN_CLUSTER_CLUSTER_H

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pcc::plan {

/// Points (x, y) of a measured curve, with strictly ascending x.
using Curve = std::vector<std::pair<double, double>>;

/// One level of the network, such as NVLink or InfiniBand.
struct Link {
  /// Name of the level; it is not interpreted.
  std::string level;
  /// Number of consecutive ranks that the level connects, such as the 8 ranks
  /// of a node.
  int span = 1;
  /// Latency of one call, in seconds.
  double alpha = 0;
  /// Bandwidth, counted in bytes that one rank receives.
  double bytesPerSecond = 0;
};

/// The machines that a plan is priced for.
///
/// Without `--cluster`, a fixed profile of the target stands for the cluster
/// (see defaultCluster). Its alpha is 0, so bytes decide and call counts break
/// ties. The profile is never measured on the host, so equal commands produce
/// equal bundles on every machine.
struct Cluster {
  /// Numbers of machines and of devices in each. No price depends on them:
  /// `links` describes the network.
  int nodes = 1;
  int devicesPerNode = 1;
  /// Memory of one machine, in bytes. No price depends on it.
  double hostMemoryBytes = 0;
  /// Factors by which compute, or communication, is slower while the other one
  /// runs at the same time. No price depends on them.
  double computeSlowdown = 1;
  double commSlowdown = 1;

  /// Memory of one device, in bytes.
  double memoryBytes = 0;
  /// Part of the device memory that libraries occupy, in bytes. No price
  /// depends on it.
  double reservedBytes = 0;
  /// Bandwidth of the device memory.
  double memoryBytesPerSecond = 0;
  /// Overhead of one op or kernel, in seconds.
  double launchSeconds = 0;
  /// Peak flops per second by element type as pcc spells it (f32, bf16, …).
  std::map<std::string, double, std::less<>> peakFlops;
  /// Fraction of the peak that a matmul reaches, by its flops. An empty curve
  /// means 1.
  Curve matmulEfficiency;

  /// Levels of the network, ascending in span. Never empty.
  std::vector<Link> links;
  /// Measured seconds of one call, by kind of collective, group size and
  /// received bytes. A measured curve takes precedence over `links`.
  std::map<std::string, std::map<int, Curve>, std::less<>> collectives;

  /// Returns the peak flops per second of an element type. A type without a
  /// peak has the peak of f32.
  double peakOf(std::string_view dtype) const;

  /// Returns the seconds of one op that computes `flops` and moves `bytes`
  /// through the device memory: the launch overhead plus the longer of compute
  /// time and memory time (roofline model).
  double computeSeconds(double flops, double bytes,
                        std::string_view dtype) const;

  /// Returns the link of a group whose `size` members are `stride` ranks apart:
  /// the link with the least span that covers the group, else the widest link.
  /// With links of span 8 and 65536, {stride 2, size 4} takes the first and
  /// {stride 8, size 2} the second.
  const Link &linkFor(int stride, int size) const;

  /// Returns the seconds of `calls` calls of a collective in a group of `size`
  /// members that are `stride` ranks apart. `bytes` is what one member receives
  /// in all calls together. `kind` is a name from the `collectives` table of
  /// the cluster file.
  double commSeconds(std::string_view kind, int stride, int size, double bytes,
                     double calls) const;
};

/// A cluster, or the reason why its file is invalid. If `error` is not empty,
/// `cluster` is meaningless.
struct ClusterOrError {
  Cluster cluster;
  std::string error;
};

/// Returns the fixed profile of the target `cpu` or `cuda`; std::nullopt for
/// any other target.
std::optional<Cluster> defaultCluster(std::string_view target);

/// Parses a cluster file. A field that the file lacks keeps its value from
/// `defaults`. A field that is unknown, or has the wrong type or sign, is an
/// error; the message names the field and its line.
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

/// Returns the cluster described by `text`, with the profile of `target` for
/// the fields that it lacks; an empty text gives the whole profile. `target`
/// must be `cpu` or `cuda`, and `text` must have passed parseCluster before:
/// errors are not reported.
Cluster clusterOf(std::string_view text, std::string_view target);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_CLUSTER_CLUSTER_H
