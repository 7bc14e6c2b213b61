//===- ShardingAnnotations.h - what a model asks of its values ------------===//

#ifndef PCC_PASSES_1_IMPORT_DEVICES_SHARDINGANNOTATIONS_H
#define PCC_PASSES_1_IMPORT_DEVICES_SHARDINGANNOTATIONS_H

#include "dialects/dist/Sharding.h"
#include "passes/1-import/devices/DevicePlan.h"

namespace pcc::onnx_import {

/// Multi-device annotations of nodes and `pcc.sharding` metadata of values, as
/// shardings on a mesh. README.md tells the rules. Methods that return bool are
/// false after an error.
class ShardingAnnotations {
public:
  /// `dims` are the sizes of bound dims. Both must outlive this.
  ShardingAnnotations(const onnx::Model &model,
                      const std::map<std::string, int64_t> &dims)
      : model(model), dims(dims), plan(model) {}

  bool read(const ImportOptions &options, ImportError &error);

  const DevicePlan &devicePlan() const { return plan; }

  using Shape = dist::Shape;
  using RequestedSharding = std::optional<dist::Sharding>;

  /// Whether something was said about value `name`, or about uses of it.
  bool isAnnotated(std::string_view name) const { return values.count(name); }
  /// What a value is to be where it is made: what its producer's node, its
  /// metadata or else all nodes that use it agree on. `asked` is empty where
  /// nothing is said.
  bool shardingAtDefinition(std::string_view name, const Shape &shape,
                            RequestedSharding &asked, ImportError &error) const;
  /// What `node` wants one of its inputs to be.
  bool shardingAtUse(const onnx::Node &node, std::string_view name,
                     const Shape &shape, RequestedSharding &asked,
                     ImportError &error) const;
  /// What an output of the model is to be.
  bool shardingAtOutput(std::string_view name, const Shape &shape,
                        RequestedSharding &asked, ImportError &error) const;

private:
  /// One node's word about one tensor.
  struct NodeAnnotation {
    const onnx::Node *node = nullptr;
    const onnx::ShardingSpec *spec = nullptr;
  };
  struct ValueAnnotations {
    NodeAnnotation producer;
    std::vector<NodeAnnotation> users;
    /// `pcc.sharding`, of the value and of it as an output of the model.
    std::string_view text, outputText;
  };

  const dist::Mesh &mesh() const { return plan.mesh(); }
  void collectNodeAnnotations();
  void collectMetadata();

  bool parse(std::string_view name, std::string_view text, const Shape &shape,
             RequestedSharding &asked, ImportError &error) const;
  bool convert(const NodeAnnotation &word, const Shape &shape,
               RequestedSharding &asked, ImportError &error) const;
  std::string factorsOf(const onnx::ShardedDim &dim, int64_t size,
                        std::vector<int64_t> &sizes) const;
  std::optional<int64_t> sizeOf(const onnx::SimpleShardedDim &simple) const;

  const onnx::Model &model;
  const std::map<std::string, int64_t> &dims;
  DevicePlan plan;
  std::unordered_map<std::string_view, ValueAnnotations> values;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_SHARDINGANNOTATIONS_H
