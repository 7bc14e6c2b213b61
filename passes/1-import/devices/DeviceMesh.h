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
  /// Number of parts into which each factor of a split dim is cut. (A dim of
  /// 768 may have the factors 12 and 64.) Their product is the number of
  /// shards.
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
/// The annotation must have passed checkDevices(). Returns an error if the
/// listed devices are not exactly those of one pipeline stage. The caller must
/// prepend a subject to the message, such as "the sharding of 'w' ".
StatusOr<ShardLayout> layoutOf(const onnx::ShardingSpec &spec,
                               int64_t devicesPerStage);

/// Derives the axes of a mesh of `numDevices` devices from `layouts`
/// (assignments of shards to devices). Returns the axis sizes, major to minor.
/// Uses as few axes as possible, under the condition that each dim is split
/// over whole axes. In these examples, entry i of `shards` is the shard of
/// device i:
///
///   shards {0 0 1 1} and {0 1 0 1}   ->   2, 2
///   shards {0 1 2 3}                 ->   4
///
/// Ignores layouts without a device list. If no mesh meets the condition, the
/// result is arbitrary; axesOf() later checks each layout against the mesh.
std::vector<int64_t> commonAxes(const std::vector<ShardLayout> &layouts,
                                int64_t numDevices);

/// Returns the axes of `mesh` over which `layout` splits each factor of a dim,
/// major first. (A dim of 768 may have the factors 12 and 64.) `layout` assigns
/// shards to devices. Without a device list it means:
///
///   as many shards as devices   device i holds shard i
///   other number of shards      each factor is split over the only axis whose
///                               size is the factor's number of parts
///
/// Returns an error if `mesh` has no such axes. The caller must prepend a
/// subject to the message, such as "the sharding of 'w' ".
StatusOr<std::vector<dist::SubAxes>> axesOf(const ShardLayout &layout,
                                            const dist::Mesh &mesh);

/// Formats a mesh for messages: `dp=2,tp=2`, or `one device` if no axis is
/// larger than 1.
std::string textOf(const dist::Mesh &mesh);

/// Fills the device list of the ONNX annotation `spec`. axes[i] are the axes of
/// `mesh` that split factor i of a dim. (A dim of 768 may have the factors 12
/// and 64.) Device d of `mesh` gets the number firstDevice + d.
void setDevices(const std::vector<dist::SubAxes> &axes, const dist::Mesh &mesh,
                int64_t firstDevice, onnx::ShardingSpec &spec);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_DEVICEMESH_H
