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
  /// Number of parts of each factor (such as 12 in a dim of 12 x 64), in the
  /// order of the annotation. The product of these numbers is the number of
  /// shards.
  std::vector<int64_t> counts;
  /// Number of the first device of the pipeline stage. Entry i of `shards`
  /// belongs to device firstDevice + i.
  int64_t firstDevice = 0;
  /// Number of the shard that each device of the stage holds; empty if the
  /// annotation lists no devices.
  std::vector<int64_t> shards;

  /// Returns whether all members are equal.
  bool operator==(const ShardLayout &) const = default;
};

/// Converts the ONNX annotation `spec` to a layout, the assignment of shards to
/// devices. Each stage of the pipeline has `devicesPerStage` devices. `spec`
/// must have passed checkDevices. Returns an error if the listed devices are
/// not exactly those of one stage. The error's message has no subject, such as
/// "lies on devices 0, 1, …"; the caller prepends the name of the annotation.
StatusOr<ShardLayout> layoutOf(const onnx::ShardingSpec &spec,
                               int64_t devicesPerStage);

/// Returns the axis sizes, major to minor, of the mesh with the fewest axes
/// that can express all `layouts`: each factor is split over axes of the mesh.
/// The product of the sizes is `numDevices`. Examples, where entry i of
/// `shards` is the shard of device i:
///
///   shards {0 0 1 1} and {0 1 0 1}   ->   2, 2
///   shards {0 1 2 3}                 ->   4
///
/// Layouts without a device list are ignored. An irregular layout may fit no
/// mesh; axesOf then reports the error.
std::vector<int64_t> commonAxes(const std::vector<ShardLayout> &layouts,
                                int64_t numDevices);

/// Returns, for each factor of `layout` (such as 12 in a dim of 12 x 64), the
/// axes of `mesh` over which the factor is split, major first. For a layout
/// without a device list there are two cases:
///
///   one shard per device      device i holds shard i
///   other number of shards    each factor is split over the only axis whose
///                             size is the factor's number of parts
///
/// Returns an error if no axes express the layout. The error's message has no
/// subject; the caller prepends the name of the annotation.
StatusOr<std::vector<dist::SubAxes>> axesOf(const ShardLayout &layout,
                                            const dist::Mesh &mesh);

/// Formats a mesh for messages: `dp=2,tp=2`, or `one device` if no axis is
/// larger than 1.
std::string textOf(const dist::Mesh &mesh);

/// Sets the device list of `spec`, the ONNX annotation of a tensor. Entry i of
/// `axes` holds the axes over which factor i (such as 12 in a dim of 12 x 64)
/// is split. The devices of `mesh` have consecutive numbers from `firstDevice`
/// on. If several devices hold each shard, the list contains groups of devices.
/// axesOf is the inverse function.
void setDevices(const std::vector<dist::SubAxes> &axes, const dist::Mesh &mesh,
                int64_t firstDevice, onnx::ShardingSpec &spec);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_DEVICEMESH_H
