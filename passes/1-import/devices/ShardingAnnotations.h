//===- ShardingAnnotations.h - shardings requested by a model -------------===//

#ifndef PCC_PASSES_1_IMPORT_DEVICES_SHARDINGANNOTATIONS_H
#define PCC_PASSES_1_IMPORT_DEVICES_SHARDINGANNOTATIONS_H

#include "passes/1-import/devices/DevicePlan.h"
#include "sharding/Sharding.h"

namespace pcc::onnx_import {

/// Converts the multi-device annotations of nodes and the `pcc.sharding`
/// metadata of values into shardings on the mesh of a DevicePlan. README.md
/// states the rules in full.
///
/// Methods that return bool return false, with `error` filled, on an error.
/// Each `shape` argument is the static shape of the value. Each `asked`
/// argument receives the requested sharding in canonical form, or nothing if
/// none is requested.
class ShardingAnnotations {
public:
  /// Prepares the annotations of `model`. `dims` holds the sizes of the bound
  /// dynamic dims and may be filled later. Both must outlive the object.
  ShardingAnnotations(const onnx::Model &model,
                      const std::map<std::string, int64_t> &dims)
      : model(model), dims(dims), plan(model) {}

  /// Reads the DevicePlan, the annotations and the metadata. Must be called
  /// once, before the other methods.
  bool read(const ImportOptions &options, ImportError &error);

  /// Returns the mesh and the stages of the model.
  const DevicePlan &devicePlan() const { return plan; }

  using Shape = dist::Shape;
  /// A sharding, or nothing if the model requests none.
  using RequestedSharding = std::optional<dist::Sharding>;

  /// Returns whether an annotation or metadata refers to the value `name`.
  bool isAnnotated(std::string_view name) const { return values.count(name); }
  /// Determines the sharding of the value `name` where it is defined. The
  /// sources, in this order, are: the metadata and the node that produces the
  /// value, which must agree; the nodes that use the value, if all that
  /// annotate it agree.
  bool shardingAtDefinition(std::string_view name, const Shape &shape,
                            RequestedSharding &asked, ImportError &error) const;
  /// Determines the sharding that `node` requests for its input `name`.
  bool shardingAtUse(const onnx::Node &node, std::string_view name,
                     const Shape &shape, RequestedSharding &asked,
                     ImportError &error) const;
  /// Determines the sharding of the model's output `name`: the one in the
  /// metadata of the output, else that of the value's definition.
  bool shardingAtOutput(std::string_view name, const Shape &shape,
                        RequestedSharding &asked, ImportError &error) const;

private:
  /// The annotation of one tensor by one node. Both pointers are null if there
  /// is none.
  struct NodeAnnotation {
    const onnx::Node *node = nullptr;
    const onnx::ShardingSpec *spec = nullptr;
  };
  /// All annotations of one value.
  struct ValueAnnotations {
    /// Annotation by the node that produces the value.
    NodeAnnotation producer;
    /// Annotations by nodes that use the value, in the order of nodes.
    std::vector<NodeAnnotation> users;
    /// Text of the `pcc.sharding` metadata of the value, and of the value as an
    /// output of the model; empty if absent.
    std::string_view text, outputText;
  };

  /// Returns the mesh on which shardings are expressed.
  const dist::Mesh &mesh() const { return plan.mesh(); }
  /// Enters the annotations of nodes into `values`.
  void collectNodeAnnotations();
  /// Enters the `pcc.sharding` metadata into `values`.
  void collectMetadata();

  /// Parses the metadata `text` of the value `name`.
  bool parse(std::string_view name, std::string_view text, const Shape &shape,
             RequestedSharding &asked, ImportError &error) const;
  /// Converts the annotation `word` into a sharding.
  bool convert(const NodeAnnotation &word, const Shape &shape,
               RequestedSharding &asked, ImportError &error) const;
  /// Appends the sizes of the factors of the annotated dim `dim`, which has
  /// `size` elements, to `sizes`. Returns an error message, or an empty string
  /// if the factors multiply to `size`.
  std::string factorsOf(const onnx::ShardedDim &dim, int64_t size,
                        std::vector<int64_t> &sizes) const;
  /// Returns the size of a factor, by number or by the name of a bound dim;
  /// nothing if the annotation leaves it open.
  std::optional<int64_t> sizeOf(const onnx::SimpleShardedDim &simple) const;

  const onnx::Model &model;
  const std::map<std::string, int64_t> &dims;
  DevicePlan plan;
  /// Annotations by the name of the value.
  std::unordered_map<std::string_view, ValueAnnotations> values;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_DEVICES_SHARDINGANNOTATIONS_H
