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

/// Description of a cluster: its machines, and the network that connects them.
/// The compiler uses the description to predict the seconds of ops and of
/// communication.
///
/// The user describes a cluster in a TOML file (option `--cluster`). Without
/// this option, the compiler uses a fixed description, one for each target (see
/// defaultCluster). In a fixed description, all links have the latency 0.
///
/// Without `--cluster`, the compiler does not compare seconds to choose the
/// collectives that change the sharding of a tensor. It chooses the collectives
/// in which a rank receives the fewest bytes. If the bytes are equal, it
/// chooses the fewest calls.
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
  /// Measured seconds of collectives. The first key is the kind of collective.
  /// The second key is the number of ranks that take part in one call. The
  /// value is a list of points (bytes, seconds). The bytes of a point are the
  /// bytes that one rank receives in one call. For example, if
  /// collectives["all_reduce"][8] contains the point (65536, 0.000028), an
  /// all-reduce of 8 ranks takes 28 microseconds if each rank receives 65536
  /// bytes.
  ///
  /// If there is a list for a kind and a number of ranks, commSeconds()
  /// computes the seconds from this list. Otherwise, it computes the seconds
  /// from `links`.
  std::map<std::string, std::map<int, Curve>, std::less<>> collectives;

  /// Returns the peak flops per second of one device for the element type
  /// `dtype`. If `peakFlops` does not contain `dtype`, the function returns the
  /// peak of f32. If `peakFlops` does not contain f32 either, the function
  /// returns 1e12.
  double peakOf(std::string_view dtype) const;

  /// Returns the predicted seconds of one op: `launchSeconds` plus the larger
  /// one of compute time and memory time. `bytes` is the number of bytes that
  /// the op reads from and writes to device memory. The memory time is `bytes`
  /// divided by `memoryBytesPerSecond`. The compute time is `flops` divided by
  /// a fraction of peakOf(dtype). `matmulEfficiency` gives the fraction for
  /// `flops`, also if the op is not a matmul. For example, a launch of 4 µs, a
  /// compute time of 30 µs and a memory time of 20 µs give 34 µs.
  double computeSeconds(double flops, double bytes,
                        std::string_view dtype) const;

  /// Returns the network link over which a group of `size` ranks communicates.
  /// `stride` is the difference between the numbers of two neighboring ranks:
  /// the ranks 0, 4 and 8 have the stride 4. The result is the link with the
  /// smallest span that is at least `stride` · `size`, or else the link with
  /// the largest span. Example with links of the spans 8 and 65536:
  ///
  ///   size 4, stride 2   product  8   link with span 8
  ///   size 2, stride 8   product 16   link with span 65536
  const Link &linkFor(int stride, int size) const;

  /// Returns the predicted seconds of `calls` calls of the collective `kind`,
  /// such as "all_reduce". The kind "transfer" is a message between pipeline
  /// stages. `stride` is the difference between the numbers of two neighboring
  /// ranks of the group, and `size` is the number of ranks. `bytes` is the
  /// number of bytes that one rank receives in all calls together. If
  /// `collectives` has a curve for `kind` and `size`, the function uses the
  /// curve. Otherwise, the result is latency · calls + bytes / bandwidth of
  /// linkFor(stride, size).
  double commSeconds(std::string_view kind, int stride, int size, double bytes,
                     double calls) const;
};

/// Returns the built-in description of a cluster for `target`, which is `cpu`
/// or `cuda`. The compiler uses this description if the user passes no cluster
/// file. For any other target, the function returns std::nullopt.
std::optional<Cluster> defaultCluster(std::string_view target);

/// Parses `text`, a cluster file in TOML. A field that the file lacks has its
/// value in `defaults`. Returns an error with exit code 2 and a line number if
/// `text` is not TOML, a field is unknown or a value is invalid. Units: gb is
/// GiB, gbps is 10^9 bytes per second, us is microseconds. Example:
///
///     host_ram_gb = 2048       # other numbers: nodes, devices_per_node
///     overlap_slowdown = { compute = 1.12, comm = 1.2 }
///     gemm_eff = [[1e9, 0.25]] # flops of a matmul, fraction of the peak
///     links = [{ level = "nvlink", span = 8, alpha_us = 8, beta_gbps = 370 }]
///     [device]
///     mem_gb = 80              # also: mem_gbps, launch_us, reserved_gb
///     peak_tflops = { bf16 = 989, fp32 = 67 }
///     [collectives.all_reduce]
///     8 = [[65536, 28]]        # 8 ranks: received bytes, microseconds
StatusOr<Cluster> parseCluster(std::string_view text, const Cluster &defaults);

/// Returns the description of a cluster. `text` is the content of a cluster
/// file. `target` is `cpu` or `cuda`. If `text` lacks a field, the result has
/// the value of this field in the built-in description, which
/// defaultCluster(target) returns. If `text` is empty, the result is the
/// built-in description.
///
/// The function does not report errors. The caller must therefore know that
/// parseCluster() parses `text` without an error.
Cluster clusterOf(std::string_view text, std::string_view target);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_CLUSTER_CLUSTER_H
