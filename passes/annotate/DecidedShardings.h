//===- DecidedShardings.h - decided shardings by ONNX names ---------------===//

#ifndef PCC_PASSES_ANNOTATE_DECIDEDSHARDINGS_H
#define PCC_PASSES_ANNOTATE_DECIDEDSHARDINGS_H

#include "dialects/dist/DistDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace pcc {

/// Shardings and stages of the values of a module after 4-shard, by the names
/// of the ONNX model: inputs, outputs, weights, and values that no
/// simplification has removed. The time axis of microbatches is left out.
/// Values whose uses or stages contradict each other have no entry.
class DecidedShardings {
public:
  /// Reads all functions of `module`, which need not outlive the object.
  explicit DecidedShardings(mlir::ModuleOp module);

  /// A sharding, and the stage whose ranks hold the value.
  struct StagedSharding {
    dist::Sharding sharding;
    int64_t stage = 0;
    bool operator==(const StagedSharding &) const = default;
  };

  /// Returns the sharding in which readers get the value `name`: if the value
  /// is partial, the sharding after its reduction. Returns null if the value
  /// was removed, stays partial, or has contradictory entries.
  const StagedSharding *ofValue(const std::string &name) const {
    return lookUp(values, name);
  }
  /// Returns the sharding in which `node` reads the value `name`; null if it is
  /// unknown.
  const StagedSharding *ofUse(const std::string &node,
                              const std::string &name) const {
    return lookUp(uses, {node, name});
  }
  /// Returns the stage of `node`; nullopt if the node was removed or is on
  /// several stages.
  std::optional<int64_t> stageOf(const std::string &node) const {
    const int64_t *stage = lookUp(stages, node);
    return stage ? std::optional(*stage) : std::nullopt;
  }

  /// Shardings by names.
  using ByName = std::map<std::string, dist::Sharding>;
  /// Returns the shardings of the model's inputs.
  const ByName &inputs() const { return inputShardings; }
  /// Returns the shardings of the model's outputs.
  const ByName &outputs() const { return outputShardings; }
  /// Returns the shardings in which weights are stored.
  const ByName &weights() const { return weightShardings; }

  /// Returns the number of values without an entry: those that some op reads
  /// while they are partial, and weights whose sharding differs between stages.
  unsigned numUnsaid() const { return partial + ambiguous.size(); }

private:
  /// Returns the entry for `key`; null if there is none or it is contradictory.
  template <typename Key, typename Value>
  static const Value *lookUp(const std::map<Key, std::optional<Value>> &map,
                             const Key &key) {
    auto found = map.find(key);
    return found == map.end() || !found->second ? nullptr : &*found->second;
  }
  /// Adds an entry. Two different entries for one key leave an empty one, which
  /// marks the contradiction.
  template <typename Key, typename Value>
  static void enter(std::map<Key, std::optional<Value>> &map, const Key &key,
                    const Value &value) {
    auto [known, isNew] = map.insert({key, value});
    if (!isNew && known->second && !(*known->second == value))
      known->second.reset();
  }

  /// Reads the shardings of the arguments and results of a function.
  void readSignature(mlir::func::FuncOp function);
  /// Reads the stage of the node of `op` and the shardings of its operands and
  /// results.
  void readOp(mlir::Operation *op);
  /// Reads the sharding of `value`, a result with the name `name`.
  void readResult(mlir::Value value, const std::string &name);

  /// Shardings of values by name. nullopt marks contradictory entries.
  std::map<std::string, std::optional<StagedSharding>> values;
  /// Shardings of operands by node and name.
  std::map<std::pair<std::string, std::string>, std::optional<StagedSharding>>
      uses;
  /// Stages of nodes by name.
  std::map<std::string, std::optional<int64_t>> stages;
  /// Results of inputs(), outputs() and weights().
  ByName inputShardings, outputShardings, weightShardings;
  /// Weights whose sharding differs between stages.
  std::set<std::string> ambiguous;
  /// Number of values that some op reads while they are partial.
  unsigned partial = 0;
};

} // namespace pcc

#endif // PCC_PASSES_ANNOTATE_DECIDEDSHARDINGS_H
