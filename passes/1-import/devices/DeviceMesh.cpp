//===- DeviceMesh.cpp - ONNX device lists as axes of a mesh ---------------===//

#include "passes/1-import/devices/DeviceMesh.h"
#include "status/Counted.h"

#include <algorithm>
#include <functional>
#include <numeric>

using namespace pcc;
using namespace pcc::onnx_import;

/// Formats the first 16 of `numbers` for messages: "0, 1, 2". If there are
/// more, ", …" follows.
static std::string listOf(const std::vector<int64_t> &numbers) {
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(numbers.size(), 16); ++i)
    text += (i ? ", " : "") + std::to_string(numbers[i]);
  return numbers.size() > 16 ? text + ", …" : text;
}

std::string onnx_import::textOf(const dist::Mesh &mesh) {
  std::string text;
  for (const dist::Axis &axis : mesh.axes)
    if (axis.size > 1)
      text += (text.empty() ? "" : ",") + axis.name + "=" +
              std::to_string(axis.size);
  return text.empty() ? "one device" : text;
}

static int64_t product(const std::vector<int64_t> &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<>());
}

/// Returns the numbers of all devices that hold one shard of a tensor. `entry`
/// stands for this shard in the device list of the ONNX annotation `spec`. It
/// is the key of a device group in `spec`, or the number of the only device
/// that holds the shard.
static std::vector<int64_t> devicesOf(const onnx::ShardingSpec &spec,
                                      int64_t entry) {
  for (const onnx::DeviceGroup &group : spec.groups)
    if (group.key == entry)
      return group.devices;
  return {entry};
}

StatusOr<ShardLayout> onnx_import::layoutOf(const onnx::ShardingSpec &spec,
                                            int64_t devicesPerStage) {
  ShardLayout layout;
  for (const onnx::ShardedDim &dim : spec.shardedDims)
    for (const onnx::SimpleShardedDim &simple : dim.simpleShardings)
      layout.counts.push_back(simple.numShards);
  if (spec.devices.empty())
    return layout;
  std::vector<std::pair<int64_t, int64_t>> held; // device, shard
  const bool isOneShard = product(layout.counts) == 1;
  for (size_t i = 0; i < spec.devices.size(); ++i)
    for (int64_t device : devicesOf(spec, spec.devices[i]))
      held.push_back({device, isOneShard ? 0 : static_cast<int64_t>(i)});
  std::sort(held.begin(), held.end());
  std::vector<int64_t> devices;
  for (const auto &[device, shard] : held) {
    devices.push_back(device);
    layout.shards.push_back(shard);
  }
  layout.firstDevice = devices.front();
  const bool isWholeStage =
      static_cast<int64_t>(held.size()) == devicesPerStage &&
      devices.front() % devicesPerStage == 0 &&
      devices.back() == devices.front() + devicesPerStage - 1;
  if (isWholeStage)
    return layout;
  return Status::error(
      CannotMeet, "lies on devices " + listOf(devices) +
                      ", which are not all " +
                      counted(devicesPerStage, "device") +
                      " of a stage; groups of devices tell which ones hold the "
                      "same shard");
}

/// Returns one list for each factor of a tensor's split dims. A dim is a
/// product of factors: a dim of 768 may be 12 x 64. A factor is cut into equal
/// parts. Element d of its list is the index of the part that device d holds.
static std::vector<std::vector<int64_t>> partsOf(const ShardLayout &layout) {
  std::vector<std::vector<int64_t>> parts(
      layout.counts.size(), std::vector<int64_t>(layout.shards.size()));
  for (size_t device = 0; device < layout.shards.size(); ++device) {
    int64_t rest = layout.shards[device];
    for (size_t factor = layout.counts.size(); factor-- > 0;) {
      parts[factor][device] = rest % layout.counts[factor];
      rest /= layout.counts[factor];
    }
  }
  return parts;
}

/// Returns whether the indices in `part` grow by equal steps along a mesh axis
/// of `count` devices: part[i * stride] must be i * part[stride] for each i
/// from 2 on. Device d holds the part of a tensor dim with the index part[d].
static bool isLinear(const std::vector<int64_t> &part, int64_t stride,
                     int64_t count) {
  for (int64_t i = 2; i < count; ++i)
    if (part[i * stride] != i * part[stride])
      return false;
  return true;
}

std::vector<int64_t>
onnx_import::commonAxes(const std::vector<ShardLayout> &layouts,
                        int64_t numDevices) {
  std::vector<std::vector<int64_t>> parts;
  for (const ShardLayout &layout : layouts)
    if (!layout.shards.empty())
      for (std::vector<int64_t> &part : partsOf(layout))
        if (std::find(parts.begin(), parts.end(), part) == parts.end())
          parts.push_back(std::move(part));
  // Find the sizes of the mesh axes, minor axis first. Each list `part` in
  // `parts` describes the split of one factor of a tensor dim: device d holds
  // the part with the index part[d]. An axis gets the largest size along which
  // the indices of each list grow by equal steps. For example, 0 0 1 1 grow by
  // 0 along a minor axis of size 2, and by 1 along a major axis of size 2.
  std::vector<int64_t> sizes;
  for (int64_t stride = 1; stride < numDevices; stride *= sizes.back()) {
    int64_t size = numDevices / stride;
    auto fits = [&](const std::vector<int64_t> &part) {
      return isLinear(part, stride, size);
    };
    while (numDevices / stride % size != 0 ||
           !std::all_of(parts.begin(), parts.end(), fits))
      --size;
    sizes.push_back(size);
    if (size == 1)
      break;
  }
  if (sizes.empty() || product(sizes) != numDevices)
    return {numDevices};
  std::reverse(sizes.begin(), sizes.end());
  return sizes;
}

/// Splits the mesh axis `axis` into sub-axes of prime size. A sub-axis is a
/// part of a mesh axis. For example, an axis of size 12 has three sub-axes with
/// the sizes 2, 2 and 3, as if the axis were reshaped to 2 x 2 x 3. Returns the
/// sub-axes from major to minor. The sizes never become smaller from major to
/// minor. In the example, the minor sub-axis has the size 3.
static dist::SubAxes primeParts(const dist::Axis &axis) {
  dist::SubAxes parts;
  int64_t rest = axis.size, before = 1;
  for (int64_t prime = 2; rest > 1; ++prime)
    for (; rest % prime == 0; rest /= prime, before *= prime)
      parts.push_back({axis.name, before, prime});
  return parts;
}

/// Splits all axes of `mesh` into sub-axes of prime size, as if the axes were
/// reshaped. Returns each sub-axis with its stride, minor first. The stride is
/// the difference between the numbers of two devices that are neighbors along
/// the sub-axis. For dp=2,tp=6, the sub-axes have the sizes 3, 2 and 2, and the
/// strides 1, 3 and 6.
static std::vector<std::pair<dist::SubAxis, int64_t>>
stridesOf(const dist::Mesh &mesh) {
  std::vector<std::pair<dist::SubAxis, int64_t>> strides;
  int64_t stride = 1;
  for (auto axis = mesh.axes.rbegin(); axis != mesh.axes.rend(); ++axis) {
    dist::SubAxes parts = primeParts(*axis);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      strides.push_back({*part, stride});
      stride *= part->size;
    }
  }
  return strides;
}

/// Finds sub-axes (parts of axes) of `mesh` such that a split of a tensor dim
/// over them puts the part with the index part[d] on device d. Returns the
/// sub-axes, major first, or an empty list if there are none. On the mesh
/// dp=2,tp=2, {0 1 0 1} is a split over tp.
static dist::SubAxes countedBy(const std::vector<int64_t> &part,
                               const dist::Mesh &mesh) {
  std::vector<std::pair<int64_t, dist::SubAxis>> steps;
  for (const auto &[axis, stride] : stridesOf(mesh))
    if (part[stride] != 0)
      steps.push_back({part[stride], axis});
  std::sort(steps.begin(), steps.end(), std::greater<>());
  dist::SubAxes axes;
  for (const auto &[step, axis] : steps)
    axes.push_back(axis);
  axes = dist::mergeNeighbours(axes);
  for (int64_t device = 0; device < static_cast<int64_t>(part.size()); ++device)
    if (part[device] !=
        dist::coordinateOf(axes, mesh, mesh.coordinates(device)))
      return {};
  return axes;
}

/// Chooses mesh axes for a tensor whose ONNX annotation lists no devices. The
/// split dims of the tensor are products of factors, such as 12 x 64, and
/// factor f is split into layout.counts[f] equal parts. Returns for each factor
/// the only axis of `mesh` whose size is this number of parts: 4 parts on the
/// mesh dp=2,tp=4 are a split over tp. A factor with one part gets no axis.
/// Returns an error if no axis or several axes have the size.
static StatusOr<std::vector<dist::SubAxes>>
axesBySize(const ShardLayout &layout, const dist::Mesh &mesh) {
  std::vector<dist::SubAxes> axes;
  for (int64_t count : layout.counts) {
    dist::SubAxes candidates;
    for (const dist::Axis &axis : mesh.axes)
      if (axis.size == count && count > 1)
        candidates.push_back(dist::fullAxis(mesh, axis.name));
    if (count > 1 && candidates.size() != 1)
      return Status::error(
          CannotMeet,
          "lists no devices, and " +
              (candidates.empty() ? std::string("no axis")
                                  : counted(candidates.size(), "axis")) +
              " of the mesh " + textOf(mesh) + " could hold its " +
              std::to_string(count) + " shards");
    axes.push_back(std::move(candidates));
  }
  return axes;
}

StatusOr<std::vector<dist::SubAxes>>
onnx_import::axesOf(const ShardLayout &layout, const dist::Mesh &mesh) {
  ShardLayout listed = layout;
  if (listed.shards.empty()) {
    if (product(listed.counts) != mesh.size())
      return axesBySize(layout, mesh);
    listed.shards.resize(mesh.size());
    std::iota(listed.shards.begin(), listed.shards.end(), 0);
  }
  std::vector<dist::SubAxes> axes;
  for (const std::vector<int64_t> &part : partsOf(listed)) {
    const int64_t count = listed.counts[axes.size()];
    axes.push_back(countedBy(part, mesh));
    if (dist::numParts(axes.back()) == count)
      continue;
    return Status::error(CannotMeet, "gives its devices, in order, the parts " +
                                         listOf(part) + " of " +
                                         std::to_string(count) +
                                         ", which no axes of the mesh " +
                                         textOf(mesh) + " count");
  }
  return axes;
}

void onnx_import::setDevices(const std::vector<dist::SubAxes> &axes,
                             const dist::Mesh &mesh, int64_t firstDevice,
                             onnx::ShardingSpec &spec) {
  dist::SubAxes all;
  for (const dist::SubAxes &own : axes)
    all.insert(all.end(), own.begin(), own.end());
  std::vector<std::vector<int64_t>> holders(dist::numParts(all));
  for (int64_t device = 0; device < mesh.size(); ++device)
    holders[dist::coordinateOf(all, mesh, mesh.coordinates(device))].push_back(
        firstDevice + device);
  const bool areAlone = holders.front().size() == 1;
  for (const std::vector<int64_t> &devices : holders) {
    const int64_t key = -1 - static_cast<int64_t>(spec.devices.size());
    spec.devices.push_back(areAlone ? devices.front() : key);
    if (!areAlone)
      spec.groups.push_back({key, devices});
  }
}
