//===- ClusterReader.h - parser of cluster files --------------------------===//

#ifndef PCC_PASSES_PLAN_CLUSTER_CLUSTERREADER_H
#define PCC_PASSES_PLAN_CLUSTER_CLUSTERREADER_H

#include "passes/plan/cluster/Cluster.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#define TOML_EXCEPTIONS 0
#include "toml++/toml.h"

namespace pcc::plan {

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
  /// Returns the text or the truth value at `node`. Records an error if there
  /// is a value of another type.
  std::string text(const std::string &name, const toml::node &node);
  bool flag(const std::string &name, const toml::node &node);
  Curve curve(const std::string &name, const toml::node &node, double xUnit,
              double yUnit);
  /// Returns `node` as a table. If it is no table, records an error and returns
  /// null.
  const toml::table *table(const std::string &name, const toml::node &node);
  /// Parses `node`, a table of numbers such as {compute = 1.1, comm = 1.2},
  /// into the variables in `fields`. Records an error if `node` is no table, a
  /// key is unknown, or a value is no number or out of range.
  template <size_t N>
  void numbers(const std::string &name, const toml::node &node,
               const NumberField (&fields)[N]);
  /// Parses `node`, the value of the entry `key`, into its variable in
  /// `fields`. `name` is its whole name for messages.
  template <size_t N>
  void readNumber(const std::string &name, std::string_view key,
                  const toml::node &node, const NumberField (&fields)[N]);

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
  Link readLink(const std::string &name, const toml::node &node);
  bool readInNetwork(const std::string &name, const toml::node &node,
                     Link &link);
  void readCollectives(const std::string &name, const toml::node &node);
  void readLevel(const std::string &name, std::string_view level,
                 const toml::table &groups, MeasuredCollective &measured);
  void readSpeeds(const std::string &name, std::string_view key,
                  const toml::node &points, std::optional<size_t> level,
                  MeasuredCollective &measured);
  /// Returns the group of ranks that the name of measured speeds means;
  /// std::nullopt if it means none.
  std::optional<GroupPlacement> placementOf(std::string_view key,
                                            std::optional<size_t> level) const;
  /// Ignores free text about the origin of the numbers.
  void readProvenance(const std::string &name, const toml::node &node) {
    table(name, node);
  }

  Cluster cluster;
  /// The first error that was found; success if there was none.
  Status error;

  static constexpr double micro = 1e-6, giga = 1e9, tera = 1e12;
  static constexpr double gibi = 1024.0 * 1024 * 1024;
};

template <size_t N>
void ClusterReader::numbers(const std::string &name, const toml::node &node,
                            const NumberField (&fields)[N]) {
  const toml::table *entries = table(name, node);
  if (!entries)
    return;
  for (const auto &[key, value] : *entries)
    readNumber(name + "." + std::string(key.str()), key.str(), value, fields);
}

template <size_t N>
void ClusterReader::readNumber(const std::string &name, std::string_view key,
                               const toml::node &node,
                               const NumberField (&fields)[N]) {
  auto field =
      std::find_if(std::begin(fields), std::end(fields),
                   [&](const NumberField &f) { return f.name == key; });
  if (field == std::end(fields))
    fail(node, "unknown field '" + name + "'");
  else
    *field->value = number(name, node) * field->unit;
}

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_CLUSTER_CLUSTERREADER_H
