//===- Cluster.cpp - roofline, and the built-in clusters of targets ---------===//

#include "passes/plan/cluster/Cluster.h"

#include <algorithm>
#include <cassert>

namespace pcc::plan {
namespace {

constexpr double giga = 1e9;
constexpr double gibi = 1024.0 * 1024 * 1024;

/// Returns the y that belongs to `x`. `curve` is a list of points (x, y) that
/// are sorted by x. The list has at least one point. Between two points, the
/// function interpolates linearly. For example, if the points are (0, 10) and
/// (4, 20), then x = 1 gives 12.5. If `x` is smaller than the x of all points,
/// the result is the y of the first point. If `x` is larger than the x of all
/// points, the result is the y of the last point.
double interpolate(const Curve &curve, double x) {
  assert(!curve.empty() && "a curve without points");
  auto after = std::upper_bound(
      curve.begin(), curve.end(), x,
      [](double value, const auto &point) { return value < point.first; });
  if (after == curve.begin())
    return curve.front().second;
  const auto &low = *std::prev(after);
  if (after == curve.end())
    return low.second;
  const double share = (x - low.first) / (after->first - low.first);
  return low.second + share * (after->second - low.second);
}

/// Returns the description of a cluster that the compiler uses for the target
/// `cpu` if the user passes no cluster file. In this description, a device is
/// one core complex of a server. A core complex is a group of CPU cores with a
/// common cache. The ranks communicate through shared memory or through
/// Ethernet. The description has one link for both.
Cluster cpuCluster() {
  Cluster cluster;
  cluster.memoryBytes = 64 * gibi;
  cluster.memoryBytesPerSecond = 20 * giga;
  cluster.peakFlops = {{"f64", 50 * giga},
                       {"f32", 100 * giga},
                       {"bf16", 100 * giga},
                       {"f16", 100 * giga}};
  cluster.links = {{"host", 1 << 16, 0, 5 * giga}};
  return cluster;
}

/// Returns the built-in profile of the target `cuda`: nodes with eight H100 SXM
/// on NVLink, connected by 400 Gbit/s InfiniBand.
Cluster cudaCluster() {
  Cluster cluster;
  cluster.devicesPerNode = 8;
  cluster.memoryBytes = 80 * gibi;
  cluster.memoryBytesPerSecond = 3350 * giga;
  cluster.peakFlops = {{"f64", 67e12},   {"f32", 67e12},  {"tf32", 495e12},
                       {"bf16", 989e12}, {"f16", 989e12}, {"f8", 1979e12}};
  cluster.links = {{"nvlink", 8, 0, 370 * giga},
                   {"infiniband", 1 << 16, 0, 45 * giga}};
  return cluster;
}

} // namespace

double Cluster::peakOf(std::string_view dtype) const {
  auto found = peakFlops.find(dtype);
  if (found == peakFlops.end())
    found = peakFlops.find("f32");
  return found == peakFlops.end() ? 1e12 : found->second;
}

double Cluster::computeSeconds(double flops, double bytes,
                               std::string_view dtype) const {
  const double reached =
      matmulEfficiency.empty() ? 1 : interpolate(matmulEfficiency, flops);
  return launchSeconds + std::max(flops / (peakOf(dtype) * reached),
                                  bytes / memoryBytesPerSecond);
}

std::optional<Cluster> defaultCluster(std::string_view target) {
  if (target == "cpu")
    return cpuCluster();
  if (target == "cuda")
    return cudaCluster();
  return std::nullopt;
}

Cluster clusterOf(std::string_view text, std::string_view target) {
  return *parseCluster(text, *defaultCluster(target));
}

} // namespace pcc::plan
