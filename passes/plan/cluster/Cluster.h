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
  /// Latency of one message or of one call of a collective, in seconds. A call
  /// that transfers few bytes takes about this time.
  double alpha = 0;
  /// Bandwidth of one rank: the bytes that it can receive per second.
  double bytesPerSecond = 0;
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
  /// Measured speeds of collectives by kind and number of ranks. A point is
  /// (bytes of the whole tensor, bytes per second). The speed is the bus
  /// bandwidth of nccl-tests: the bytes that one rank receives in a ring, over
  /// the seconds. Without points for a kind and a number of ranks,
  /// commSeconds() uses `links`.
  std::map<std::string, std::map<int, Curve>, std::less<>> collectives;

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

  /// Returns the network link over which a group of `size` ranks communicates.
  /// The numbers of the ranks differ by `stride`: 3 ranks with stride 4 are,
  /// for example, 0, 4 and 8. Returns the link with the smallest span that is
  /// at least `stride` · `size`. If there is none, returns the link with the
  /// largest span.
  const Link &linkFor(int stride, int size) const;

  /// Returns the predicted seconds of `calls` calls of the collective `kind` in
  /// a group of `size` ranks. If `kind` is "transfer", a call is a message
  /// between pipeline stages. `bytes` is the sum that one rank receives in all
  /// calls. `stride` is the difference between the numbers of neighboring ranks
  /// of the group.
  double commSeconds(std::string_view kind, int stride, int size, double bytes,
                     double calls) const;
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
///     gemm_eff = [[1e9, 0.25]] # flops of a matmul, fraction of the peak
///     links = [{ level = "nvlink", span = 8, alpha_us = 8, beta_gbps = 370 }]
///     [device]                 # gbps is 10^9 bytes per second
///     mem_gb = 80              # also: mem_gbps, launch_us, reserved_gb
///     peak_tflops = { bf16 = 989, fp32 = 67 }
///     [collectives.all_reduce]
///     8 = [[65536, 4.1]]       # 8 ranks: bytes, bus bandwidth in gbps
StatusOr<Cluster> parseCluster(std::string_view text, const Cluster &defaults);

/// Returns the cluster that `text`, the content of a cluster file, describes.
/// Absent fields come from defaultCluster(target). `text` must be empty or
/// valid, because no error is reported.
Cluster clusterOf(std::string_view text, std::string_view target);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_CLUSTER_CLUSTER_H
