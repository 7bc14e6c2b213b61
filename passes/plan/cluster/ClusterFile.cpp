//===- ClusterFile.cpp - TOML parser of cluster files ---------------------===//

#include "passes/plan/cluster/Cluster.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#define TOML_EXCEPTIONS 0
#include "toml++/toml.h"

namespace pcc::plan {
namespace {

constexpr double micro = 1e-6, giga = 1e9, tera = 1e12;
constexpr double gibi = 1024.0 * 1024 * 1024;

/// Parser of a cluster file, a TOML file that describes machines and their
/// network. The parser reads the fields of the file one after another and
/// stores their values in the member `cluster`. If a value is invalid, the
/// parser records an error and reads the next field. The parser keeps only the
/// first error. If there is an error, read() returns it instead of `cluster`.
class ClusterReader {
public:
  explicit ClusterReader(const Cluster &defaults) : cluster(defaults) {}

  StatusOr<Cluster> read(std::string_view text);

private:
  using Reader = void (ClusterReader::*)(const std::string &,
                                         const toml::node &);
  /// A top-level field of the cluster file, with the function that parses it.
  struct Field {
    std::string_view name;
    Reader read;
  };
  /// A field with one number. The number times `unit` is stored in `*value`; a
  /// unit of 1e-6 converts microseconds to seconds.
  struct NumberField {
    std::string_view name;
    double *value;
    double unit;
  };

  /// Records `text` and the line of `node` as the error, unless there is one
  /// already.
  void fail(const toml::node &node, const std::string &text) {
    if (error.ok())
      error = Status::error(WrongUsage,
                            "line " + std::to_string(node.source().begin.line) +
                                " of the cluster file: " + text);
  }
  /// Returns the number at `node`. If `node` is not a number, or if the number
  /// is negative, records an error and returns 0. `name` is the field's name
  /// for the message.
  double number(const std::string &name, const toml::node &node);
  /// Returns the integer at `node`. If it is no positive integer, records an
  /// error and returns 1.
  int count(const std::string &name, const toml::node &node);
  Curve curve(const std::string &name, const toml::node &node, double xUnit,
              double yUnit);
  /// Returns `node` as a table. If it is no table, records an error and returns
  /// null.
  const toml::table *table(const std::string &name, const toml::node &node);
  /// Parses `node`, a table of numbers such as {mem_gb = 80, launch_us = 4},
  /// into the variables in `fields`. Ignores the key `except`. Records an error
  /// if `node` is no table, a key is unknown, or a value is negative or no
  /// number.
  template <size_t N>
  void numbers(const std::string &name, const toml::node &node,
               const NumberField (&fields)[N], std::string_view except = {});

  void readNodes(const std::string &name, const toml::node &node) {
    cluster.nodes = count(name, node);
  }
  void readDevicesPerNode(const std::string &name, const toml::node &node) {
    cluster.devicesPerNode = count(name, node);
  }
  void readHostMemory(const std::string &name, const toml::node &node) {
    cluster.hostMemoryBytes = number(name, node) * gibi;
  }
  void readSlowdown(const std::string &name, const toml::node &node) {
    const NumberField fields[] = {{"compute", &cluster.computeSlowdown, 1},
                                  {"comm", &cluster.commSlowdown, 1}};
    numbers(name, node, fields);
  }
  void readEfficiency(const std::string &name, const toml::node &node) {
    cluster.matmulEfficiency = curve(name, node, 1, 1);
  }
  void readDevice(const std::string &name, const toml::node &node);
  void readPeaks(const std::string &name, const toml::node &node);
  void readLinks(const std::string &name, const toml::node &node);
  void readCollectives(const std::string &name, const toml::node &node);

  Cluster cluster;
  /// The first error that was found; success if there was none.
  Status error;
};

double ClusterReader::number(const std::string &name, const toml::node &node) {
  const std::optional<double> value = node.value<double>();
  if (value && *value >= 0)
    return *value;
  fail(node, "'" + name + "' must be a number that is not negative");
  return 0;
}

int ClusterReader::count(const std::string &name, const toml::node &node) {
  const std::optional<int64_t> value = node.value_exact<int64_t>();
  if (value && *value > 0 && *value <= 1 << 24)
    return static_cast<int>(*value);
  fail(node, "'" + name + "' must be a positive whole number");
  return 1;
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

template <size_t N>
void ClusterReader::numbers(const std::string &name, const toml::node &node,
                            const NumberField (&fields)[N],
                            std::string_view except) {
  const toml::table *entries = table(name, node);
  if (!entries)
    return;
  for (const auto &[key, value] : *entries) {
    if (key == except)
      continue;
    const std::string entry = name + "." + std::string(key.str());
    auto field = std::find_if(
        std::begin(fields), std::end(fields),
        [&, &key = key](const NumberField &f) { return f.name == key.str(); });
    if (field == std::end(fields))
      fail(value, "unknown field '" + entry + "'");
    else
      *field->value = number(entry, value) * field->unit;
  }
}

void ClusterReader::readDevice(const std::string &name,
                               const toml::node &node) {
  const toml::table *entries = table(name, node);
  if (!entries)
    return;
  if (const toml::node *peaks = entries->get("peak_tflops"))
    readPeaks(name + ".peak_tflops", *peaks);
  const NumberField fields[] = {
      {"mem_gb", &cluster.memoryBytes, gibi},
      {"mem_gbps", &cluster.memoryBytesPerSecond, giga},
      {"launch_us", &cluster.launchSeconds, micro},
      {"reserved_gb", &cluster.reservedBytes, gibi}};
  numbers(name, node, fields, /*except=*/"peak_tflops");
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
  for (const toml::node &entry : *entries) {
    const toml::table *fields = table(name, entry);
    if (!fields)
      return;
    Link link;
    for (const auto &[key, value] : *fields) {
      const std::string field = name + "." + std::string(key.str());
      if (key == "level")
        link.level = value.value_or(std::string());
      else if (key == "span")
        link.span = count(field, value);
      else if (key == "alpha_us")
        link.alpha = number(field, value) * micro;
      else if (key == "beta_gbps")
        link.bytesPerSecond = number(field, value) * giga;
      else
        fail(value, "unknown field '" + field + "'");
    }
    if (link.bytesPerSecond <= 0)
      fail(entry, "a link needs a positive 'beta_gbps'");
    cluster.links.push_back(link);
  }
  std::sort(cluster.links.begin(), cluster.links.end(),
            [](const Link &a, const Link &b) { return a.span < b.span; });
}

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
    const toml::table *sizes = table(field, groups);
    if (!sizes)
      return;
    for (const auto &[key, points] : *sizes) {
      const std::string_view text = key.str();
      int size = 0;
      auto [end, failure] =
          std::from_chars(text.data(), text.data() + text.size(), size);
      if (failure != std::errc() || end != text.data() + text.size() ||
          size < 1)
        return fail(points, "'" + field + "." + std::string(text) +
                                "' must be named by a group size");
      const std::string name = field + "." + std::string(text);
      Curve speeds = curve(name, points, 1, giga);
      if (!speeds.empty() && speeds.front().first <= 0)
        fail(points, "the bytes of '" + name + "' must be positive");
      cluster.collectives[std::string(kind.str())][size] = std::move(speeds);
    }
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

/// Parses the text of a cluster file, one top-level field after another.
StatusOr<Cluster> ClusterReader::read(std::string_view text) {
  static constexpr Field fields[] = {
      {"nodes", &ClusterReader::readNodes},
      {"devices_per_node", &ClusterReader::readDevicesPerNode},
      {"host_ram_gb", &ClusterReader::readHostMemory},
      {"overlap_slowdown", &ClusterReader::readSlowdown},
      {"gemm_eff", &ClusterReader::readEfficiency},
      {"device", &ClusterReader::readDevice},
      {"links", &ClusterReader::readLinks},
      {"collectives", &ClusterReader::readCollectives}};
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
    else
      (this->*field->read)(std::string(key.str()), value);
  }
  PCC_RETURN_IF_ERROR(error);
  return cluster;
}

} // namespace

StatusOr<Cluster> parseCluster(std::string_view text, const Cluster &defaults) {
  return ClusterReader(defaults).read(text);
}

} // namespace pcc::plan
