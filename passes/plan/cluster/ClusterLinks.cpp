//===- ClusterLinks.cpp - network and collectives of a cluster file -------===//

#include "passes/plan/cluster/ClusterReader.h"
#include "status/Counted.h"

#include <array>
#include <charconv>

namespace pcc::plan {

/// Parses one network link, such as {level = "nvlink", span = 8, beta_gbps =
/// 370}. Fields about NICs and directions reduce the bandwidth of the link.
Link ClusterReader::readLink(const std::string &name, const toml::node &node) {
  Link link;
  double nics = cluster.devicesPerNode, oversubscription = 1;
  int minGroup = 0;
  bool isDuplex = true, reduces = false;
  const NumberField fields[] = {{"alpha_us", &link.alpha, micro},
                                {"beta_gbps", &link.bytesPerSecond, giga},
                                {"nics_per_node", &nics, 1},
                                {"oversubscription", &oversubscription, 1}};
  const toml::table *entries = table(name, node);
  if (!entries)
    return link;
  for (const auto &[key, value] : *entries) {
    const std::string field = name + "." + std::string(key.str());
    if (key == "level")
      link.level = text(field, value);
    else if (key == "span")
      link.span = count(field, value);
    else if (key == "min_group")
      minGroup = count(field, value);
    else if (key == "duplex")
      isDuplex = flag(field, value);
    else if (key == "in_network")
      reduces = readInNetwork(field, value, link);
    else
      readNumber(field, key.str(), value, fields);
  }
  if (link.bytesPerSecond <= 0)
    fail(node, "a link needs a positive 'beta_gbps'");
  if (nics <= 0 || oversubscription < 1)
    fail(node, "a link needs a positive 'nics_per_node' and an "
               "'oversubscription' of at least 1");
  link.bytesPerSecond *=
      std::min(1.0, nics / cluster.devicesPerNode) / oversubscription;
  if (!isDuplex)
    link.bytesPerSecond /= 2;
  if (reduces && minGroup > 0)
    link.leastReducedRanks = minGroup;
  if (!reduces && minGroup > 0)
    fail(node, "'" + name + ".min_group' needs 'in_network'");
  return link;
}

/// Parses how the switches of `link` reduce: "nvls", "sharp" or "none". Sets
/// the default of its least number of ranks. Returns whether they reduce.
bool ClusterReader::readInNetwork(const std::string &name,
                                  const toml::node &node, Link &link) {
  const std::string kind = text(name, node);
  if (kind != "nvls" && kind != "sharp" && kind != "none")
    fail(node, "'" + name + "' must be \"nvls\", \"sharp\" or \"none\"");
  // NCCL chooses NVLS for more than four devices.
  link.leastReducedRanks = kind == "nvls" ? 5 : kind == "sharp" ? 2 : 0;
  return kind != "none";
}

/// Parses the field `links` of the cluster file, a list of network links. Each
/// link is one level of the network, such as NVLink or InfiniBand. Stores the
/// links in `cluster.links`, where they replace all links that were there. The
/// file may list the links in any order. The function sorts the links by `span`
/// (the number of ranks that a link connects), the smallest first. `name` is
/// the name of the field, and `node` is the value.
void ClusterReader::readLinks(const std::string &name, const toml::node &node) {
  const toml::array *entries = node.as_array();
  if (!entries || entries->empty())
    return fail(node, "'" + name + "' must be a list of tables");
  cluster.links.clear();
  for (const toml::node &entry : *entries)
    cluster.links.push_back(readLink(name, entry));
  std::sort(cluster.links.begin(), cluster.links.end(),
            [](const Link &a, const Link &b) { return a.span < b.span; });
  for (size_t i = 1; i < cluster.links.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (!cluster.links[i].level.empty() &&
          cluster.links[i].level == cluster.links[j].level)
        fail(node, "two links have the level '" + cluster.links[i].level + "'");
  // The outermost level connects all ranks, whatever its span is.
  for (size_t i = 1; i < cluster.links.size(); ++i)
    if (const int inner = cluster.links[i - 1].span,
        outer = cluster.links[i].span;
        outer == inner || (outer % inner != 0 && i + 1 < cluster.links.size()))
      fail(node, "units of " + counted(outer, "rank") +
                     " do not consist of whole units of " +
                     counted(inner, "rank"));
}

/// Collectives that may have measured speeds, and messages between pipeline
/// stages (`transfer`).
static constexpr std::array<std::string_view, 8> knownKinds = {
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all",
    "permute",    "exchange",   "broadcast",      "transfer"};

/// Parses measured speeds of collectives. In this example, the bus bandwidth of
/// an all-reduce of 65536 bytes by 8 ranks is 4.1 GB/s:
///
///     [collectives.all_reduce]
///     8 = [[65536, 4.1], [1048576, 44.7]]
void ClusterReader::readCollectives(const std::string &name,
                                    const toml::node &node) {
  const toml::table *kinds = table(name, node);
  if (!kinds)
    return;
  for (const auto &[kind, groups] : *kinds) {
    const std::string field = name + "." + std::string(kind.str());
    const toml::table *entries = table(field, groups);
    if (!entries)
      return;
    if (std::find(knownKinds.begin(), knownKinds.end(), kind.str()) ==
        knownKinds.end())
      fail(groups, "unknown collective '" + field + "'");
    MeasuredCollective &measured = cluster.collectives[std::string(kind.str())];
    for (const auto &[key, value] : *entries)
      if (value.is_table())
        readLevel(field, key.str(), *value.as_table(), measured);
      else
        readSpeeds(field, key.str(), value, std::nullopt, measured);
  }
}

/// Parses the speeds of a collective over the network level `level`.
void ClusterReader::readLevel(const std::string &name, std::string_view level,
                              const toml::table &groups,
                              MeasuredCollective &measured) {
  const auto link =
      std::find_if(cluster.links.begin(), cluster.links.end(),
                   [&](const Link &link) { return link.level == level; });
  const std::string field = name + "." + std::string(level);
  if (link == cluster.links.end())
    return fail(groups, "'" + field +
                            "' must be named by a group size, or by "
                            "the level of a link");
  for (const auto &[key, points] : groups)
    readSpeeds(field, key.str(), points,
               static_cast<size_t>(link - cluster.links.begin()), measured);
}

/// Parses the speeds of the group of ranks that `key` names: "8" for ranks with
/// consecutive numbers, "8x4" for 8 ranks of each of 4 units, "strided_4" for
/// one rank of each of 4 units. If `level` is std::nullopt, it is the innermost
/// level that connects consecutive ranks.
void ClusterReader::readSpeeds(const std::string &name, std::string_view key,
                               const toml::node &points,
                               std::optional<size_t> level,
                               MeasuredCollective &measured) {
  const std::string field = name + "." + std::string(key);
  const std::optional<GroupPlacement> placement = placementOf(key, level);
  if (!placement)
    return fail(points, "'" + field + "' must be named by a group size");
  Curve speeds = curve(field, points, 1, giga);
  if (!speeds.empty() && speeds.front().first <= 0)
    fail(points, "the bytes of '" + field + "' must be positive");
  if (!speeds.empty())
    measured.add(*placement, std::move(speeds));
}

/// Parses a positive whole number without any other character.
static std::optional<int64_t> parseSize(std::string_view text) {
  int64_t size = 0;
  const auto [end, failure] =
      std::from_chars(text.data(), text.data() + text.size(), size);
  if (failure != std::errc() || end != text.data() + text.size() || size < 1 ||
      size > 1 << 24 || text.front() == '0')
    return std::nullopt;
  return size;
}

std::optional<GroupPlacement>
ClusterReader::placementOf(std::string_view key,
                           std::optional<size_t> level) const {
  const size_t outermost = cluster.links.size() - 1;
  const size_t cross = key.find('x');
  const bool isStrided = key.starts_with("strided_");
  if (isStrided || cross != key.npos) {
    const auto perUnit = isStrided ? 1 : parseSize(key.substr(0, cross));
    const auto units = parseSize(key.substr(isStrided ? 8 : cross + 1));
    if (!perUnit || !units || level.value_or(outermost) == 0)
      return std::nullopt;
    return GroupPlacement{level.value_or(outermost), *perUnit, *units};
  }
  const auto size = parseSize(key);
  if (!size)
    return std::nullopt;
  if (!level)
    for (level = 0; *level < outermost && *size > cluster.links[*level].span;)
      ++*level;
  if (*level == 0)
    return GroupPlacement{0, *size, 1};
  const int64_t perUnit =
      std::min<int64_t>(*size, cluster.links[*level - 1].span);
  return GroupPlacement{*level, perUnit, (*size + perUnit - 1) / perUnit};
}

} // namespace pcc::plan
