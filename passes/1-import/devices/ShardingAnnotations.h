//===- ShardingAnnotations.h - shardings requested by a model -------------===//

#ifndef PCC_PASSES_1_IMPORT_DEVICES_SHARDINGANNOTATIONS_H
#define PCC_PASSES_1_IMPORT_DEVICES_SHARDINGANNOTATIONS_H

#include "passes/1-import/devices/DevicePlan.h"
#include "sharding/Sharding.h"

namespace pcc::onnx_import {

/// Collects the shardings that an ONNX model requests by multi-device
/// annotations of nodes and by `pcc.sharding` metadata of values. Expresses
/// each sharding by the axes of the mesh. Methods store the sharding in the
/// parameter `asked`, which becomes empty if the model requests none. Methods
/// return an error if the requested sharding is impossible.
///
/// Different forms of a sharding become the simplest form. For example, if the
/// axis tp has size 2, a dim of 4 x 3 whose factor 4 is split over tp becomes a
/// dim of 12 that is split over tp.
class ShardingAnnotations {
public:
  /// Creates an object that collects the shardings that `model` requests.
  /// `dims` maps the name of a dim to its size. For example, the model has the
  /// input x[batch, 4], and the user gives the option --dim batch=8. `dims`
  /// then maps "batch" to 8. The object stores references to `model` and
  /// `dims`, which must outlive the object. The caller may fill `dims` after
  /// this call.
  ShardingAnnotations(const onnx::Model &model,
                      const std::map<std::string, int64_t> &dims)
      : model(model), dims(dims), plan(model) {}

  /// Determines the mesh and the pipeline stages. Then collects all annotations
  /// and metadata that request shardings. Must be called once, before all other
  /// methods.
  Status read(const ImportOptions &options);

  /// Returns the plan that holds the mesh and the pipeline stages of the model.
  const DevicePlan &devicePlan() const { return plan; }

  using Shape = dist::Shape;
  /// A sharding, or nothing if the model requests none.
  using RequestedSharding = std::optional<dist::Sharding>;

  /// Returns whether an annotation or metadata refers to the value `name`.
  bool isAnnotated(std::string_view name) const { return values.count(name); }
  /// Sets `asked` to the sharding that the model requests for the value `name`
  /// at its definition: a graph input, an initializer or a node output. `shape`
  /// is the shape of the value. `pcc.sharding` metadata of the value, or an
  /// annotation of the node that produces the value, decides first. Returns an
  /// error if both exist and differ. Otherwise the annotations of the nodes
  /// that read the value decide, if all of them request the same sharding. In
  /// all other cases, `asked` becomes empty.
  Status shardingAtDefinition(std::string_view name, const Shape &shape,
                              RequestedSharding &asked) const;
  /// Sets `asked` to the sharding that `node` requests for its input `name`.
  Status shardingAtUse(const onnx::Node &node, std::string_view name,
                       const Shape &shape, RequestedSharding &asked) const;
  /// Sets `asked` to the sharding that the model requests for its output
  /// `name`. `shape` is the shape of the output. There are two cases:
  ///
  ///  - The output has `pcc.sharding` metadata. `asked` becomes the sharding in
  ///    the metadata.
  ///  - The output has no `pcc.sharding` metadata. The method calls
  ///    shardingAtDefinition() for the value `name`. For example, the node that
  ///    produces the value may have an annotation that splits the value over
  ///    the mesh axis tp. `asked` then becomes this sharding.
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
    /// Request by the node that produces a value "x" of the ONNX model. (The
    /// struct belongs to one value, which is called "x" here.) The member
    /// contains a pointer to the node, and a pointer to the annotation in which
    /// the node requests a sharding of its result "x". Both pointers are null
    /// if the node requests no sharding of "x", or if no node produces "x".
    NodeAnnotation producer;
    /// Requests by the nodes that read a value "x" of the ONNX model. (The
    /// struct belongs to one value, which is called "x" here.) Each entry
    /// contains a pointer to one of these nodes, and a pointer to the
    /// annotation in which the node requests a sharding of its operand "x". A
    /// node that requests no sharding of "x" has no entry. The entries are in
    /// the order of the nodes in the graph.
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
  /// Adds all sharding annotations of the nodes to the map `values`. The map
  /// holds all requests for shardings, by the name of the value. For example,
  /// if an annotation of a node requests to split the value "x", the annotation
  /// is added to the entry for "x".
  void collectNodeAnnotations();
  /// Adds all `pcc.sharding` metadata of the model to the map `values`. The map
  /// holds all requests for shardings, by the name of the value. `pcc.sharding`
  /// metadata requests a sharding of one value, such as an input, an output or
  /// an initializer of the model.
  void collectMetadata();

  /// Parses `text`, the `pcc.sharding` metadata of the value `name`. `shape` is
  /// the shape of the value. Sets `asked` to the sharding that `text` requests.
  /// For example, the text "[tp,-]" requests to split dim 0 over the mesh axis
  /// tp, and not to split dim 1. Returns an error if `text` has the wrong form,
  /// or if the mesh or the shape does not allow the sharding.
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
  /// All shardings that the model requests. The key is the ONNX name of a
  /// value. The entry contains all requests for a sharding of this value.
  std::unordered_map<std::string_view, ValueAnnotations> values;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_SHARDINGANNOTATIONS_H
