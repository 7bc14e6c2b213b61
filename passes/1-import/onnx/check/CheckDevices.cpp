//===- CheckDevices.cpp - checks of multi-device annotations --------------===//

#include "passes/1-import/onnx/check/CheckDevices.h"
#include "passes/1-import/onnx/model/MessageText.h"
#include "status/Counted.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

using namespace pcc;
using namespace pcc::onnx;

namespace {

/// Checks the multi-device annotations of a model: first its device
/// configurations, then each node. Keeps only the first error.
class DeviceCheck {
public:
  /// Checks each device configuration of `model`: its name, the number of its
  /// devices, and the names of its devices.
  explicit DeviceCheck(const Model &model);

  /// Checks the multi-device annotations of `nodes` and of the nodes in their
  /// subgraphs. An annotation of a node gives the pipeline stage of the node,
  /// and describes how tensors of the node are split among devices. The
  /// function records the first mistake in `error`.
  void visit(const std::vector<Node> &nodes);

  Status error;

private:
  void check(const Node &node);
  void check(const ShardingSpec &spec, int64_t numDevices);
  /// Checks a sharding: `spec` describes how one tensor is split. No dim may be
  /// split twice. Each split dim must have a number of shards, at least 1.
  void checkDims(const ShardingSpec &spec);
  /// Checks the device list of `spec`, the sharding of one tensor. An entry is
  /// the number of a device, below `numDevices`, or the key of a device group.
  /// All devices of a group hold the same shard.
  void checkEntries(const ShardingSpec &spec, int64_t numDevices);
  /// Checks that `device` is at least 0 and less than `numDevices`, and that
  /// the sharding has not listed it before. Adds `device` to the set `listed`,
  /// or records an error.
  void checkDevice(int64_t device, int64_t numDevices);
  /// Sets `error` to an error with the message `what`. Does nothing if `error`
  /// already holds an error. The message begins with the node `current` and the
  /// tensor `tensor`, if these members are set. For example, the node n of type
  /// MatMul, the tensor W and the text "splits axis 0 twice" give the message
  /// "node 'n' (MatMul): the sharding of 'W' splits axis 0 twice".
  void fail(const std::string &what);

  /// Number of devices of each device configuration, by the configuration's
  /// name.
  std::unordered_map<std::string_view, int64_t> numDevices;
  /// Node whose multi-device annotations are being checked. A multi-device
  /// annotation of a node describes how the tensors of the node are split among
  /// devices. The member is null while the class checks the model's device
  /// configurations, because a device configuration belongs to no node.
  const Node *current = nullptr;
  /// Name of the tensor whose sharding is being checked; empty if there is
  /// none.
  std::string_view tensor;
  /// Numbers of the devices that checkEntries() has found so far in the
  /// sharding of one tensor. The sharding lists the devices that hold the
  /// shards of the tensor. The class reports an error if the sharding lists a
  /// device twice.
  std::unordered_set<int64_t> listed;
};

} // namespace

/// Largest number of devices in one ONNX device configuration.
static const int64_t mostDevices = 65536;

static bool contains(const std::vector<std::string_view> &names,
                     std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void DeviceCheck::fail(const std::string &what) {
  if (error.failed())
    return;
  std::string where;
  if (current)
    where = "node " + current->label() + ": ";
  if (!tensor.empty())
    where += "the sharding of " + quoted(tensor) + " ";
  error = Status::error(CannotMeet, where + what);
}

/// Checks the device configurations of `model`. A device configuration is a set
/// of devices that the model can run on. Each device configuration must have a
/// name of its own and 1 to 65536 devices. A device configuration may also list
/// the names of its devices. If this list is not empty, it must have one name
/// per device. The constructor records the first mistake in the member `error`.
DeviceCheck::DeviceCheck(const Model &model) {
  for (const DeviceConfiguration &configuration : model.configurations) {
    const std::string name =
        "device configuration " + quoted(configuration.name);
    const auto count = static_cast<int64_t>(configuration.numDevices);
    if (configuration.name.empty())
      fail("a device configuration has no name");
    if (!numDevices.emplace(configuration.name, count).second)
      fail(name + " is listed twice");
    if (count < 1 || count > mostDevices)
      fail(name + " has " + counted(count, "device") +
           "; from 1 to 65536 are possible");
    if (!configuration.devices.empty() &&
        configuration.devices.size() != static_cast<size_t>(count))
      fail(name + " names " + counted(configuration.devices.size(), "device") +
           ", but has " + std::to_string(count));
  }
}

void DeviceCheck::visit(const std::vector<Node> &nodes) {
  for (const Node &node : nodes) {
    if (error.failed())
      return;
    current = &node;
    tensor = {};
    check(node);
    for (const Attribute &attribute : node.attributes)
      for (const Graph &graph : attribute.graphs)
        visit(graph.nodes);
  }
}

/// Checks the multi-device annotations of `node`. Each annotation contains the
/// name of a device configuration (a set of devices) and the shardings of some
/// tensors. The model must have a device configuration with this name. Each of
/// the tensors must be an input or an output of `node`. The function then
/// checks each sharding by itself, and records the first mistake in the member
/// `error`.
void DeviceCheck::check(const Node &node) {
  std::unordered_set<std::string_view> seen;
  for (const NodeDeviceConfiguration &own : node.deviceConfigurations) {
    const auto found = numDevices.find(own.configurationId);
    if (found == numDevices.end())
      return fail("the model has no device configuration " +
                  quoted(own.configurationId));
    if (!seen.insert(own.configurationId).second)
      return fail("refers to device configuration " +
                  quoted(own.configurationId) + " twice");
    if (own.pipelineStage.value_or(0) < 0)
      return fail("is on pipeline stage " + std::to_string(*own.pipelineStage));
    std::unordered_set<std::string_view> tensors;
    for (const ShardingSpec &spec : own.shardingSpecs) {
      tensor = {};
      if (!contains(node.inputs, spec.tensorName) &&
          !contains(node.outputs, spec.tensorName))
        return fail("shards " + quoted(spec.tensorName) +
                    ", which is neither an input nor an output of it");
      if (!tensors.insert(spec.tensorName).second)
        return fail("shards " + quoted(spec.tensorName) + " twice");
      tensor = spec.tensorName;
      check(spec, found->second);
    }
  }
}

void DeviceCheck::check(const ShardingSpec &spec, int64_t numDevices) {
  checkDims(spec);
  checkEntries(spec, numDevices);
  const int64_t shards = numShards(spec);
  const auto entries = static_cast<int64_t>(spec.devices.size());
  if (entries != 0 && shards != 1 && entries != shards)
    fail("has " + std::to_string(shards) + " shards, but lists " +
         counted(entries, "device") + " or groups");
  if (shards > numDevices)
    fail("has " + std::to_string(shards) + " shards for " +
         counted(numDevices, "device"));
}

void DeviceCheck::checkDims(const ShardingSpec &spec) {
  std::unordered_set<int64_t> axes;
  for (const ShardedDim &dim : spec.shardedDims) {
    const std::string axis = "axis " + std::to_string(dim.axis);
    if (!axes.insert(dim.axis).second)
      return fail("splits " + axis + " twice");
    if (dim.simpleShardings.empty())
      return fail("does not say into how many shards it splits " + axis);
    for (const SimpleShardedDim &simple : dim.simpleShardings)
      if (simple.numShards < 1)
        return fail("splits " + axis + " into " +
                    std::to_string(simple.numShards) + " shards");
  }
}

void DeviceCheck::checkDevice(int64_t device, int64_t numDevices) {
  if (device < 0 || device >= numDevices)
    fail("lists device " + std::to_string(device) +
         ", which is neither the number of one of " +
         counted(numDevices, "device") + " nor the key of a group");
  else if (!listed.insert(device).second)
    fail("lists device " + std::to_string(device) + " twice");
}

/// Checks the device list of `spec`. An entry is the number of a device, or the
/// key of a group of devices that hold the same shard. All entries must stand
/// for equally many devices. No device may occur twice.
void DeviceCheck::checkEntries(const ShardingSpec &spec, int64_t numDevices) {
  std::unordered_map<int64_t, const DeviceGroup *> groups;
  for (const DeviceGroup &group : spec.groups) {
    const std::string name = "device group " + std::to_string(group.key);
    if (!groups.emplace(group.key, &group).second)
      return fail("has " + name + " twice");
    if (group.devices.empty())
      return fail("has an empty " + name);
    if (std::find(spec.devices.begin(), spec.devices.end(), group.key) ==
        spec.devices.end())
      return fail("has " + name + ", which its device list does not use");
  }
  listed.clear();
  size_t size = 0;
  for (int64_t entry : spec.devices) {
    const auto group = groups.find(entry);
    if (group == groups.end())
      checkDevice(entry, numDevices);
    else
      for (int64_t device : group->second->devices)
        checkDevice(device, numDevices);
    const size_t own =
        group == groups.end() ? 1 : group->second->devices.size();
    if (size != 0 && own != size)
      return fail("gives one shard to " + counted(size, "device") +
                  " and another to " + std::to_string(own));
    size = own;
  }
}

int64_t pcc::onnx::numShards(const ShardingSpec &spec) {
  int64_t shards = 1;
  for (const ShardedDim &dim : spec.shardedDims)
    for (const SimpleShardedDim &simple : dim.simpleShardings)
      if (__builtin_mul_overflow(shards, simple.numShards, &shards))
        return INT64_MAX;
  return shards;
}

Status pcc::onnx::checkDevices(const Model &model) {
  DeviceCheck check(model);
  check.visit(model.graph.nodes);
  for (const Function &function : model.functions)
    check.visit(function.nodes);
  return std::move(check.error);
}
