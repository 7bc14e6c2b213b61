//===- ClusterFile.cpp - TOML parser of cluster files ---------------------===//

#include "passes/plan/cluster/ClusterReader.h"

namespace pcc::plan {

double ClusterReader::number(const std::string &name, const toml::node &node) {
  // Sums and quotients of numbers in this range stay finite.
  constexpr double least = 1e-12, most = 1e15;
  const std::optional<double> value = node.value<double>();
  if (value && (*value == 0 || (*value >= least && *value <= most)))
    return *value;
  fail(node, "'" + name + "' must be 0 or a number from 1e-12 to 1e15");
  return 0;
}

int ClusterReader::count(const std::string &name, const toml::node &node) {
  const std::optional<int64_t> value = node.value_exact<int64_t>();
  if (value && *value > 0 && *value <= 1 << 24)
    return static_cast<int>(*value);
  fail(node, "'" + name + "' must be a positive whole number");
  return 1;
}

std::string ClusterReader::text(const std::string &name,
                                const toml::node &node) {
  if (!node.is_string())
    fail(node, "'" + name + "' must be a text");
  return node.value_or(std::string());
}

bool ClusterReader::flag(const std::string &name, const toml::node &node) {
  if (!node.is_boolean())
    fail(node, "'" + name + "' must be true or false");
  return node.value_or(false);
}

const toml::table *ClusterReader::table(const std::string &name,
                                        const toml::node &node) {
  if (!node.is_table())
    fail(node, "'" + name + "' must be a table");
  return node.as_table();
}

/// Returns the points (x, y) of the list `node`, such as [[65536, 28],
/// [1048576, 41]]. Multiplies each x by `xUnit` and each y by `yUnit`. Records
/// an error if the list is empty or malformed, if a number is negative or a y
/// is 0, or if the x values do not ascend.
Curve ClusterReader::curve(const std::string &name, const toml::node &node,
                           double xUnit, double yUnit) {
  Curve points;
  const toml::array *rows = node.as_array();
  for (size_t i = 0; rows && i < rows->size(); ++i) {
    const toml::array *row = (*rows)[i].as_array();
    if (!row || row->size() != 2)
      break;
    points.push_back(
        {number(name, (*row)[0]) * xUnit, number(name, (*row)[1]) * yUnit});
    if (points.back().second <= 0 ||
        (i > 0 && points[i].first <= points[i - 1].first))
      fail(node,
           "the points of '" + name + "' must ascend and have positive values");
  }
  if (!rows || rows->empty() || points.size() != rows->size())
    fail(node, "'" + name + "' must be a list of pairs of numbers");
  return points;
}

void ClusterReader::readDevice(const std::string &name,
                               const toml::node &node) {
  const toml::table *entries = table(name, node);
  if (!entries)
    return;
  if (const toml::node *peaks = entries->get("peak_tflops"))
    readPeaks(name + ".peak_tflops", *peaks);
  if (const toml::node *efficiency = entries->get("gemm_eff"))
    readEfficiency(name + ".gemm_eff", *efficiency);
  const NumberField fields[] = {
      {"mem_gb", &cluster.memoryBytes, gibi},
      {"mem_gbps", &cluster.memoryBytesPerSecond, giga},
      {"launch_us", &cluster.launchSeconds, micro},
      {"reserved_gb", &cluster.reservedBytes, gibi}};
  for (const auto &[key, value] : *entries)
    if (key != "peak_tflops" && key != "gemm_eff")
      readNumber(name + "." + std::string(key.str()), key.str(), value, fields);
  if (cluster.memoryBytesPerSecond <= 0)
    fail(node, "'" + name + ".mem_gbps' must be positive");
}

/// Parses the peak speed of a device for each element type, in teraflops per
/// second, such as {bf16 = 989, fp32 = 67}. Changes names such as fp32 to f32.
/// Records an error for a number that is not positive.
void ClusterReader::readPeaks(const std::string &name, const toml::node &node) {
  const toml::table *entries = table(name, node);
  if (!entries)
    return;
  for (const auto &[key, value] : *entries) {
    std::string dtype(key.str());
    if (dtype.starts_with("fp"))
      dtype.erase(1, 1);
    const double peak = number(name + "." + dtype, value) * tera;
    if (peak <= 0)
      fail(value, "'" + name + "." + dtype + "' must be positive");
    cluster.peakFlops[dtype] = peak;
  }
}

/// Returns whether the dot at index `dot` of `line` has digits on both sides,
/// as in 12.5, and no further dot touches these digits, as in the key 1.2.3. At
/// the end of the line, the dot needs digits only before it.
static bool isDecimalPoint(std::string_view line, size_t dot) {
  constexpr std::string_view digits = "0123456789_";
  const size_t before =
      dot == 0 ? line.npos : line.find_last_not_of(digits, dot - 1);
  const size_t after = line.find_first_not_of(digits, dot + 1);
  const auto isDot = [&](size_t at) {
    return at < line.size() && line[at] == '.';
  };
  // `beginsWithDot` is true if no digit comes directly before the dot, as in
  // `=.5`. `endsWithDot` is true if another character than a digit comes
  // directly after the dot, as in `a.b`.
  const bool beginsWithDot = before + 1 == dot, endsWithDot = after == dot + 1;
  return !beginsWithDot && !endsWithDot && !isDot(before) && !isDot(after);
}

/// Returns the number of the first line with more than 1,000 dots that are no
/// decimal points; 0 if there is none. For a key such as a.b.c, the parser
/// makes a nested table for each dot. Too many nested tables would overflow the
/// stack.
static size_t findDeepKey(std::string_view text) {
  constexpr ptrdiff_t most = 1000;
  for (size_t line = 1; !text.empty(); ++line) {
    const std::string_view content = text.substr(0, text.find('\n'));
    ptrdiff_t dots = 0;
    for (size_t at = content.find('.'); at != content.npos;
         at = content.find('.', at + 1))
      dots += isDecimalPoint(content, at) ? 0 : 1;
    if (dots > most)
      return line;
    text.remove_prefix(std::min(content.size() + 1, text.size()));
  }
  return 0;
}

/// Parses the text of a cluster file, one top-level field after another. Reads
/// the fields in the order of `fields`, since links depend on the devices of a
/// node, and collectives depend on the links.
StatusOr<Cluster> ClusterReader::read(std::string_view text) {
  static constexpr Field fields[] = {
      {"nodes", &ClusterReader::readNodes},
      {"devices_per_node", &ClusterReader::readDevicesPerNode},
      {"host_ram_gb", &ClusterReader::readHostMemory},
      {"overlap_slowdown", &ClusterReader::readSlowdown},
      {"gemm_eff", &ClusterReader::readEfficiency},
      {"device", &ClusterReader::readDevice},
      {"links", &ClusterReader::readLinks},
      {"collectives", &ClusterReader::readCollectives},
      {"provenance", &ClusterReader::readProvenance}};
  if (const size_t line = findDeepKey(text))
    return Status::error(WrongUsage,
                         "line " + std::to_string(line) +
                             " of the cluster file has too many dots");
  toml::parse_result parsed = toml::parse(text);
  if (!parsed)
    return Status::error(
        WrongUsage, "line " +
                        std::to_string(parsed.error().source().begin.line) +
                        " of the cluster file is not TOML: " +
                        std::string(parsed.error().description()));
  for (const auto &[key, value] : parsed.table()) {
    auto field = std::find_if(
        std::begin(fields), std::end(fields),
        [&key = key](const Field &f) { return f.name == key.str(); });
    if (field == std::end(fields))
      fail(value, "unknown field '" + std::string(key.str()) + "'");
  }
  for (const Field &field : fields)
    if (const toml::node *value = parsed.table().get(field.name))
      (this->*field.read)(std::string(field.name), *value);
  PCC_RETURN_IF_ERROR(error);
  return cluster;
}

StatusOr<Cluster> parseCluster(std::string_view text, const Cluster &defaults) {
  return ClusterReader(defaults).read(text);
}

} // namespace pcc::plan
