//===- DeviceMesh.h - ONNX device lists as axes of a mesh -----------------===//
//
// ONNX multi-device annotations list which device holds which shard of a
// tensor. pcc names the mesh axes over which a dim is split. Device numbers are
// ranks. An example on the mesh {dp=2, tp=2}, with the shards that each device
// holds:
//
//   device           0 1 2 3
//   dp coordinate    0 0 1 1
//   tp coordinate    0 1 0 1
//   shards 0 0 1 1   the dim is split over dp
//   shards 0 1 0 1   the dim is split over tp
//
// Plain C++ without MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_1_IMPORT_DEVICES_DEVICEMESH_H
#define PCC_PASSES_1_IMPORT_DEVICES_DEVICEMESH_H

#include "passes/1-import/onnx/model/Model.h"
#include "sharding/SubAxis.h"

#include <optional>
#include <string>
#include <vector>

namespace pcc::onnx_import {

/// The shard of one tensor that each device of a stage holds. Shards are
/// numbered row-major over `counts`.
struct ShardLayout {
  /// Number of parts of each factor, in the order of the annotation.
  std::vector<int64_t> counts;
  /// First device of the stage. Entry i of `shards` belongs to device
  /// firstDevice + i.
  int64_t firstDevice = 0;
  /// Shard number per device of the stage; empty if the annotation lists no
  /// devices.
  std::vector<int64_t> shards;

  /// Compares all members.
  bool operator==(const ShardLayout &) const = default;
};

/// Returns the layout that `spec` requests in a pipeline whose stages have
/// `devicesPerStage` devices each. `spec` must have passed checkDevices.
/// Returns nothing, with `error` filled, if the listed devices are not exactly
/// those of one stage.
std::optional<ShardLayout> layoutOf(const onnx::ShardingSpec &spec,
                                    int64_t devicesPerStage,
                                    std::string &error);

/// Returns the axis sizes, major to minor, of the coarsest mesh that expresses
/// all `layouts` with device lists. The product of the sizes is `numDevices`.
/// If a layout is irregular, the mesh does not express it, and axesOf reports
/// the error.
///   {0 0 1 1}, {0 1 0 1} -> 2, 2     {0 1 2 3} -> 4
std::vector<int64_t> commonAxes(const std::vector<ShardLayout> &layouts,
                                int64_t numDevices);

/// Returns for each factor of `layout` the axes of `mesh` that split it, major
/// first. A layout without a device list takes the devices in order if it has
/// one shard per device. Otherwise each of its factors takes the only axis of
/// its size. Returns nothing, with `error` filled, if no axes express the
/// layout.
std::optional<std::vector<dist::SubAxes>>
axesOf(const ShardLayout &layout, const dist::Mesh &mesh, std::string &error);

/// Formats a mesh for messages: `dp=2,tp=2`, or `one device` if no axis is
/// larger than 1.
std::string textOf(const dist::Mesh &mesh);

/// Fills the device list of `spec` for a tensor whose factors are split over
/// `axes`. The devices are numbered from `firstDevice`. Devices that hold the
/// same shard form a group, unless each shard has a single device. This is the
/// inverse of axesOf.
void setDevices(const std::vector<dist::SubAxes> &axes, const dist::Mesh &mesh,
                int64_t firstDevice, onnx::ShardingSpec &spec);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_DEVICEMESH_H
