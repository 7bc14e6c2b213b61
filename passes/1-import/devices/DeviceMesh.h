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
/// factor. In the example, there are two factors, and each is cut into 2 parts:
///
///   device             4  5  6  7
///   shard              0  1  2  3
///   part of factor 0   0  0  1  1
///   part of factor 1   0  1  0  1
///
/// The members then are `counts` = {2, 2}, `firstDevice` = 4 and
/// `shards` = {0, 1, 2, 3}.
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

/// Converts the ONNX annotation `spec` to an assignment of shards to devices.
/// For example, if `spec` lists the devices {0, 1} for shard 0 and the devices
/// {2, 3} for shard 1, the result has the `shards` 0 0 1 1. `spec` must have
/// passed checkDevices(), which checks all annotations of a model. Returns an
/// error if the listed devices are not exactly those of one pipeline stage. The
/// error message begins with a verb. The caller must prepend a subject, such as
/// "the sharding of 'w'".
StatusOr<ShardLayout> layoutOf(const onnx::ShardingSpec &spec,
                               int64_t devicesPerStage);

/// Returns the axis sizes of a mesh for the devices of one pipeline stage,
/// major to minor. The product of the sizes is `numDevices`. On the mesh, each
/// tensor in `layouts` is split over whole axes. The mesh has the fewest axes
/// that permit this. Layouts without `shards` are ignored. If no mesh fits,
/// returns an arbitrary mesh, for which axesOf() later returns an error.
/// Examples for 4 devices, where entry i in braces is the shard on device i:
///
///   {0 1 2 3}   ->   4      a split over the only axis
///   {0 0 1 1}   ->   2, 2   a split over the first axis
std::vector<int64_t> commonAxes(const std::vector<ShardLayout> &layouts,
                                int64_t numDevices);

/// Returns the axes of `mesh` over which a tensor is split: one list for each
/// factor in `layout`, major to minor. For example, on the mesh dp=2,tp=2, the
/// shards 0 0 1 1 on devices 0 to 3 mean a split over dp. If `layout` lists no
/// devices, there are two cases. If there are as many shards as devices, device
/// i is assumed to hold shard i. Otherwise each factor is split over the only
/// axis whose size is the number of parts of the factor. Returns an error if no
/// axes fit. The caller must prepend a subject to the error message, such as
/// "the sharding of 'w'".
StatusOr<std::vector<dist::SubAxes>> axesOf(const ShardLayout &layout,
                                            const dist::Mesh &mesh);

/// Formats a mesh for messages: `dp=2,tp=2`, or `one device` if no axis is
/// larger than 1.
std::string textOf(const dist::Mesh &mesh);

/// Fills the empty lists spec.devices and spec.groups. axes[f] contains the
/// mesh axes over which factor f of a split dim is split. `mesh` has the
/// devices of one pipeline stage, from number `firstDevice` on. Entry i of
/// spec.devices is the device that holds shard i. If several devices hold shard
/// i, the entry is -1 - i, the key of a group with these devices. Example for a
/// split over dp, on the mesh dp=2,tp=2 with the devices 4 to 7:
///
///   shard 0   entry -1   group -1 has the devices 4 and 5
///   shard 1   entry -2   group -2 has the devices 6 and 7
void setDevices(const std::vector<dist::SubAxes> &axes, const dist::Mesh &mesh,
                int64_t firstDevice, onnx::ShardingSpec &spec);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_DEVICEMESH_H
