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

#include "status/StatusOr.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pcc::plan {

/// A measured curve as a list of points (x, y), with strictly ascending x.
using Curve = std::vector<std::pair<double, double>>;

/// One level of the network, such as NVLink or InfiniBand.
struct Link {
  /// Label of the network level, such as "nvlink".
  std::string level;
  /// Number of consecutive ranks that the level connects, such as the 8 ranks
  /// of a node.
  int span = 1;
  /// Latency of one call, in seconds.
  double alpha = 0;
  /// Bandwidth of one rank: the bytes that it can receive per second.
  double bytesPerSecond = 0;
};

/// The machines and the network that a plan is priced for.
///
/// Without `--cluster`, pcc uses fixed constants for the target (see
/// defaultCluster). Their latency (`alpha`) is 0, so the plan with the fewest
/// received bytes is the cheapest. At equal bytes, the fewest calls win.
struct Cluster {
  /// Numbers of machines and of devices in each machine. No price depends on
  /// them.
  int nodes = 1;
  int devicesPerNode = 1;
  /// Memory of one machine, in bytes. No price depends on it.
  double hostMemoryBytes = 0;
  /// Slowdown factors for compute and communication that run at the same time.
  /// No price depends on them.
  double computeSlowdown = 1;
  double commSlowdown = 1;

  /// Memory of one device, in bytes.
  double memoryBytes = 0;
  /// Part of the device memory that libraries occupy, in bytes. No price
  /// depends on it.
  double reservedBytes = 0;
  /// Bandwidth of the device memory, in bytes per second.
  double memoryBytesPerSecond = 0;
  /// Seconds of overhead to launch one op or kernel.
  double launchSeconds = 0;
  /// Peak flops per second of one device, by the name of the element type (f32,
  /// bf16, …).
  std::map<std::string, double, std::less<>> peakFlops;
  /// Measured curve from the flops of one matmul to the fraction of peak flops
  /// that it reaches. If empty, the fraction is 1.
  Curve matmulEfficiency;

  /// Levels of the network, in ascending order of `span`. Never empty.
  std::vector<Link> links;
  /// Measured curves by kind of collective and group size, used instead of
  /// `links`. For example, collectives["all_reduce"][8] maps the bytes that one
  /// rank receives to seconds, for 8 ranks.
  std::map<std::string, std::map<int, Curve>, std::less<>> collectives;

  /// Returns the peak flops per second of an element type. A type that is not
  /// in `peakFlops` counts as f32. Without f32, the peak is 1e12.
  double peakOf(std::string_view dtype) const;

  /// Returns the seconds of one op: launch overhead plus the longer of compute
  /// time and memory time (roofline model). `bytes` is the traffic to device
  /// memory.
  double computeSeconds(double flops, double bytes,
                        std::string_view dtype) const;

  /// Returns the link for `size` ranks that are `stride` ranks apart: the
  /// narrowest with stride * size <= span, or else the widest. With links of
  /// span 8 and 65536:
  ///
  ///   4 ranks at stride 2   span 8
  ///   2 ranks at stride 8   span 65536
  const Link &linkFor(int stride, int size) const;

  /// Returns the seconds of `calls` calls of a collective. The `size` ranks are
  /// `stride` ranks apart. One rank receives `bytes` in all calls together.
  /// `kind` is a name from [collectives] of the cluster file, such as
  /// "all_reduce".
  double commSeconds(std::string_view kind, int stride, int size, double bytes,
                     double calls) const;
};

/// Returns the fixed profile of the target `cpu` or `cuda`; std::nullopt for
/// any other target.
std::optional<Cluster> defaultCluster(std::string_view target);

/// Parses a cluster file. An absent field keeps its value from `defaults`. An
/// unknown field, or one with a wrong type or sign, is an error (WrongUsage);
/// the message names the field and its line.
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
StatusOr<Cluster> parseCluster(std::string_view text, const Cluster &defaults);

/// Returns the cluster of a cluster file with the text `text`. Absent fields
/// have their values in the built-in profile of `target` (`cpu` or `cuda`), and
/// empty text gives this profile. `text` must have passed parseCluster, because
/// errors are not reported.
Cluster clusterOf(std::string_view text, std::string_view target);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_CLUSTER_CLUSTER_H
