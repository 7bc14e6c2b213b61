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

  /// Returns the predicted seconds of one op. `flops` is the number of
  /// floating-point operations. `bytes` is the number of bytes that the op
  /// reads from and writes to device memory. `dtype` is the element type, such
  /// as "bf16".
  ///
  /// The result is `launchSeconds` plus the larger one of two times:
  ///
  ///  - The compute time is `flops` divided by the speed of the device. The
  ///    speed is peakOf(dtype) multiplied by a fraction. `matmulEfficiency` is
  ///    a list of points (flops, fraction). The function interpolates between
  ///    these points to get the fraction for `flops`, also if the op is not a
  ///    matmul. If the list is empty, the fraction is 1.
  ///  - The memory time is `bytes` divided by the bandwidth of the device
  ///    memory.
  ///
  /// Example: the peak is 100e12 flops per second, and the fraction is 0.5. An
  /// op of 1.5e9 flops has a compute time of 30 microseconds. If the memory
  /// time is 20 microseconds and a launch takes 4 microseconds, the result is
  /// 34 microseconds.
  double computeSeconds(double flops, double bytes,
                        std::string_view dtype) const;

  /// Returns the network link over which a group of `size` ranks communicates.
  /// `stride` is the difference between the numbers of two neighboring ranks of
  /// the group. For example, the ranks 0, 4 and 8 have the size 3 and the
  /// stride 4.
  ///
  /// `links` contains one link for each level of the network. The span of a
  /// link is the number of consecutive ranks that the link connects. The
  /// function multiplies `stride` by `size`. It returns the link with the
  /// smallest span that is not less than this product. If all spans are less,
  /// the function returns the link with the largest span. For example, if there
  /// are two links, with the spans 8 and 65536:
  ///
  ///   size 4, stride 2   product  8   link with span 8
  ///   size 2, stride 8   product 16   link with span 65536
  const Link &linkFor(int stride, int size) const;

  /// Returns the predicted seconds of several calls of one collective:
  ///
  ///  - `kind`: the kind of collective, such as "all_reduce". "transfer" stands
  ///    for a message from one pipeline stage to another.
  ///  - `stride`: the difference between the numbers of two neighboring ranks.
  ///    For example, ranks 0, 4 and 8 have the stride 4.
  ///  - `size`: the number of ranks that take part in a call.
  ///  - `bytes`: the bytes that one rank receives in all calls together.
  ///  - `calls`: the number of calls.
  ///
  /// If `collectives` has a measured curve for `kind` and `size`, the function
  /// uses this curve. Otherwise, it uses the link that `linkFor(stride, size)`
  /// returns: latency * calls + bytes / bandwidth. For example, 2 calls that
  /// receive 370 GB in total, over a link with 8 microseconds of latency and
  /// 370 GB per second, take 1 second and 16 microseconds.
  double commSeconds(std::string_view kind, int stride, int size, double bytes,
                     double calls) const;
};

/// Returns the built-in description of a cluster for `target`, which is `cpu`
/// or `cuda`. The compiler uses this description if the user passes no cluster
/// file. For any other target, the function returns std::nullopt.
std::optional<Cluster> defaultCluster(std::string_view target);

/// Parses `text`, the content of a cluster file. A cluster file describes
/// machines and their network in TOML. The result has the values of the file.
/// If the file lacks a field, the result has the value of this field in
/// `defaults`.
///
/// Returns an error with exit code 2 (WrongUsage) if the text is not TOML, if a
/// field is unknown, or if a value is invalid. For example, a negative number
/// is invalid. A text is invalid if the field needs a number. The error message
/// contains the line number.
///
/// Example of a file with all fields (# begins a comment):
///
///     nodes = 16                            # number of machines
///     devices_per_node = 8
///     host_ram_gb = 2048                    # memory of a machine (GiB)
///     # slowdown if a device computes and communicates at the same time:
///     overlap_slowdown = { compute = 1.12, comm = 1.2 }
///     # pairs: flops of a matmul, fraction of the peak that it reaches:
///     gemm_eff = [[1e9, 0.25], [1e13, 0.78]]
///     # network links, each with the number of ranks that it connects,
///     # the latency (microseconds) and the bandwidth (gigabytes per second):
///     links = [{ level = "nvlink", span = 8, alpha_us = 8, beta_gbps = 370 }]
///
///     [device]
///     mem_gb = 80                           # memory (GiB)
///     mem_gbps = 3350                       # gigabytes per second
///     launch_us = 4.0                       # microseconds to launch a kernel
///     reserved_gb = 3.5                     # memory of libraries (GiB)
///     # teraflops per second for each element type:
///     peak_tflops = { bf16 = 989, fp32 = 67 }
///
///     [collectives.all_reduce]
///     # for 8 ranks, pairs: received bytes, microseconds:
///     8 = [[65536, 28], [1048576, 41]]
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
