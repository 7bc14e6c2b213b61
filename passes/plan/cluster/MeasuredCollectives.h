//===- MeasuredCollectives.h - measured speeds of collectives -------------===//

#ifndef PCC_PASSES_PLAN_CLUSTER_MEASUREDCOLLECTIVES_H
#define PCC_PASSES_PLAN_CLUSTER_MEASUREDCOLLECTIVES_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pcc::plan {

/// A measured curve as a list of points (x, y), with strictly ascending x.
using Curve = std::vector<std::pair<double, double>>;

/// How the ranks of a group lie in a network. Example: 4 devices of each of 2
/// nodes have the level of the network between nodes, `perUnit` 4 and `units`
/// 2. A group within a node has the level within nodes, and one unit.
struct GroupPlacement {
  /// Index in Cluster::links of the innermost level that connects the group.
  size_t level = 0;
  /// Number of ranks in one unit of the next inner level, and number of these
  /// units. In the innermost level, `perUnit` is the number of all ranks.
  int64_t perUnit = 1;
  int64_t units = 1;

  auto operator<=>(const GroupPlacement &) const = default;
};

/// Returns the bytes that one rank of `size` receives in a call of the
/// collective `kind`, as a share of the bytes of the whole tensor, with an
/// algorithm that is optimal in bandwidth: 2 (n - 1) / n for an all_reduce.
double receivedShare(std::string_view kind, int64_t size);

/// Measured speeds of one kind of collective. A point of a curve is (bytes of
/// the whole tensor, bytes per second). The speed is the bus bandwidth of
/// nccl-tests: the bytes that one rank receives in a ring, over the seconds.
class MeasuredCollective {
public:
  void add(const GroupPlacement &placement, Curve speeds) {
    curves[placement] = std::move(speeds);
  }

  /// Returns the seconds of a call of this collective on a tensor of `bytes`
  /// bytes. `kind` is its name. Interpolates linearly in the logarithms of
  /// bytes and speed. Above the last point, the speed is constant. Below the
  /// first point, the seconds are a straight line from `latency`. If there is
  /// no curve for the number of ranks, interpolates between the two nearest
  /// numbers of ranks per unit, or of units. Returns std::nullopt if there are
  /// none on both sides.
  std::optional<double> seconds(std::string_view kind,
                                const GroupPlacement &placement, double bytes,
                                double latency) const;

  /// Returns the bytes of the first point for a placement; std::nullopt if it
  /// has no curve.
  std::optional<double> leastBytes(const GroupPlacement &placement) const;

private:
  std::map<GroupPlacement, Curve> curves;
};

/// Measured collectives by kind, such as "all_reduce".
using MeasuredCollectives =
    std::map<std::string, MeasuredCollective, std::less<>>;

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_CLUSTER_MEASUREDCOLLECTIVES_H
