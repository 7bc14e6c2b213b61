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
#include "status/StatusOr.h"

#include <string>
#include <vector>

namespace pcc::onnx_import {

/// Which shard of one tensor each device of a stage holds. A factor is one
/// split of a dim; shards are numbered row-major over the parts of all factors.
struct ShardLayout {
  /// Number of parts of each factor, in the order of the annotation. Their
  /// product is the number of shards.
  std::vector<int64_t> counts;
  /// Number of the stage's first device. Entry i of `shards` belongs to device
  /// firstDevice + i.
  int64_t firstDevice = 0;
  /// Number of the shard that each device of the stage holds; empty if the
  /// annotation lists no devices.
  std::vector<int64_t> shards;

  /// Returns whether all members are equal.
  bool operator==(const ShardLayout &) const = default;
};

/// Converts the ONNX annotation `spec` to a layout. Each stage of the pipeline
/// has `devicesPerStage` devices. `spec` must have passed checkDevices. Returns
/// an error, whose message is the predicate of a sentence about the annotation,
/// if the listed devices are not exactly those of one stage.
StatusOr<ShardLayout> layoutOf(const onnx::ShardingSpec &spec,
                               int64_t devicesPerStage);

/// Returns the axis sizes, major to minor, of the mesh with the fewest axes on
/// which all `layouts` can be written as dims split over axes. Layouts without
/// a device list are ignored. The product of the sizes is `numDevices`. An
/// irregular layout may fit no mesh; axesOf then reports the error.
///   shards {0 0 1 1} and {0 1 0 1} -> 2, 2     shards {0 1 2 3} -> 4
std::vector<int64_t> commonAxes(const std::vector<ShardLayout> &layouts,
                                int64_t numDevices);

/// Returns for each factor (split of a dim) of `layout` the axes of `mesh` over
/// which it is split, major first. A layout without a device list assigns shard
/// i to device i if there are as many shards as devices. Otherwise each of its
/// factors takes the only axis that has the factor's number of parts. Returns
/// an error, whose message is the predicate of a sentence about the annotation,
/// if no axes express the layout.
StatusOr<std::vector<dist::SubAxes>> axesOf(const ShardLayout &layout,
                                            const dist::Mesh &mesh);

/// Formats a mesh for messages: `dp=2,tp=2`, or `one device` if no axis is
/// larger than 1.
std::string textOf(const dist::Mesh &mesh);

/// Fills the device list of `spec`, the ONNX annotation of a tensor whose
/// factors are split over `axes`. The mesh's first device has the number
/// `firstDevice`. Devices that hold the same shard form a group; there are no
/// groups if every shard has one device. axesOf is the inverse.
void setDevices(const std::vector<dist::SubAxes> &axes, const dist::Mesh &mesh,
                int64_t firstDevice, onnx::ShardingSpec &spec);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_DEVICEMESH_H
