//===- DevicePlan.h - device configuration, mesh and stages of a model ----===//

#ifndef PCC_PASSES_1_IMPORT_DEVICES_DEVICEPLAN_H
#define PCC_PASSES_1_IMPORT_DEVICES_DEVICEPLAN_H

#include "passes/1-import/build/ImportOptions.h"
#include "passes/1-import/devices/DeviceMesh.h"
#include "passes/1-import/onnx/model/Model.h"

#include <map>
#include <unordered_map>

namespace pcc::onnx_import {

/// Key in the ONNX model's metadata_props. The entry names the device
/// configuration to use if the user gives no --configuration.
inline constexpr std::string_view configurationKey = "pcc.configuration";
/// Key in the ONNX model's metadata_props. The entry is a mesh, such as
/// `dp=2,tp=4`. The metadata entry `pcc.configuration` names the device
/// configuration (named set of devices) for which this mesh is meant. If pcc
/// uses another device configuration, pcc ignores the mesh.
inline constexpr std::string_view meshKey = "pcc.mesh";
/// Key in the metadata_props of a ValueInfoProto or TensorProto. The entry is
/// the sharding of the value or tensor, in the syntax of the option --shard.
/// For example, the entry `[tp,-]` splits dim 0 over the mesh axis tp and does
/// not split dim 1.
inline constexpr std::string_view shardingKey = "pcc.sharding";

/// Returns the entry of `metadata` with key `key`; empty if there is none.
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
/// Also determines the pipeline stages and the mesh of one stage. The number of
/// a device is its rank. The first of these rules that applies decides:
///
///   1. --configuration gives the name, or "none" for no device configuration.
///   2. The metadata entry `pcc.configuration` of the model contains the name.
///   3. No node has a multi-device annotation: no device configuration is used.
///   4. All annotations refer to the same device configuration.
///   5. The user gives a mesh, and exactly one device configuration in the
///      annotations has one device per rank. The number of ranks is the product
///      of the axis sizes, times --pp (1 by default).
///
/// read() returns an error if the name does not exist or if no rule applies.
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

  /// Returns the mesh axes over which one tensor is split. The annotation
  /// `spec` of a node describes the split of this tensor. `spec` writes each
  /// split dim as a product of factors. For example, a dim of 768 may be 12 x
  /// 64, with the factors 12 and 64. A split dim may also have only one factor.
  /// The result contains one list of mesh axes for each factor. Each list is
  /// ordered from major to minor. For example, the result {{tp}, {}} splits the
  /// factor 12 over the axis tp, and does not split the factor 64.
  ///
  /// The node with the annotation `spec` must be in the list that annotated()
  /// returns. The function returns an error if the mesh has no suitable axes.
  /// The error message begins with a verb. The caller must prepend a subject,
  /// such as "the sharding of 'w'".
  StatusOr<std::vector<dist::SubAxes>>
  axesOf(const onnx::ShardingSpec &spec) const;

private:
  /// Sets the member `configuration` to the device configuration that pcc uses.
  /// A device configuration is a named set of devices in an ONNX model. The
  /// member becomes null if pcc uses no device configuration. Returns an error
  /// in two cases:
  ///
  ///   - The user or the model's metadata gives a name, and the model has no
  ///     device configuration with this name.
  ///   - The user and the metadata give no name. The annotations of the nodes
  ///     refer to several device configurations, and pcc cannot choose one of
  ///     them.
  Status chooseConfiguration(const ImportOptions &options);
  /// Appends each multi-device annotation of the nodes in `nodesOfGraph` to the
  /// list `nodes`, together with its node. Ignores annotations for other device
  /// configurations than the member `configuration`. If a node contains a
  /// subgraph, the function also appends the annotations of the nodes in the
  /// subgraph. For example, an If node contains two subgraphs.
  void collect(const std::vector<onnx::Node> &nodesOfGraph);
  /// Divides the devices into groups. All devices of a group run the same
  /// pipeline stages. The annotations of the nodes and `options` determine the
  /// groups. The function sets these members:
  ///
  ///   stages            number of pipeline stages that the annotations assign
  ///   numPositions      number of groups
  ///   devicesPerStage   number of devices in each group
  ///   nodeStages        pipeline stage of each node whose annotation states a
  ///                     stage
  ///
  /// Returns an error if the annotations and `options` contradict each other.
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
  /// Converts each sharding annotation of the model to a layout. A layout
  /// assigns the shards of one tensor to the devices of one pipeline stage. The
  /// function stores the layouts in the members `layouts` and `layoutOfSpec`.
  /// The function also calls placeNode() for the node with the annotation.
  /// placeNode() checks that the devices of the layout run the pipeline stage
  /// of the node. Returns an error if this check fails, or if the annotation
  /// lists other devices than the devices of one pipeline stage.
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
  /// the shards of a tensor to the devices of one pipeline stage. The list does
  /// not record which stage: `firstDevice`, the number of the stage's first
  /// device, is set to 0 in each entry. Layouts that differ only in the stage
  /// therefore have the same entry.
  std::vector<ShardLayout> layouts;
  /// Maps each sharding annotation to an index in the list `layouts`. The entry
  /// at this index tells which device holds which shard of the annotated
  /// tensor.
  std::unordered_map<const onnx::ShardingSpec *, size_t> layoutOfSpec;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_DEVICEPLAN_H
