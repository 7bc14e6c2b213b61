//===- DevicePlan.h - device configuration, mesh and stages of a model ----===//

#ifndef PCC_PASSES_1_IMPORT_DEVICES_DEVICEPLAN_H
#define PCC_PASSES_1_IMPORT_DEVICES_DEVICEPLAN_H

#include "passes/1-import/build/ImportOptions.h"
#include "passes/1-import/devices/DeviceMesh.h"
#include "passes/1-import/onnx/model/Model.h"

#include <map>
#include <unordered_map>

namespace pcc::onnx_import {

/// Key in the ONNX model's metadata_props. The text of this key is the name of
/// the device configuration (named set of devices) to use if the user gives no
/// --configuration.
inline constexpr std::string_view configurationKey = "pcc.configuration";
/// Key in the ONNX model's metadata_props. The text of this key is a mesh, such
/// as `dp=2,tp=4`. The metadata entry `pcc.configuration` names the device
/// configuration (named set of devices) for which this mesh is meant. If pcc
/// uses another device configuration, pcc ignores the mesh.
inline constexpr std::string_view meshKey = "pcc.mesh";
/// Key in the metadata_props of a ValueInfoProto or TensorProto. The text of
/// this key is the sharding of the tensor, in the syntax of the option --shard.
/// For example, `[tp,-]` splits dim 0 over the mesh axis tp and does not split
/// dim 1.
inline constexpr std::string_view shardingKey = "pcc.sharding";

/// Returns the text of the key `key` in `metadata`; empty if there is none.
std::string_view metadataOf(const onnx::Metadata &metadata,
                            std::string_view key);

/// Returns an error with the message `what` and the exit code CannotMeet. It
/// reports that an annotation of the model cannot be satisfied.
Status refuse(std::string what);
/// Returns the error that an annotation of `node` cannot be satisfied. The
/// message is "node 'a' (MatMul)" followed by `what`. The first part gives the
/// name and the op type of `node`.
Status refuse(const onnx::Node &node, const std::string &what);
/// Returns the error that the sharding of `tensor` by `node` cannot be
/// satisfied. The message is "node 'a' (MatMul): the sharding of 'w' " followed
/// by `what`. Here 'a' is the name of `node`, and 'w' is `tensor`.
Status refuse(const onnx::Node &node, std::string_view tensor,
              const std::string &what);

/// Chooses one device configuration (named set of devices) of an ONNX model.
/// Also determines the pipeline stages, and the mesh of one stage. Device
/// number i of the configuration is rank i of the compiled program. The
/// configuration is the first one that exists in this list: the name in
/// --configuration ("none" for no configuration), the name in the metadata
/// entry `pcc.configuration`, the only name in the annotations, the only name
/// whose number of devices equals the user's number of ranks.
class DevicePlan {
public:
  /// Creates an empty plan. `model` must outlive the plan.
  explicit DevicePlan(const onnx::Model &model) : model(model) {}

  /// Chooses the device configuration and reads the nodes' annotations for it.
  /// Must be called once, before all other methods. Returns an error if
  /// annotations contradict each other or `options`.
  Status read(const ImportOptions &options);

  /// Returns the mesh of one pipeline stage. Its axes are the axes over which
  /// tensors can be split. For example, 2 stages of 4 devices each may have the
  /// mesh dp=2,tp=2. The mesh comes from the user's options, from the model's
  /// metadata or from the model's annotations. It has no axes if none of these
  /// sources defines a mesh.
  const dist::Mesh &mesh() const { return axes; }
  /// Returns the number of pipeline stages; 0 if no annotation assigns a stage.
  int64_t numStages() const { return stages; }
  /// Returns the pipeline stage of each node that has one. The key is the
  /// node's name, or its op type and index, such as "Add#12", for an unnamed
  /// node.
  const std::map<std::string, int64_t> &stageOfNodes() const {
    return nodeStages;
  }

  /// A node, and its annotation for the device configuration that pcc uses.
  /// Neither pointer is null.
  using AnnotatedNode =
      std::pair<const onnx::Node *, const onnx::NodeDeviceConfiguration *>;
  /// Returns the nodes with annotations, in the order of the graph. Nodes of a
  /// subgraph come after the node whose attribute holds the subgraph.
  const std::vector<AnnotatedNode> &annotated() const { return nodes; }

  /// Returns the mesh axes over which the tensor of the annotation `spec` is
  /// split: one list of axes, major first, for each factor that the annotation
  /// gives for a split dim. Example: a dim of size 768 = 12 · 64 has the
  /// factors 12 and 64, so it has two lists. The node with `spec` must be in
  /// the list annotated(). Returns an error if no axes of the mesh fit. The
  /// error message begins without a subject, which the caller must prepend.
  StatusOr<std::vector<dist::SubAxes>>
  axesOf(const onnx::ShardingSpec &spec) const;

private:
  /// Sets `configuration` to the device configuration (named set of devices)
  /// that pcc uses, or to null for none. Returns an error if a given name does
  /// not exist, or if pcc cannot choose one of several names in the
  /// annotations.
  Status chooseConfiguration(const ImportOptions &options);
  /// Appends each multi-device annotation of the nodes in `nodesOfGraph` to the
  /// list `nodes`, together with its node. Ignores annotations for other device
  /// configurations than the member `configuration`. If a node contains a
  /// subgraph, the function also appends the annotations of the nodes in the
  /// subgraph. For example, an If node contains two subgraphs.
  void collect(const std::vector<onnx::Node> &nodesOfGraph);
  /// Sets `stages`, `numPositions`, `devicesPerStage` and `nodeStages` from the
  /// annotations of the nodes and from `options`. Returns an error if the
  /// annotations and `options` contradict each other.
  Status findStages(const ImportOptions &options);
  /// Stores `stage` as the pipeline stage of `node`. Returns an error if
  /// another node with the same name has another stage.
  Status setStage(const onnx::Node &node, int64_t stage);
  /// Checks that `node` belongs to a pipeline stage that the devices of
  /// `layout` run. `layout` assigns the shards of an operand or result of
  /// `node` to devices. Returns an error if these devices do not run the stage
  /// of `node`. If `node` has no stage, and the devices run only one stage, the
  /// function assigns `node` to this stage. If `node` has no stage, and the
  /// devices run several stages, the function returns an error.
  Status placeNode(const onnx::Node &node, const ShardLayout &layout);
  /// Stores the layout of each sharding annotation in `layouts` and
  /// `layoutOfSpec`: which device holds which shard. Calls placeNode() for the
  /// annotated node. Returns an error if the devices of an annotation are not
  /// exactly those of one pipeline stage, or if placeNode() fails.
  Status findLayouts();
  /// Returns the index of `layout` in the list `layouts`. Appends `layout` if
  /// the list does not have it. A layout assigns the shards of a tensor to the
  /// devices of one pipeline stage. Layouts that differ only in the stage have
  /// the same index. For example, with stages of 4 devices, the shards 0 0 1 1
  /// on devices 0 to 3 have the same index as the shards 0 0 1 1 on devices 4
  /// to 7.
  size_t indexOf(ShardLayout layout);
  /// Sets the member `axes` to the mesh of one pipeline stage. The mesh in
  /// `options` is used first. If `options` contain no mesh, the metadata of the
  /// model determine the mesh. If the metadata contain no suitable mesh, the
  /// annotations of the nodes determine the mesh. Returns an error if the mesh
  /// has another number of devices than the device configuration has per stage.
  Status findMesh(const ImportOptions &options);
  /// Copies `options.mesh`, which must be set, to `axes`, the mesh of one
  /// pipeline stage.
  void takeMesh(const ImportOptions &options);

  const onnx::Model &model;
  /// The ONNX device configuration (named set of devices) that pcc uses; null
  /// for none.
  const onnx::DeviceConfiguration *configuration = nullptr;
  /// Mesh of one pipeline stage, which mesh() returns.
  dist::Mesh axes;
  /// `stages` is the number of pipeline stages; 0 if no annotation assigns a
  /// stage. The devices form `numPositions` groups of `devicesPerStage` devices
  /// each. All devices of a group run the same stages. For example, 8 devices
  /// in 2 groups have devicesPerStage = 4. With 4 stages, the first group runs
  /// stages 0 and 2, and the second group runs stages 1 and 3.
  int64_t stages = 0, devicesPerStage = 1, numPositions = 1;
  /// Pipeline stage of each node that has a stage, by node name. stageOfNodes()
  /// returns this map.
  std::map<std::string, int64_t> nodeStages;
  /// Nodes with annotations, in graph order. annotated() returns this list.
  std::vector<AnnotatedNode> nodes;
  /// Layouts of all sharding annotations, without duplicates. A layout assigns
  /// the shards of a tensor to the devices of one pipeline stage. Two layouts
  /// that differ only in the stage are stored once, because `firstDevice`, the
  /// number of the stage's first device, is set to 0.
  std::vector<ShardLayout> layouts;
  /// Maps each sharding annotation to the index of its layout in the list
  /// `layouts`. The layout tells which device holds which shard of the
  /// annotated tensor.
  std::unordered_map<const onnx::ShardingSpec *, size_t> layoutOfSpec;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_DEVICEPLAN_H
