//===- DeviceMesh.h - device lists as axes of a mesh ----------------------===//
//
// ONNX says which device holds which shard; pcc says along which axes a dim is
// split. Device numbers are ranks: those of mesh {dp=2, tp=2} are
//
//   device   0 1 2 3
//   dp       0 0 1 1      shards 0 0 1 1: the dim is split over dp
//   tp       0 1 0 1      shards 0 1 0 1: over tp
//
// Plain C++ without MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_1_IMPORT_DEVICES_DEVICEMESH_H
#define PCC_PASSES_1_IMPORT_DEVICES_DEVICEMESH_H

#include "dialects/dist/SubAxis.h"
#include "passes/1-import/onnx/model/Model.h"

#include <optional>
#include <string>
#include <vector>

namespace pcc::onnx_import {

/// Which shard of one tensor each device of a stage holds. Shards are numbered
/// row-major over `counts`.
struct ShardLayout {
  /// Parts of each factor that is split, in the order of the annotation.
  std::vector<int64_t> counts;
  /// The first device of the stage; those of `shards` follow it.
  int64_t firstDevice = 0;
  /// Per device; empty if the annotation lists none.
  std::vector<int64_t> shards;

  bool operator==(const ShardLayout &) const = default;
};

/// The layout that `spec` asks for, where stages have `devicesPerStage` devices
/// each. Nothing, with an error, if it leaves out devices of a stage. `spec`
/// has passed checkDevices.
std::optional<ShardLayout> layoutOf(const onnx::ShardingSpec &spec,
                                    int64_t devicesPerStage,
                                    std::string &error);

/// The coarsest mesh whose axes express all layouts that list devices: sizes,
/// major to minor, whose product is `numDevices`. Which layouts it does not
/// express, axesOf tells.
///   {0 0 1 1}, {0 1 0 1} -> 2, 2     {0 1 2 3} -> 4
std::vector<int64_t> commonAxes(const std::vector<ShardLayout> &layouts,
                                int64_t numDevices);

/// Per factor of `layout`, the axes of `mesh` that split it, major first.
/// Without a list of devices, shards lie in the order of devices if there are
/// as many, else each factor takes the only axis of its size. Nothing, with an
/// error, if the axes do not express it.
std::optional<std::vector<dist::SubAxes>>
axesOf(const ShardLayout &layout, const dist::Mesh &mesh, std::string &error);

/// For messages: `dp=2,tp=2`, or `one device`.
std::string textOf(const dist::Mesh &mesh);

/// The annotation of a tensor whose factors are split over `axes`: the devices
/// from `firstDevice` on, or groups of those that hold the same shard.
void setDevices(const std::vector<dist::SubAxes> &axes, const dist::Mesh &mesh,
                int64_t firstDevice, onnx::ShardingSpec &spec);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_DEVICEMESH_H
