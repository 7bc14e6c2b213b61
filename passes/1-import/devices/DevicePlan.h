//===- DevicePlan.h - device configuration, mesh and stages of a model ----===//

#ifndef PCC_PASSES_1_IMPORT_DEVICES_DEVICEPLAN_H
#define PCC_PASSES_1_IMPORT_DEVICES_DEVICEPLAN_H

#include "passes/1-import/build/ImportError.h"
#include "passes/1-import/build/ImportOptions.h"
#include "passes/1-import/devices/DeviceMesh.h"
#include "passes/1-import/onnx/model/Model.h"

#include <map>
#include <unordered_map>

namespace pcc::onnx_import {

/// Key in the model's metadata_props: the name of the device configuration to
/// use, unless the user chooses another.
inline constexpr std::string_view configurationKey = "pcc.configuration";
/// Key in the model's metadata_props: the mesh of the configuration that
/// `pcc.configuration` names, major to minor, such as `dp=2,tp=4`.
inline constexpr std::string_view meshKey = "pcc.mesh";
/// Key in the metadata_props of a ValueInfoProto or TensorProto: the sharding
/// of the value, in the text form of --shard, such as `[tp,-]`.
inline constexpr std::string_view shardingKey = "pcc.sharding";

/// Returns the entry of `metadata` with key `key`; empty if there is none.
std::string_view metadataOf(const onnx::Metadata &metadata,
                            std::string_view key);

/// Fills `error` with exit code 6 and the message `what`. Returns false.
bool refuse(std::string what, ImportError &error);
/// Fills `error` with exit code 6 for an annotation of `node`. `what` follows
/// the node's label in the message. Returns false.
bool refuse(const onnx::Node &node, const std::string &what,
            ImportError &error);
/// Fills `error` with exit code 6 for the sharding that `node` requests of
/// `tensor`; `what` continues "the sharding of TENSOR" in the message. Returns
/// false.
bool refuse(const onnx::Node &node, std::string_view tensor,
            const std::string &what, ImportError &error);

/// Decides which device configuration of a model applies, and derives the mesh
/// of its devices and its pipeline stages. Device numbers are ranks, stage by
/// stage: with 2 stages of 4 devices, devices 0 to 3 run stage 0, and 4 to 7
/// run stage 1. The first rule that gives a configuration applies:
///
///   1. --configuration NAME; none at all for NAME = none
///   2. the configuration that metadata `pcc.configuration` names
///   3. the only configuration that nodes refer to
///   4. the only one that nodes refer to and that has as many devices as the
///      user's mesh
///
/// README.md states the rules in full.
class DevicePlan {
public:
  /// Creates an empty plan. `model` must outlive the plan.
  explicit DevicePlan(const onnx::Model &model) : model(model) {}

  /// Reads the annotations of the model. Must be called once, before the other
  /// methods. Returns false, with `error` filled, if the annotations contradict
  /// each other or the options.
  bool read(const ImportOptions &options, ImportError &error);

  /// Returns the axes that split tensors: the user's if given, else those of
  /// the model. The mesh has no axes if neither gives any.
  const dist::Mesh &mesh() const { return axes; }
  /// Returns the number of pipeline stages; 0 if no node is assigned to a
  /// stage.
  int64_t numStages() const { return stages; }
  /// Returns the stages of the nodes that are assigned to one. The keys are
  /// node names as in nameInLocations.
  const std::map<std::string, int64_t> &stageOfNodes() const {
    return nodeStages;
  }

  /// A node and its annotation under the configuration that applies, neither
  /// null.
  using AnnotatedNode =
      std::pair<const onnx::Node *, const onnx::NodeDeviceConfiguration *>;
  /// Returns the annotated nodes, in the order of the graph. The nodes of a
  /// subgraph follow the node that holds it.
  const std::vector<AnnotatedNode> &annotated() const { return nodes; }

  /// Returns for each factor of `spec` the axes that split it, as
  /// onnx_import::axesOf does. `spec` must belong to one of annotated().
  std::optional<std::vector<dist::SubAxes>>
  axesOf(const onnx::ShardingSpec &spec, std::string &error) const;

private:
  /// Sets `configuration`, or leaves it null if no annotation applies. False if
  /// the choice is ambiguous or names no configuration.
  bool chooseConfiguration(const ImportOptions &options, ImportError &error);
  /// Appends the annotated nodes of a graph and of its subgraphs to `nodes`.
  void collect(const std::vector<onnx::Node> &nodesOfGraph);
  /// Derives the numbers of stages, positions and devices per stage, and
  /// assigns the nodes that name a stage.
  bool findStages(const ImportOptions &options, ImportError &error);
  /// Assigns `node` to `stage`. An error if a node of the same name is on
  /// another stage.
  bool setStage(const onnx::Node &node, int64_t stage, ImportError &error);
  /// Checks that the devices of `layout` are those of the stage of `node`. A
  /// node that names no stage is assigned to the stage of its devices.
  bool placeNode(const onnx::Node &node, const ShardLayout &layout,
                 ImportError &error);
  /// Computes the layouts of all annotations and checks them against the
  /// stages.
  bool findLayouts(ImportError &error);
  /// Returns the index of `layout` in `layouts`, and appends it if it is new.
  /// Layouts that differ only in the stage are the same.
  size_t indexOf(ShardLayout layout);
  /// Sets `axes` and checks that the mesh has as many devices as a stage.
  bool findMesh(const ImportOptions &options, ImportError &error);
  /// Sets `axes` to those of the user's options.
  void takeMesh(const ImportOptions &options);

  const onnx::Model &model;
  /// The configuration that applies; null if there is none.
  const onnx::DeviceConfiguration *configuration = nullptr;
  /// Result of mesh().
  dist::Mesh axes;
  /// Number of stages, of devices on which one stage runs, and of positions. A
  /// position runs stages / numPositions virtual stages on the same devices.
  int64_t stages = 0, devicesPerStage = 1, numPositions = 1;
  /// Result of stageOfNodes().
  std::map<std::string, int64_t> nodeStages;
  /// Result of annotated().
  std::vector<AnnotatedNode> nodes;
  /// All distinct layouts, each with firstDevice = 0.
  std::vector<ShardLayout> layouts;
  /// Index in `layouts` of the layout of each annotation.
  std::unordered_map<const onnx::ShardingSpec *, size_t> layoutOfSpec;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_DEVICEPLAN_H
