//===- Annotations.h - what a model asks of its values --------------------===//

#ifndef PCC_PASSES_1_IMPORT_DEVICES_ANNOTATIONS_H
#define PCC_PASSES_1_IMPORT_DEVICES_ANNOTATIONS_H

#include "dialects/dist/Sharding.h"
#include "passes/1-import/devices/DevicePlan.h"

namespace pcc::ingest {

/// Multi-device annotations of nodes and `pcc.sharding` metadata of values, as
/// shardings on a mesh. README.md tells the rules. Methods that return bool are
/// false after an error.
class Annotations {
public:
  /// `dims` are the sizes of bound dims. Both must outlive this.
  Annotations(const onnx::Model &model,
              const std::map<std::string, int64_t> &dims)
      : model(model), dims(dims), plan(model) {}

  bool read(const ImportOptions &options, ImportError &error);

  const DevicePlan &devicePlan() const { return plan; }

  using Shape = dist::Shape;
  using Asked = std::optional<dist::Sharding>;

  /// Whether something was said about value `name`, or about uses of it.
  bool speaksOf(std::string_view name) const { return values.count(name); }
  /// What a value is to be where it is made: what its producer's node, its
  /// metadata or else all nodes that use it agree on. `asked` is empty where
  /// nothing is said.
  bool atDefinition(std::string_view name, const Shape &shape, Asked &asked,
                    ImportError &error) const;
  /// What `node` wants one of its inputs to be.
  bool atUse(const onnx::Node &node, std::string_view name, const Shape &shape,
             Asked &asked, ImportError &error) const;
  /// What an output of the model is to be.
  bool atOutput(std::string_view name, const Shape &shape, Asked &asked,
                ImportError &error) const;

private:
  /// One node's word about one tensor.
  struct Word {
    const onnx::Node *node = nullptr;
    const onnx::ShardingSpec *spec = nullptr;
  };
  struct Words {
    Word producer;
    std::vector<Word> users;
    /// `pcc.sharding`, of the value and of it as an output of the model.
    std::string_view text, outputText;
  };

  const dist::Mesh &mesh() const { return plan.mesh(); }
  void collectWords();
  void collectTexts();

  bool parse(std::string_view name, std::string_view text, const Shape &shape,
             Asked &asked, ImportError &error) const;
  bool convert(const Word &word, const Shape &shape, Asked &asked,
               ImportError &error) const;
  std::string factorsOf(const onnx::ShardedDim &dim, int64_t size,
                        std::vector<int64_t> &sizes) const;
  std::optional<int64_t> sizeOf(const onnx::SimpleShardedDim &simple) const;

  const onnx::Model &model;
  const std::map<std::string, int64_t> &dims;
  DevicePlan plan;
  std::unordered_map<std::string_view, Words> values;
};

} // namespace pcc::ingest

#endif // PCC_PASSES_1_IMPORT_DEVICES_ANNOTATIONS_H
