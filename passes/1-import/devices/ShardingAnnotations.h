//===- ShardingAnnotations.h - shardings requested by a model -------------===//

#ifndef PCC_PASSES_1_IMPORT_DEVICES_SHARDINGANNOTATIONS_H
#define PCC_PASSES_1_IMPORT_DEVICES_SHARDINGANNOTATIONS_H

#include "passes/1-import/devices/DevicePlan.h"
#include "sharding/Sharding.h"

namespace pcc::onnx_import {

/// Converts a model's requests for shardings to shardings on the mesh of a
/// DevicePlan. The requests are the ONNX multi-device annotations of nodes and
/// the `pcc.sharding` metadata of values. README.md states the rules in full.
///
/// Methods that return a Status return an error if a request cannot be
/// satisfied, for example because no mesh axes express the sharding. Each
/// `shape` argument is the static shape of the value. Each `asked` argument is
/// an output: it becomes the requested sharding in canonical form, or empty if
/// none is requested.
class ShardingAnnotations {
public:
  /// Prepares the conversion of the requests in `model`. `dims` holds the sizes
  /// of the named dynamic dims and may still be filled after this call. Both
  /// arguments must outlive the object.
  ShardingAnnotations(const onnx::Model &model,
                      const std::map<std::string, int64_t> &dims)
      : model(model), dims(dims), plan(model) {}

  /// Reads the DevicePlan, the nodes' annotations and the metadata. Must be
  /// called once, before all other methods.
  Status read(const ImportOptions &options);

  /// Returns the plan that holds the mesh and the pipeline stages of the model.
  const DevicePlan &devicePlan() const { return plan; }

  using Shape = dist::Shape;
  /// A sharding, or nothing if the model requests none.
  using RequestedSharding = std::optional<dist::Sharding>;

  /// Returns whether an annotation or metadata refers to the value `name`.
  bool isAnnotated(std::string_view name) const { return values.count(name); }
  /// Sets `asked` to the sharding that the value `name` gets where it is
  /// defined. The first of these sources that exists determines the sharding:
  ///
  ///   1. the value's metadata, or the annotation of the node that produces the
  ///      value; it is an error if the two differ
  ///   2. the annotations of the nodes that read the value; `asked` becomes
  ///      empty if these annotations differ
  Status shardingAtDefinition(std::string_view name, const Shape &shape,
                              RequestedSharding &asked) const;
  /// Sets `asked` to the sharding that `node` requests for its input `name`.
  Status shardingAtUse(const onnx::Node &node, std::string_view name,
                       const Shape &shape, RequestedSharding &asked) const;
  /// Sets `asked` to the sharding of the model's output `name`. Metadata of the
  /// graph output determine the sharding. Without metadata, `asked` becomes the
  /// sharding that shardingAtDefinition returns.
  Status shardingAtOutput(std::string_view name, const Shape &shape,
                          RequestedSharding &asked) const;

private:
  /// A node, and the sharding that the node's annotation requests for one
  /// tensor. Both pointers are null if there is no such annotation.
  struct NodeAnnotation {
    const onnx::Node *node = nullptr;
    const onnx::ShardingSpec *spec = nullptr;
  };
  /// All requests for the sharding of one value.
  struct ValueAnnotations {
    /// Annotation by the node that produces the value; null pointers if there
    /// is none.
    NodeAnnotation producer;
    /// Annotations by nodes that read the value, in graph order.
    std::vector<NodeAnnotation> users;
    /// `text` is the `pcc.sharding` metadata of the value where the value is
    /// defined. `outputText` is the `pcc.sharding` metadata of the graph output
    /// that has the value's name. Each is empty if absent.
    std::string_view text, outputText;
  };

  /// Returns the mesh to whose axes the shardings refer.
  const dist::Mesh &mesh() const { return plan.mesh(); }
  /// Adds the annotations of all nodes to `values`.
  void collectNodeAnnotations();
  /// Adds the `pcc.sharding` metadata of all values to `values`.
  void collectMetadata();

  /// Parses `text`, the `pcc.sharding` metadata of the value `name`, and stores
  /// the sharding in `asked`.
  Status parse(std::string_view name, std::string_view text, const Shape &shape,
               RequestedSharding &asked) const;
  /// Converts `word`, a node's annotation of one tensor, to a sharding and
  /// stores the sharding in `asked`.
  Status convert(const NodeAnnotation &word, const Shape &shape,
                 RequestedSharding &asked) const;
  /// Appends the sizes of the factors of the annotated dim `dim` to `sizes`.
  /// Factors are sizes whose product is the dim's size, such as 12 heads of 64
  /// elements for a dim of 768. `size` is the dim's number of elements. Returns
  /// an empty string, or an error message if the product of the factors is not
  /// `size`.
  std::string factorsOf(const onnx::ShardedDim &dim, int64_t size,
                        std::vector<int64_t> &sizes) const;
  /// Returns the size of `simple`, one factor of a split dim (such as 12 in 12
  /// x 64). The annotation gives the size as a number or as the name of a
  /// dynamic dim. Returns nothing if the annotation contains neither, or if the
  /// named dim has no size.
  std::optional<int64_t> sizeOf(const onnx::SimpleShardedDim &simple) const;

  const onnx::Model &model;
  const std::map<std::string, int64_t> &dims;
  DevicePlan plan;
  /// All requests for shardings, by the name of the value.
  std::unordered_map<std::string_view, ValueAnnotations> values;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_SHARDINGANNOTATIONS_H
