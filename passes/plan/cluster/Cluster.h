//===- Cluster.h - cost model of a cluster: roofline and alpha-beta links -===//
//
// Prices compute with a roofline (the slower of flops at the peak and bytes at
// the memory bandwidth), and communication with measured speeds, or with an
// alpha-beta model per network level: seconds = alpha * calls + bytes /
// bandwidth. All quantities are in seconds, bytes and flops per second; the
// cluster file uses larger units.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_PLAN_CLUSTER_CLUSTER_H
#define PCC_PASSES_PLAN_CLUSTER_CLUSTER_H

#include "passes/plan/cluster/MeasuredCollectives.h"
#include "passes/plan/cluster/RankGroup.h"
#include "status/StatusOr.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pcc::plan {

/// One level of the network, such as NVLink or InfiniBand.
struct Link {
  /// Label of the network level, such as "nvlink".
  std::string level;
  /// Number of consecutive ranks that the level connects, such as the 8 ranks
  /// of a node.
  int span = 1;
  /// Latency of one message or of one call of a collective, in seconds. A call
  /// that transfers few bytes takes about this time.
  double alpha = 0;
  /// Bandwidth of one rank: the bytes that it can receive per second while all
  /// devices of its node communicate.
  double bytesPerSecond = 0;
  /// Least number of ranks of an all-reduce that the switches of this level
  /// compute (NVLS, SHARP), so that a rank receives each element once; 0 if
  /// they do not compute.
  int leastReducedRanks = 0;
};

/// Description of the machines of a cluster and of their network. The compiler
/// uses the description to predict the seconds of ops and of communication. The
/// user gives a TOML file in --cluster. Without this option, the compiler uses
/// defaultCluster(), whose links have the latency 0.
struct Cluster {
  /// Number of machines, and number of devices in each machine. The compiler
  /// reads these two numbers from the cluster file, but does not use them.
  int nodes = 1;
  int devicesPerNode = 1;
  /// Main memory (RAM) of one machine, in bytes. The compiler reads this number
  /// from the cluster file, but does not use it.
  double hostMemoryBytes = 0;
  /// Factors by which a device is slower if it computes and communicates at the
  /// same time. For example, if `commSlowdown` is 1.2, a message that takes 10
  /// seconds alone takes 12 seconds during computation. The compiler reads
  /// these two numbers from the cluster file, but does not use them.
  double computeSlowdown = 1;
  double commSlowdown = 1;

  /// Memory of one device, in bytes.
  double memoryBytes = 0;
  /// Bytes of the device memory that the model cannot use, because libraries
  /// occupy them. The compiler reads this number from the cluster file, but
  /// does not use it.
  double reservedBytes = 0;
  /// Bandwidth of the device memory, in bytes per second.
  double memoryBytesPerSecond = 0;
  /// Seconds of overhead to launch one op or kernel.
  double launchSeconds = 0;
  /// Peak flops per second of one device, by the name of the element type (f32,
  /// bf16, …).
  std::map<std::string, double, std::less<>> peakFlops;
  /// Measured speed of matmuls, as a list of points (flops, fraction). The
  /// flops of a point are the flops of one matmul. The fraction is the speed of
  /// the matmul divided by the peak flops per second. For example, the point
  /// (1e9, 0.25) states that a matmul of 1e9 flops runs at 25 percent of the
  /// peak. If the list is empty, the fraction is 1.
  Curve matmulEfficiency;

  /// Links of the network, one for each level. For example, NVLink is the level
  /// within a node, and InfiniBand is the level between nodes. The list is
  /// sorted by `span`, the number of consecutive ranks that a link connects.
  /// The smallest `span` comes first. The list is never empty.
  std::vector<Link> links;
  /// Measured speeds of collectives. Where there are none, commSeconds() uses
  /// `links`.
  MeasuredCollectives collectives;

  /// Returns the peak flops per second of one device for the element type
  /// `dtype`. If `peakFlops` does not contain `dtype`, the function returns the
  /// peak of f32. If `peakFlops` does not contain f32 either, the function
  /// returns 1e12.
  double peakOf(std::string_view dtype) const;

  /// Returns the predicted seconds of one op: the launch time plus the larger
  /// of compute time and memory time. `bytes` is the number of bytes that the
  /// op reads from device memory and writes to it. `matmulEfficiency` reduces
  /// the peak flops of every op, not only of matmuls.
  double computeSeconds(double flops, double bytes,
                        std::string_view dtype) const;

  /// Returns the innermost link that connects all ranks of `group`. If there is
  /// none, returns the outermost link.
  const Link &linkFor(const RankGroup &group) const;

  /// Returns the predicted seconds of one call of the collective `kind`, in
  /// which each rank of `group` receives `received` bytes. If `kind` is
  /// "transfer", a call is a message between pipeline stages.
  ///
  /// A measured speed of such a group wins. Otherwise, a group that lies in
  /// several units of a network communicates first within these units, and then
  /// between them, where each rank is responsible for a part of the tensor. For
  /// an all_reduce of S bytes by g ranks of each of k nodes:
  ///
  ///     2 (g - 1) / g S / (bandwidth within a node) +
  ///     2 (k - 1) / k S / g / (bandwidth between nodes) + both latencies
  double commSeconds(std::string_view kind, const RankGroup &group,
                     double received) const;
};

/// Returns the built-in description of a cluster for `target`, which is `cpu`
/// or `cuda`. The compiler uses this description if the user passes no cluster
/// file. For any other target, the function returns std::nullopt.
std::optional<Cluster> defaultCluster(std::string_view target);

/// Parses a cluster file in TOML; `defaults` has the values of absent fields.
/// An error has exit code 2 and names the line.
///
///     host_ram_gb = 2048       # gb is GiB; also: nodes, devices_per_node
///     overlap_slowdown = { compute = 1.12, comm = 1.2 }
///     gemm_eff = [[1e9, 0.25]] # flops of a matmul, fraction of the peak;
///                              # may also stand in [device]
///     [device]                 # gbps is 10^9 bytes per second
///     mem_gb = 80              # also: mem_gbps, launch_us, reserved_gb
///     peak_tflops = { bf16 = 989, fp32 = 67 }
///     [[links]]                # a level of the network: equal units of ranks
///     level = "nvlink"
///     span = 8                 # ranks of a unit; divides that of the next
///                              # level, unless that is the outermost one
///     alpha_us = 8
///     beta_gbps = 370          # per device and direction
///     in_network = "nvls"      # or "sharp": switches that reduce
///     min_group = 5            # least number of ranks for which they do
///     nics_per_node = 8        # shared by the devices of a node
///     oversubscription = 2     # divides the bandwidth
///     duplex = false           # the directions share the bandwidth
///     [collectives.all_reduce] # bytes, bus bandwidth in gbps of
///     8 = [[65536, 4.1]]       # 8 ranks with consecutive numbers
///     [collectives.all_reduce.infiniband]
///     8x4 = [[65536, 4.1]]     # 8 ranks of each of 4 units
///     strided_4 = [[65536, 4]] # one rank of each of 4 units
StatusOr<Cluster> parseCluster(std::string_view text, const Cluster &defaults);

/// Returns the cluster that `text`, the content of a cluster file, describes.
/// Absent fields come from defaultCluster(target). `text` must be empty or
/// valid, because no error is reported.
Cluster clusterOf(std::string_view text, std::string_view target);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_CLUSTER_CLUSTER_H
