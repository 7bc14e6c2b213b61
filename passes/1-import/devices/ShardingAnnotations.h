//===- ShardingAnnotations.h - shardings requested by a model -------------===//

#ifndef PCC_PASSES_1_IMPORT_DEVICES_SHARDINGANNOTATIONS_H
#define PCC_PASSES_1_IMPORT_DEVICES_SHARDINGANNOTATIONS_H

#include "passes/1-import/devices/DevicePlan.h"
#include "sharding/Sharding.h"

namespace pcc::onnx_import {

/// Collects the shardings that an ONNX model specifies by multi-device
/// annotations of nodes and by `pcc.sharding` metadata of values. A method
/// stores a sharding in its parameter `asked`; empty if the model specifies
/// none. A method returns an error if the sharding is impossible.
class ShardingAnnotations {
public:
  /// Creates an object that collects the shardings that `model` specifies.
  /// `dims` maps the name of a dim to its size: for the input x[batch, 4] and
  /// the option --dim batch=8, it maps "batch" to 8. The object stores
  /// references to `model` and `dims`, which must outlive the object. The
  /// caller may fill `dims` after this call.
  ShardingAnnotations(const onnx::Model &model,
                      const std::map<std::string, int64_t> &dims)
      : model(model), dims(dims), plan(model) {}

  /// Determines the mesh and the pipeline stages. Then collects all annotations
  /// and metadata that specify shardings. Must be called once, before all other
  /// methods.
  Status read(const ImportOptions &options);

  /// Returns the plan that holds the mesh and the pipeline stages of the model.
  const DevicePlan &devicePlan() const { return plan; }

  using Shape = dist::Shape;
  /// A sharding from annotations or metadata of the model; nothing if the model
  /// specifies none.
  using RequestedSharding = std::optional<dist::Sharding>;

  /// Returns whether an annotation or metadata refers to the value `name`.
  bool isAnnotated(std::string_view name) const { return values.count(name); }
  /// Sets `asked` to the sharding that the model specifies for the value `name`
  /// at its definition: by metadata or by the node that produces it. Returns an
  /// error if these two differ. If neither exists, the annotations of the nodes
  /// that read the value count. `asked` is their sharding if all of them agree,
  /// otherwise empty.
  Status shardingAtDefinition(std::string_view name, const Shape &shape,
                              RequestedSharding &asked) const;
  /// Sets `asked` to the sharding that the annotation of `node` gives for its
  /// input `name`.
  Status shardingAtUse(const onnx::Node &node, std::string_view name,
                       const Shape &shape, RequestedSharding &asked) const;
  /// Sets `asked` to the sharding that the model specifies for its output
  /// `name` of the shape `shape`: the `pcc.sharding` metadata of the output, or
  /// else the result of shardingAtDefinition().
  Status shardingAtOutput(std::string_view name, const Shape &shape,
                          RequestedSharding &asked) const;

private:
  /// A node, and the node's annotation with the sharding of one tensor. Both
  /// pointers are null if the tensor has no annotation.
  struct NodeAnnotation {
    const onnx::Node *node = nullptr;
    const onnx::ShardingSpec *spec = nullptr;
  };
  /// All annotations and metadata that specify a sharding of one value.
  struct ValueAnnotations {
    /// Annotation of the node that produces the value: the node, and its
    /// annotation with the sharding of this result. Both pointers are null if
    /// the node does not annotate this result, or if no node produces the
    /// value.
    NodeAnnotation producer;
    /// Annotations of the nodes that read the value: each node, and its
    /// annotation with the sharding of this operand. The list leaves out nodes
    /// that do not annotate this operand. It has the order of the nodes in the
    /// graph.
    std::vector<NodeAnnotation> users;
    /// `pcc.sharding` metadata of the value to which this struct belongs, such
    /// as "[tp,-]". `text` is the metadata of the graph input, initializer or
    /// value_info entry that has the name of this value. `outputText` is the
    /// metadata of the graph output that has the name of this value. A text is
    /// empty if the model has no such metadata.
    std::string_view text, outputText;
  };

  /// Returns the mesh to whose axes the shardings refer.
  const dist::Mesh &mesh() const { return plan.mesh(); }
  /// Adds all sharding annotations of the nodes to the map `values`, by the
  /// name of the value. For example, if an annotation of a node splits the
  /// value "x", the annotation is added to values["x"].
  void collectNodeAnnotations();
  /// Adds all `pcc.sharding` metadata of the model to the map `values`, by the
  /// name of the value. `pcc.sharding` metadata specify the sharding of one
  /// value, such as an input, an output or an initializer of the model.
  void collectMetadata();

  /// Parses `text`, the `pcc.sharding` metadata of the value `name`. `shape` is
  /// the shape of the value. Sets `asked` to the sharding that `text`
  /// specifies. For example, the text "[tp,-]" splits dim 0 over the mesh axis
  /// tp, and does not split dim 1. Returns an error if `text` is malformed, or
  /// if the mesh or the shape does not allow the sharding.
  Status parse(std::string_view name, std::string_view text, const Shape &shape,
               RequestedSharding &asked) const;
  /// Converts the annotation in `word` to a sharding, and sets `asked` to this
  /// sharding. `word` consists of a node and the node's annotation for one
  /// tensor. `shape` is the shape of the tensor. Returns an error if the mesh
  /// or the shape does not allow this sharding.
  Status convert(const NodeAnnotation &word, const Shape &shape,
                 RequestedSharding &asked) const;
  /// Appends the sizes of the factors of `dim` to `sizes`, such as 12 and 64
  /// for a dim of `size` 768. Returns an error message if the product is not
  /// `size`, else an empty string.
  std::string factorsOf(const onnx::ShardedDim &dim, int64_t size,
                        std::vector<int64_t> &sizes) const;
  /// Returns the size of `simple`, one factor of a split dim (such as 12 in 12
  /// x 64). Returns nothing if the annotation does not give the size.
  std::optional<int64_t> sizeOf(const onnx::SimpleShardedDim &simple) const;

  const onnx::Model &model;
  const std::map<std::string, int64_t> &dims;
  DevicePlan plan;
  /// All annotations and metadata that specify shardings. The key is the ONNX
  /// name of the sharded value.
  std::unordered_map<std::string_view, ValueAnnotations> values;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_SHARDINGANNOTATIONS_H
