//===- MeasuredCollectives.cpp - measured speeds of collectives -----------===//

#include "passes/plan/cluster/MeasuredCollectives.h"

#include <algorithm>
#include <cmath>

namespace pcc::plan {

double receivedShare(std::string_view kind, int64_t size) {
  const double others = 1 - 1 / static_cast<double>(size);
  if (kind == "all_reduce")
    return 2 * others;
  return kind == "all_gather" || kind == "reduce_scatter" ||
                 kind == "all_to_all"
             ? others
             : 1;
}

/// Returns the y that belongs to `x` on the straight line through `low` and
/// `high` in a picture with logarithmic axes.
static double onLogLine(std::pair<double, double> low,
                        std::pair<double, double> high, double x) {
  const double share =
      std::log(x / low.first) / std::log(high.first / low.first);
  return low.second * std::pow(high.second / low.second, share);
}

/// Returns the bytes that a rank receives per second in a call on a tensor of
/// `bytes` bytes. `share` is the share of `bytes` that a rank receives.
static double speedOn(const Curve &curve, double share, double bytes,
                      double latency) {
  const auto after = std::upper_bound(
      curve.begin(), curve.end(), bytes,
      [](double value, const auto &point) { return value < point.first; });
  if (after == curve.end())
    return curve.back().second;
  if (after != curve.begin())
    return onLogLine(*std::prev(after), *after, bytes);
  const auto [firstBytes, firstSpeed] = curve.front();
  const double most = share * firstBytes / firstSpeed,
               least = std::min(latency, most);
  return share * bytes / (least + (most - least) * bytes / firstBytes);
}

/// Returns the number of ranks in which `own` differs from `other`, if a speed
/// for `own` may be interpolated from one for `other`; otherwise 0. Both have
/// one unit, or equal numbers of ranks per unit.
static int64_t comparedSize(const GroupPlacement &own,
                            const GroupPlacement &other) {
  if (own.level != other.level)
    return 0;
  if (own.units == 1 && other.units == 1)
    return other.perUnit;
  return own.perUnit == other.perUnit ? other.units : 0;
}

std::optional<double>
MeasuredCollective::seconds(std::string_view kind,
                            const GroupPlacement &placement, double bytes,
                            double latency) const {
  const double size = static_cast<double>(comparedSize(placement, placement));
  std::pair<double, double> below{0, 0}, above{INFINITY, 0};
  bytes = std::max(bytes, 1.0);
  for (const auto &[other, curve] : curves) {
    const auto measured = static_cast<double>(comparedSize(placement, other));
    const double speed =
        speedOn(curve, receivedShare(kind, other.perUnit * other.units), bytes,
                latency);
    if (measured > below.first && measured <= size)
      below = {measured, speed};
    if (measured >= size && measured < above.first)
      above = {measured, speed};
  }
  if (below.first == 0 || above.second == 0)
    return std::nullopt;
  const double speed =
      below.first == above.first ? below.second : onLogLine(below, above, size);
  return receivedShare(kind, placement.perUnit * placement.units) * bytes /
         speed;
}

std::optional<double>
MeasuredCollective::leastBytes(const GroupPlacement &placement) const {
  const auto found = curves.find(placement);
  return found == curves.end() ? std::nullopt
                               : std::optional(found->second.front().first);
}

} // namespace pcc::plan
