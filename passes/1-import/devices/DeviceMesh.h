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
/// A split dim is a product of factors: 768 may be 12 heads x 64. Each factor
/// is cut into equal parts. A shard has one part of each factor. For two
/// factors of two parts each:
///
///   shard               0  1  2  3
///   part of factor 0    0  0  1  1
///   part of factor 1    0  1  0  1
struct ShardLayout {
  /// Number of equal parts into which each factor of a split dim is cut. A dim
  /// is a product of factors: a dim of 768 may be 12 x 64. The counts {2, 4}
  /// cut the factor 12 into 2 parts and the factor 64 into 4 parts. The tensor
  /// then has 2 x 4 = 8 shards.
  std::vector<int64_t> counts;
  /// Number of the first device of a pipeline stage. Device firstDevice + i
  /// holds shard shards[i].
  int64_t firstDevice = 0;
  /// For each device of a pipeline stage, the number of the shard that it
  /// holds. For example, 0 0 1 1 gives shard 0 to the first two devices. Empty
  /// if the annotation lists no devices.
  std::vector<int64_t> shards;

  /// Returns whether all members are equal.
  bool operator==(const ShardLayout &) const = default;
};

/// Converts the ONNX annotation `spec` to an assignment of shards to devices.
/// For example, if `spec` lists the devices {0, 1} for shard 0 and the devices
/// {2, 3} for shard 1, the result has the `shards` 0 0 1 1. `spec` must have
/// passed checkDevices(), which checks all annotations of a model. Returns an
/// error if the listed devices are not exactly those of one pipeline stage. The
/// error message begins with a verb. The caller must prepend a subject, such as
/// "the sharding of 'w'".
StatusOr<ShardLayout> layoutOf(const onnx::ShardingSpec &spec,
                               int64_t devicesPerStage);

/// Finds a mesh for the `numDevices` devices of one pipeline stage. Returns the
/// sizes of the mesh axes, major to minor. Their product is `numDevices`. Each
/// layout in `layouts` says which shard of one tensor each device holds. The
/// mesh lets each layout split its tensor over whole axes. For example, an axis
/// of size 4 cannot split a tensor into 2 shards. Among these meshes, the
/// function chooses the mesh with the fewest axes. In these examples, each
/// tensor is split along one dim, and entry i of a list in braces is the shard
/// on device i:
///
///   {0 1 2 3}                 ->   size 4: the axis splits the tensor
///   {0 0 1 1}                 ->   sizes 2, 2: the first axis splits the tensor
///   {0 0 1 1} and {0 1 0 1}   ->   sizes 2, 2: the first axis splits one
///                                  tensor, the second axis splits the other
///
/// A layout may list no devices. The list `shards` of the layout is then empty,
/// and the function ignores the layout. If no mesh suits all other layouts,
/// returns an arbitrary mesh. axesOf() later checks each layout against the
/// mesh.
std::vector<int64_t> commonAxes(const std::vector<ShardLayout> &layouts,
                                int64_t numDevices);

/// Returns, for each factor of the split dims, the axes of `mesh` over which
/// the factor is split, major first. A dim is a product of factors: a dim of
/// 768 may be 12 x 64. `layout` assigns shards to devices. For example, devices
/// 0 to 3 hold the shards 0 0 1 1 of a tensor that has one split factor. On the
/// mesh dp=2,tp=2, this factor is split over dp. If `layout` lists no devices,
/// the number of shards decides:
///
///   as many shards as devices   device i holds shard i
///   other number of shards      a factor that is cut into 4 parts is split
///                               over the only axis of size 4
///
/// Returns an error if `mesh` has no suitable axes. The error message begins
/// with a verb. The caller must prepend a subject, such as "the sharding of
/// 'w'".
StatusOr<std::vector<dist::SubAxes>> axesOf(const ShardLayout &layout,
                                            const dist::Mesh &mesh);

/// Formats a mesh for messages: `dp=2,tp=2`, or `one device` if no axis is
/// larger than 1.
std::string textOf(const dist::Mesh &mesh);

/// Fills the device list of the ONNX annotation `spec`, which describes the
/// sharding of one tensor. The list says for each shard of the tensor which
/// devices hold the shard. If several devices hold a shard, the entry is the
/// key of a device group that the function adds to `spec`. The split dims of
/// the tensor are products of factors: a dim of 768 may be 12 x 64. axes[i]
/// holds the axes of `mesh` over which factor i is split. `mesh` consists of
/// the devices of one pipeline stage. `firstDevice` is the number of the first
/// of these devices. For example, the mesh is dp=2,tp=2, so that it has 4
/// devices. `firstDevice` is 4. The tensor has one split factor, which is split
/// over dp. The list then says:
///
///   shard 0   devices 4 and 5
///   shard 1   devices 6 and 7
void setDevices(const std::vector<dist::SubAxes> &axes, const dist::Mesh &mesh,
                int64_t firstDevice, onnx::ShardingSpec &spec);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_DEVICEMESH_H
