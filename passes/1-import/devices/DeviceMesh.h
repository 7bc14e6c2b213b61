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
/// A tensor may be split along several dims. An ONNX annotation may also write
/// one split dim as a product of several factors. For example, a dim of 768 may
/// be 12 x 64, with the factors 12 and 64. A split dim that is not written as a
/// product is a single factor.
///
/// Each factor is cut into equal parts. A shard of the tensor has one part of
/// each factor. In the example, there are two factors, each is cut into 2
/// parts, and each of the devices 4 to 7 holds one shard:
///
///   device              4  5  6  7
///   shard               0  1  2  3
///   part of factor 0    0  0  1  1
///   part of factor 1    0  1  0  1
///
/// The members then are `counts` = {2, 2}, `firstDevice` = 4 and `shards` =
/// {0, 1, 2, 3}.
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

/// Finds a mesh for the devices of one pipeline stage. `numDevices` is the
/// number of these devices. Returns the sizes of the mesh axes, major to minor.
/// The product of the sizes is `numDevices`.
///
/// Each layout in `layouts` states which shard of one tensor each device holds.
/// A mesh fits a layout if the tensor of the layout is split over whole axes of
/// the mesh. The function chooses the mesh with the fewest axes that fits all
/// layouts. In the examples, 4 devices hold tensors that are split along one
/// dim. Entry i of a list in braces is the number of the shard on device i:
///
///   {0 1 2 3}                 ->   size 4: the axis splits the tensor
///   {0 0 1 1}                 ->   sizes 2, 2: the first axis splits the tensor
///   {0 0 1 1} and {0 1 0 1}   ->   sizes 2, 2: the first axis splits one
///                                  tensor, the second axis splits the other
///
/// In the second example, a mesh with one axis of size 4 does not fit, because
/// a split over the whole axis has 4 shards, and the tensor has only 2.
///
/// The function ignores each layout with an empty list `shards`. If no mesh
/// fits all other layouts, the function returns an arbitrary mesh. axesOf()
/// later checks each layout against the mesh.
std::vector<int64_t> commonAxes(const std::vector<ShardLayout> &layouts,
                                int64_t numDevices);

/// Finds the axes of `mesh` over which one tensor is split. The ONNX annotation
/// of the tensor writes each split dim as a product of factors. For example, a
/// dim of 768 may be 12 x 64, with the factors 12 and 64. A dim may also be a
/// single factor. The result has one list of axes per factor. Each list is
/// ordered from major to minor.
///
/// layout.shards lists the shard that each device holds. For example, devices 0
/// to 3 hold the shards 0 0 1 1 of a tensor with one factor, and the mesh is
/// dp=2,tp=2. The result has one list, which contains the axis dp. If the
/// annotation lists no devices, layout.shards is empty. There are then two
/// cases:
///
///  - The tensor has as many shards as the mesh has devices. The function then
///    assumes that device i holds shard i.
///  - The tensor has another number of shards. Each factor is then split over
///    the only axis whose size is the number of parts of the factor. For
///    example, on the mesh dp=2,tp=4, a factor that is cut into 4 parts is
///    split over tp.
///
/// Returns an error if `mesh` has no suitable axes. The error message begins
/// with a verb. The caller must prepend a subject, such as "the sharding of
/// 'w'".
StatusOr<std::vector<dist::SubAxes>> axesOf(const ShardLayout &layout,
                                            const dist::Mesh &mesh);

/// Formats a mesh for messages: `dp=2,tp=2`, or `one device` if no axis is
/// larger than 1.
std::string textOf(const dist::Mesh &mesh);

/// Fills the lists spec.devices and spec.groups of the ONNX annotation `spec`.
/// `spec` describes the sharding of one tensor. Both lists must be empty before
/// the call. Entry i of spec.devices tells which devices hold shard i of the
/// tensor:
///
///  - One device holds shard i. The entry is the number of the device.
///  - Several devices hold shard i. These devices form a device group. The
///    function adds the device group to spec.groups. The key of the device
///    group is -1 - i, and the entry is this key.
///
/// The tensor is split along one or more dims. Each split dim is a product of
/// factors. For example, a split dim of 768 may be 12 x 64, with the factors 12
/// and 64. A split dim may also have only one factor. The other parameters are:
///
///   axes          axes[f] contains the mesh axes over which factor f is split
///   mesh          mesh of the devices of one pipeline stage
///   firstDevice   number of the first device of the pipeline stage
///
/// Suppose that `mesh` is dp=2,tp=2 and that `firstDevice` is 4. The pipeline
/// stage then has the devices 4 to 7. Suppose also that the tensor has one
/// factor, which is split over the axis dp. The function fills the two lists in
/// this way:
///
///   shard   entry of spec.devices   device group in spec.groups
///   0       -1                      key -1, devices 4 and 5
///   1       -2                      key -2, devices 6 and 7
void setDevices(const std::vector<dist::SubAxes> &axes, const dist::Mesh &mesh,
                int64_t firstDevice, onnx::ShardingSpec &spec);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_DEVICEMESH_H
