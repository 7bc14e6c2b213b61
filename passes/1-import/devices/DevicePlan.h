//===- DevicePlan.h - device configuration, mesh and stages of a model ----===//

#ifndef PCC_PASSES_1_IMPORT_DEVICES_DEVICEPLAN_H
#define PCC_PASSES_1_IMPORT_DEVICES_DEVICEPLAN_H

#include "passes/1-import/build/ImportOptions.h"
#include "passes/1-import/devices/DeviceMesh.h"
#include "passes/1-import/onnx/model/Model.h"

#include <map>
#include <unordered_map>

namespace pcc::onnx_import {

/// Key in the ONNX model's metadata_props. The entry is the name of the device
/// configuration to use if the user chooses none.
inline constexpr std::string_view configurationKey = "pcc.configuration";
/// Key in the ONNX model's metadata_props. The entry is the mesh, such as
/// `dp=2,tp=4`, major axis first, for the device configuration that
/// `pcc.configuration` names.
inline constexpr std::string_view meshKey = "pcc.mesh";
/// Key in the metadata_props of a ValueInfoProto or TensorProto. The entry is
/// the sharding of that value in the syntax of --shard, such as `[tp,-]`.
inline constexpr std::string_view shardingKey = "pcc.sharding";

/// Returns the entry of `metadata` with key `key`; empty if there is none.
std::string_view metadataOf(const onnx::Metadata &metadata,
                            std::string_view key);

/// Returns an error with exit code CannotMeet (an annotation cannot be
/// satisfied) and the message `what`.
Status refuse(std::string what);
/// Returns the error that an annotation of `node` cannot be satisfied. The
/// message is "node 'a' (MatMul)", with the name and op of `node`, followed by
/// `what`.
Status refuse(const onnx::Node &node, const std::string &what);
/// Returns the error that the sharding that `node` requests for `tensor` cannot
/// be satisfied. The message names the node and the tensor, as in "node 'a'
/// (MatMul): the sharding of 'w'", followed by `what`.
Status refuse(const onnx::Node &node, std::string_view tensor,
              const std::string &what);

/// Decides which device configuration of an ONNX model applies, and derives the
/// mesh of its devices and its pipeline stages. Device numbers are ranks. The
/// devices of one pipeline position (group of devices with the same stages)
/// have consecutive numbers. With 2 stages of 4 devices each, devices 0 to 3
/// run stage 0, and devices 4 to 7 run stage 1. The first of these
/// configurations that exists applies:
///
///   1. the one that --configuration names, or none for --configuration none
///   2. the one that the metadata `pcc.configuration` names
///   3. the only one for which nodes have annotations
///   4. the only one for which nodes have annotations and that has as many
///      devices as the user's options require
///
/// README.md states the rules in full.
class DevicePlan {
public:
  /// Creates an empty plan. `model` must outlive the plan.
  explicit DevicePlan(const onnx::Model &model) : model(model) {}

  /// Reads the annotations of the model. Must be called once, before all other
  /// methods. Returns an error if the annotations contradict each other or the
  /// options.
  Status read(const ImportOptions &options);

  /// Returns the mesh of the axes that split tensors. The axes are those of the
  /// user's options or, if there are none, the axes that the model's
  /// annotations require. The returned mesh has no axes if neither the options
  /// nor the model give any.
  const dist::Mesh &mesh() const { return axes; }
  /// Returns the number of pipeline stages; 0 if no annotation assigns a stage.
  int64_t numStages() const { return stages; }
  /// Returns the pipeline stages of the nodes to which annotations assign one.
  /// The keys are node names as nameInLocations returns them.
  const std::map<std::string, int64_t> &stageOfNodes() const {
    return nodeStages;
  }

  /// A node and its annotation for the device configuration that applies.
  /// Neither pointer is null.
  using AnnotatedNode =
      std::pair<const onnx::Node *, const onnx::NodeDeviceConfiguration *>;
  /// Returns the nodes with annotations, in the order of the graph. Nodes of a
  /// subgraph come after the node whose attribute holds the subgraph.
  const std::vector<AnnotatedNode> &annotated() const { return nodes; }

  /// Returns, for each factor of the split dims in `spec`, the mesh axes over
  /// which the factor is split, major first. (A dim of 768 may have the factors
  /// 12 and 64.) `spec` must belong to a node of annotated(). Returns an error
  /// if no axes express the split. The error's message has no subject; the
  /// caller prepends the name of the annotation.
  StatusOr<std::vector<dist::SubAxes>>
  axesOf(const onnx::ShardingSpec &spec) const;

private:
  /// Sets `configuration` to the device configuration that applies, or leaves
  /// it null if none applies. Returns an error if several configurations might
  /// apply. Also returns an error if --configuration or the metadata names a
  /// configuration that does not exist.
  Status chooseConfiguration(const ImportOptions &options);
  /// Appends the nodes with annotations to `nodes`, including those of
  /// subgraphs.
  void collect(const std::vector<onnx::Node> &nodesOfGraph);
  /// Computes the numbers of stages, of pipeline positions (groups of devices
  /// with the same stages) and of devices per stage. Assigns each node whose
  /// annotation contains a stage to that stage.
  Status findStages(const ImportOptions &options);
  /// Assigns `node` to `stage`. Returns an error if a node of the same name is
  /// on another stage.
  Status setStage(const onnx::Node &node, int64_t stage);
  /// Checks that the devices of `layout` (assignment of shards to devices) are
  /// those that run the stage of `node`. If the annotation of `node` gives no
  /// stage, assigns `node` to the stage that these devices run.
  Status placeNode(const onnx::Node &node, const ShardLayout &layout);
  /// Converts the sharding annotations of all nodes to layouts (assignments of
  /// shards to devices), and checks that each layout's devices are the devices
  /// of the node's stage.
  Status findLayouts();
  /// Returns the index of `layout` (assignment of shards to devices) in
  /// `layouts`; appends `layout` if it is new. Two layouts that differ only in
  /// `firstDevice`, and therefore in the stage, count as equal.
  size_t indexOf(ShardLayout layout);
  /// Sets `axes`, the mesh of one pipeline stage, and checks that the product
  /// of the axis sizes is the number of devices per stage.
  Status findMesh(const ImportOptions &options);
  /// Sets `axes`, the mesh of one pipeline stage, to the mesh in `options`,
  /// which must be set.
  void takeMesh(const ImportOptions &options);

  const onnx::Model &model;
  /// The device configuration that applies; null if there is none.
  const onnx::DeviceConfiguration *configuration = nullptr;
  /// Mesh of one pipeline stage, which mesh() returns.
  dist::Mesh axes;
  /// Number of pipeline stages, number of devices that run one stage, and
  /// number of pipeline positions. A pipeline position is a group of devices
  /// that runs stages / numPositions stages. `stages` is 0 if no annotation
  /// assigns a stage.
  int64_t stages = 0, devicesPerStage = 1, numPositions = 1;
  /// Pipeline stage of each node that has a stage, by node name. stageOfNodes()
  /// returns this map.
  std::map<std::string, int64_t> nodeStages;
  /// Nodes with annotations, in graph order. annotated() returns this list.
  std::vector<AnnotatedNode> nodes;
  /// Layouts (assignments of shards to devices) of all sharding annotations,
  /// without duplicates. Each has firstDevice = 0.
  std::vector<ShardLayout> layouts;
  /// For each sharding annotation, the index in `layouts` of its layout, the
  /// assignment of its shards to devices.
  std::unordered_map<const onnx::ShardingSpec *, size_t> layoutOfSpec;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_DEVICEPLAN_H
