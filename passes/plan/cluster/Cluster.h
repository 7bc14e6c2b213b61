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
  /// Name of the network level, such as "nvlink". It is only a label: no code
  /// uses it.
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
/// If pcc gets no `--cluster`, it uses built-in constants for the target, cpu
/// or cuda (see defaultCluster). Their latency per call (`alpha`) is 0.
/// Therefore the plan with the fewest received bytes is the cheapest. Among
/// plans with equal bytes, pcc chooses the one with the fewest calls. The
/// constants are not measured on the host, so equal commands produce equal
/// output on every machine.
struct Cluster {
  /// Number of machines, and number of devices in each machine. No price
  /// depends on these two numbers: `links` describes the network.
  int nodes = 1;
  int devicesPerNode = 1;
  /// Memory of one machine, in bytes. No price depends on it.
  double hostMemoryBytes = 0;
  /// Factors by which compute and communication slow down while both run at the
  /// same time. No price depends on these two factors.
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
  /// Measured curve whose x is the flops of one matmul and whose y is the
  /// fraction of the peak flops that this matmul reaches. An empty curve stands
  /// for a fraction of 1 everywhere.
  Curve matmulEfficiency;

  /// Levels of the network, in ascending order of `span`. Never empty.
  std::vector<Link> links;
  /// Measured curves by kind of collective and group size. For example,
  /// collectives["all_reduce"][8] maps the bytes that one rank receives to the
  /// seconds of one all-reduce among 8 ranks. Where a curve exists, it is used
  /// instead of `links`.
  std::map<std::string, std::map<int, Curve>, std::less<>> collectives;

  /// Returns the peak flops per second of an element type. A type without an
  /// entry in `peakFlops` gets the peak of f32, or 1e12 if f32 has no entry
  /// either.
  double peakOf(std::string_view dtype) const;

  /// Returns the seconds of one op that computes `flops` and moves `bytes`
  /// through the device memory: the launch overhead plus the longer of compute
  /// time and memory time (roofline model).
  double computeSeconds(double flops, double bytes,
                        std::string_view dtype) const;

  /// Returns the link that a group of `size` ranks communicates over; neighbors
  /// in the group are `stride` ranks apart. It is the link with the least span
  /// that covers the group (stride * size <= span), or the widest link if no
  /// span does. For example, with links of span 8 and 65536, a group of 4 ranks
  /// at stride 2 takes the first link, and 2 ranks at stride 8 take the second.
  const Link &linkFor(int stride, int size) const;

  /// Returns the seconds of `calls` calls of a collective among `size` ranks.
  /// Neighbors in the group are `stride` ranks apart. `bytes` is the number of
  /// bytes that one rank receives in all calls together. `kind` is a name from
  /// the [collectives] tables of the cluster file, such as "all_reduce".
  double commSeconds(std::string_view kind, int stride, int size, double bytes,
                     double calls) const;
};

/// Returns the fixed profile of the target `cpu` or `cuda`; std::nullopt for
/// any other target.
std::optional<Cluster> defaultCluster(std::string_view target);

/// Parses a cluster file. A field that the file lacks keeps its value from
/// `defaults`. A field that is unknown, or has the wrong type or sign, is an
/// error (WrongUsage); the message names the field and its line.
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

/// Returns the cluster that `text`, the text of a cluster file, describes. A
/// field that `text` lacks has its value in the built-in profile of `target`.
/// If `text` is empty, returns this profile. `target` must be `cpu` or `cuda`.
/// `text` must have passed parseCluster before, because errors are not
/// reported.
Cluster clusterOf(std::string_view text, std::string_view target);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_CLUSTER_CLUSTER_H
