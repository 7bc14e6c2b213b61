//===- DecidedShardings.h - what was decided, by the model's names --------===//

#ifndef PCC_PASSES_ANNOTATE_DECIDEDSHARDINGS_H
#define PCC_PASSES_ANNOTATE_DECIDEDSHARDINGS_H

#include "dialects/dist/DistDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace pcc {

/// How the values of a module lie after `4-shard`, and where, by the names that
/// the ONNX model knows: of inputs, outputs, weights and values that have not
/// been simplified away. Microbatches are left out.
class DecidedShardings {
public:
  explicit DecidedShardings(mlir::ModuleOp module);

  struct StagedSharding {
    dist::Sharding sharding;
    int64_t stage = 0;
    bool operator==(const StagedSharding &) const = default;
  };

  /// What a value is for those that read it: partial sums are reduced first.
  /// Null where nothing can be said: the value is gone, or stays partial.
  const StagedSharding *ofValue(const std::string &name) const {
    return lookUp(values, name);
  }
  /// What `node` reads of a value.
  const StagedSharding *ofUse(const std::string &node,
                              const std::string &name) const {
    return lookUp(uses, {node, name});
  }
  /// The stage of a node, if there is one.
  std::optional<int64_t> stageOf(const std::string &node) const {
    const int64_t *stage = lookUp(stages, node);
    return stage ? std::optional(*stage) : std::nullopt;
  }

  using ByName = std::map<std::string, dist::Sharding>;
  const ByName &inputs() const { return inputShardings; }
  const ByName &outputs() const { return outputShardings; }
  const ByName &weights() const { return weightShardings; }

  /// Values about which nothing can be said: those of which only partial sums
  /// are read, and weights that lie otherwise on other stages.
  unsigned numUnsaid() const { return partial + ambiguous.size(); }

private:
  template <typename Key, typename Value>
  static const Value *lookUp(const std::map<Key, std::optional<Value>> &map,
                             const Key &key) {
    auto found = map.find(key);
    return found == map.end() || !found->second ? nullptr : &*found->second;
  }
  /// Two different entries under one key leave an empty one.
  template <typename Key, typename Value>
  static void enter(std::map<Key, std::optional<Value>> &map, const Key &key,
                    const Value &value) {
    auto [known, isNew] = map.insert({key, value});
    if (!isNew && known->second && !(*known->second == value))
      known->second.reset();
  }

  void readSignature(mlir::func::FuncOp function);
  void readOp(mlir::Operation *op);
  void readResult(mlir::Value value, const std::string &name);

  std::map<std::string, std::optional<StagedSharding>> values;
  std::map<std::pair<std::string, std::string>, std::optional<StagedSharding>>
      uses;
  std::map<std::string, std::optional<int64_t>> stages;
  ByName inputShardings, outputShardings, weightShardings;
  /// Weights that lie otherwise on another stage.
  std::set<std::string> ambiguous;
  unsigned partial = 0;
};

} // namespace pcc

#endif // PCC_PASSES_ANNOTATE_DECIDEDSHARDINGS_H
