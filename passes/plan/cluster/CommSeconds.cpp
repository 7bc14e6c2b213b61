//===- CommSeconds.cpp - predicted seconds of communication ---------------===//

#include "passes/plan/cluster/Cluster.h"

#include <algorithm>

namespace pcc::plan {

namespace {
/// Share of its bandwidth that a network reaches when its switches reduce.
/// Tuner of NCCL, for NVLink of Hopper.
constexpr double inNetworkEfficiency = 0.85;
/// Bus bandwidth of gathers and scatters over that of an all-reduce which
/// switches compute. Measured with 8 H200: 362 and 482 GB/s.
constexpr double ringOverInNetwork = 0.75;

/// Prices calls of one kind of collective in one cluster.
class CallPrice {
public:
  CallPrice(const Cluster &cluster, std::string_view kind)
      : cluster(cluster), kind(kind) {}

  double seconds(const RankGroup &group, double received) const {
    const int64_t size = group.size();
    if (size < 2)
      return 0;
    const double bytes = received / receivedShare(kind, size);
    const GroupPlacement whole = placementOf(group);
    if (const auto known = measured(whole, bytes))
      return *known;
    if (whole.level == 0 || !(isRing() || kind == "all_to_all"))
      return single(whole, bytes);
    return isRing() ? hierarchical(group, whole.level, bytes)
                    : concurrent(group, whole.level, bytes);
  }

private:
  const Link &link(size_t level) const { return cluster.links[level]; }

  bool isRing() const {
    return kind == "all_reduce" || kind == "all_gather" ||
           kind == "reduce_scatter";
  }

  /// Returns the number of ranks of `group` within one unit of the level. The
  /// outermost level connects all ranks.
  int64_t within(const RankGroup &group, size_t level) const {
    return level + 1 < cluster.links.size() ? group.sizeWithin(link(level).span)
                                            : group.size();
  }

  GroupPlacement placementOf(const RankGroup &group) const {
    const int64_t size = group.size();
    size_t level = 0;
    while (within(group, level) < size)
      ++level;
    if (level == 0)
      return {0, size, 1};
    const int64_t perUnit = within(group, level - 1);
    return {level, perUnit, (size + perUnit - 1) / perUnit};
  }

  const MeasuredCollective *tableOf(std::string_view name) const {
    const auto found = cluster.collectives.find(name);
    return found == cluster.collectives.end() ? nullptr : &found->second;
  }

  /// Returns the measured seconds of a call on a tensor of `bytes` bytes. Below
  /// the measured sizes, and where only all-reduces were measured, the seconds
  /// follow from those of an all-reduce.
  std::optional<double> measured(const GroupPlacement &placement,
                                 double bytes) const {
    const MeasuredCollective *own = tableOf(kind);
    const double latency = link(placement.level).alpha;
    auto seconds =
        own ? own->seconds(kind, placement, bytes, latency) : std::nullopt;
    if (kind == "all_reduce")
      return seconds;
    if (!seconds)
      return asAllReduce(placement, bytes);
    if (const auto least = own->leastBytes(placement); least && bytes < *least)
      if (const auto derived = asAllReduce(placement, bytes))
        return *derived * *own->seconds(kind, placement, *least, latency) /
               *asAllReduce(placement, *least);
    return seconds;
  }

  /// Returns the seconds of a call with the bus bandwidth of an all-reduce of
  /// equal size, if that was measured, and if a ring can have it.
  std::optional<double> asAllReduce(const GroupPlacement &placement,
                                    double bytes) const {
    const MeasuredCollective *table = tableOf("all_reduce");
    const Link &own = link(placement.level);
    const int64_t size = placement.perUnit * placement.units;
    if (!table || (!isRing() && kind != "all_to_all"))
      return std::nullopt;
    auto seconds = table->seconds("all_reduce", placement, bytes, own.alpha);
    if (!seconds)
      return std::nullopt;
    const bool isInNetwork =
        own.leastReducedRanks > 0 && size >= own.leastReducedRanks;
    const double share =
        receivedShare(kind, size) / receivedShare("all_reduce", size);
    return std::max(own.alpha,
                    *seconds * share / (isInNetwork ? ringOverInNetwork : 1));
  }

  /// Returns the seconds of a call by ranks of one level: latency, and bytes
  /// over bandwidth.
  double single(const GroupPlacement &placement, double bytes) const {
    const Link &own = link(placement.level);
    const int64_t size = placement.perUnit * placement.units;
    double seconds = receivedShare(kind, size) * bytes / own.bytesPerSecond;
    if (kind == "all_reduce" && own.leastReducedRanks > 0 &&
        size >= own.leastReducedRanks)
      seconds =
          std::min(seconds, bytes / (own.bytesPerSecond * inNetworkEfficiency));
    return own.alpha + seconds;
  }

  /// Calls `use` with each level up to `outermost`, and the numbers of ranks of
  /// `group` within one unit of the next inner level and of this level.
  template <typename Use>
  void forEachLevel(const RankGroup &group, size_t outermost, Use use) const {
    int64_t inner = 1;
    for (size_t level = 0; level <= outermost; ++level) {
      const int64_t here = within(group, level);
      use(level, inner, here);
      inner = here;
    }
  }

  /// Returns the sum of the seconds within units and between units, up to the
  /// level `outermost`.
  double hierarchical(const RankGroup &group, size_t outermost,
                      double bytes) const {
    double seconds = 0;
    const auto add = [&](size_t level, int64_t inner, int64_t here) {
      const int64_t units = (here + inner - 1) / inner;
      const GroupPlacement part = level == 0 ? GroupPlacement{0, units, 1}
                                             : GroupPlacement{level, 1, units};
      const double share = bytes / static_cast<double>(inner);
      if (units > 1)
        seconds += measured(part, share).value_or(single(part, share));
    };
    forEachLevel(group, outermost, add);
    return seconds;
  }

  /// Returns the seconds of the slowest level, where all levels communicate at
  /// the same time: each rank sends an equal part to every other one.
  double concurrent(const RankGroup &group, size_t outermost,
                    double bytes) const {
    double slowest = 0;
    const auto compare = [&](size_t level, int64_t inner, int64_t here) {
      slowest = std::max(slowest, bytes * static_cast<double>(here - inner) /
                                      static_cast<double>(group.size()) /
                                      link(level).bytesPerSecond);
    };
    forEachLevel(group, outermost, compare);
    return link(outermost).alpha + slowest;
  }

  const Cluster &cluster;
  const std::string_view kind;
};
} // namespace

const Link &Cluster::linkFor(const RankGroup &group) const {
  for (const Link &link : links)
    if (group.sizeWithin(link.span) == group.size())
      return link;
  return links.back();
}

double Cluster::commSeconds(std::string_view kind, const RankGroup &group,
                            double received) const {
  return CallPrice(*this, kind).seconds(group, received);
}

} // namespace pcc::plan
