//===- DevicePlan.h - where a model wants its nodes -----------------------===//

#ifndef PCC_PASSES_1_IMPORT_DEVICES_DEVICEPLAN_H
#define PCC_PASSES_1_IMPORT_DEVICES_DEVICEPLAN_H

#include "passes/1-import/build/ImportError.h"
#include "passes/1-import/build/ImportOptions.h"
#include "passes/1-import/devices/DeviceMesh.h"
#include "passes/1-import/onnx/model/Model.h"

#include <map>
#include <unordered_map>

namespace pcc::onnx_import {

/// Keys of metadata_props. Of the model: the configuration that holds unless
/// the user chooses another, and its axes, major to minor (`dp=2,tp=4`). Of a
/// ValueInfoProto or TensorProto: a sharding in the text form of --shard.
inline constexpr std::string_view configurationKey = "pcc.configuration";
inline constexpr std::string_view meshKey = "pcc.mesh";
inline constexpr std::string_view shardingKey = "pcc.sharding";

/// The entry of `metadata` under `key`; empty if there is none.
std::string_view metadataOf(const onnx::Metadata &metadata,
                            std::string_view key);

/// Makes an error of what is wrong with the annotations, with that of a node,
/// or with what it says about `tensor`. Returns false.
bool refuse(std::string what, ImportError &error);
bool refuse(const onnx::Node &node, const std::string &what,
            ImportError &error);
bool refuse(const onnx::Node &node, std::string_view tensor,
            const std::string &what, ImportError &error);

/// Which device configuration of a model holds, the mesh that its devices are,
/// and the stages that it has. README.md tells the rules.
class DevicePlan {
public:
  /// `model` must outlive this.
  explicit DevicePlan(const onnx::Model &model) : model(model) {}

  /// False after an error.
  bool read(const ImportOptions &options, ImportError &error);

  /// The axes that split tensors: the user's, or else the model's own. None if
  /// neither says anything.
  const dist::Mesh &mesh() const { return axes; }
  /// 0 if no node says on which stage it is.
  int64_t numStages() const { return stages; }
  /// Names of nodes, as locations have them, and the stages that they are on.
  const std::map<std::string, int64_t> &stageOfNodes() const {
    return nodeStages;
  }

  using AnnotatedNode =
      std::pair<const onnx::Node *, const onnx::NodeDeviceConfiguration *>;
  /// What the configuration says, in the order of nodes.
  const std::vector<AnnotatedNode> &annotated() const { return nodes; }

  /// The axes that the shards of one of these annotations lie along, as
  /// onnx_import::axesOf tells.
  std::optional<std::vector<dist::SubAxes>>
  axesOf(const onnx::ShardingSpec &spec, std::string &error) const;

private:
  bool chooseConfiguration(const ImportOptions &options, ImportError &error);
  void collect(const std::vector<onnx::Node> &nodesOfGraph);
  bool findStages(const ImportOptions &options, ImportError &error);
  bool setStage(const onnx::Node &node, int64_t stage, ImportError &error);
  bool placeNode(const onnx::Node &node, const ShardLayout &layout,
                 ImportError &error);
  bool findLayouts(ImportError &error);
  size_t indexOf(ShardLayout layout);
  bool findMesh(const ImportOptions &options, ImportError &error);
  void takeMesh(const ImportOptions &options);

  const onnx::Model &model;
  const onnx::DeviceConfiguration *configuration = nullptr;
  dist::Mesh axes;
  int64_t stages = 0, devicesPerStage = 1, numPositions = 1;
  std::map<std::string, int64_t> nodeStages;
  std::vector<AnnotatedNode> nodes;
  /// Different ones only, and which one each annotation has.
  std::vector<ShardLayout> layouts;
  std::unordered_map<const onnx::ShardingSpec *, size_t> layoutOfSpec;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_DEVICEPLAN_H
