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

/// Assignment of the shards of one tensor to the devices of one pipeline stage.
/// A split dim is a product of one or more factors: a dim of 768 may be
/// 12 x 64. Each factor is cut into equal parts. A shard has one part of each
/// factor. Shards are numbered in row-major order.
struct ShardLayout {
  /// Number of equal parts into which each factor of a split dim is cut. A dim
  /// is a product of factors: a dim of 768 may be 12 x 64. The counts {2, 4}
  /// cut the factor 12 into 2 parts and the factor 64 into 4 parts. The tensor
  /// then has 2 x 4 = 8 shards.
  std::vector<int64_t> counts;
  /// Number of the first device of a pipeline stage. Device firstDevice + i
  /// holds shard shards[i].
  int64_t firstDevice = 0;
  /// For each device of a pipeline stage, the number of the shard that the
  /// device holds. For example, if the list is {0, 0, 1, 1}, the first two
  /// devices hold shard 0, and the last two devices hold shard 1. The list is
  /// empty if the ONNX annotation of the tensor lists no devices.
  std::vector<int64_t> shards;

  /// Returns whether all members are equal.
  bool operator==(const ShardLayout &) const = default;
};

/// Converts the ONNX annotation `spec`, which checkDevices() has accepted, to
/// an assignment of shards to devices. Returns an error if the listed devices
/// are not exactly those of one pipeline stage. The caller must prepend a
/// subject to the error message.
StatusOr<ShardLayout> layoutOf(const onnx::ShardingSpec &spec,
                               int64_t devicesPerStage);

/// Returns the axis sizes, major to minor, of a mesh for the `numDevices`
/// devices of one pipeline stage. Each tensor in `layouts` is split over whole
/// axes, and the axes are as few as possible. If no mesh fits, returns any
/// mesh, for which axesOf() later returns an error.
std::vector<int64_t> commonAxes(const std::vector<ShardLayout> &layouts,
                                int64_t numDevices);

/// Returns the axes of `mesh` over which each factor (such as 12 in 12 x 64) of
/// the dims in `layout` is split, major to minor. `layout.shards` may be empty.
/// If `layout` then has as many shards as `mesh` has devices, device i holds
/// shard i. Otherwise, a factor that is cut into n parts is split over the only
/// axis of size n. Returns an error if no axes fit; the caller adds the
/// tensor's name.
StatusOr<std::vector<dist::SubAxes>> axesOf(const ShardLayout &layout,
                                            const dist::Mesh &mesh);

/// Formats a mesh for messages: `dp=2,tp=2`, or `one device` if no axis is
/// larger than 1.
std::string textOf(const dist::Mesh &mesh);

/// Fills the empty lists spec.devices and spec.groups. axes[f] are the mesh
/// axes over which factor f of the tensor's dims (such as 12 in 12 x 64) is
/// split. The stage has the devices from `firstDevice` on. If several devices
/// hold shard i, spec.devices has the number -1 - i, the key of a group in
/// spec.groups.
void setDevices(const std::vector<dist::SubAxes> &axes, const dist::Mesh &mesh,
                int64_t firstDevice, onnx::ShardingSpec &spec);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_DEVICEMESH_H
