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

/// Shardings and pipeline stages of a module's values after phase 4-shard, by
/// the values' names in the ONNX model. Shardings omit the time axis (the mesh
/// axis that counts microbatches). A value with contradictory shardings or
/// stages has no entry.
class DecidedShardings {
public:
  /// Collects the shardings and stages from all functions of `module`. The
  /// module may be destroyed afterwards.
  explicit DecidedShardings(mlir::ModuleOp module);

  /// Sharding of a value, and number of the pipeline stage whose ranks hold the
  /// value.
  struct StagedSharding {
    dist::Sharding sharding;
    int64_t stage = 0;
    bool operator==(const StagedSharding &) const = default;
  };

  /// Returns the sharding in which ops read the value `name`. A partial sum
  /// (terms that still have to be added over ranks) gets the sharding after its
  /// reduction. Returns null in three cases:
  ///  - the value was removed;
  ///  - an op reads the partial sum itself, before a reduction;
  ///  - different shardings of the value were found.
  const StagedSharding *ofValue(const std::string &name) const {
    return lookUp(values, name);
  }
  /// Returns the sharding in which the node `node` reads the value `name`; null
  /// if it is not known.
  const StagedSharding *ofUse(const std::string &node,
                              const std::string &name) const {
    return lookUp(uses, {node, name});
  }
  /// Returns the pipeline stage of the node `node`; nullopt if the node was
  /// removed or is on several stages.
  std::optional<int64_t> stageOf(const std::string &node) const {
    const int64_t *stage = lookUp(stages, node);
    return stage ? std::optional(*stage) : std::nullopt;
  }

  /// Shardings by the name that the value has in the ONNX model.
  using ByName = std::map<std::string, dist::Sharding>;
  /// Returns the shardings of the model's inputs, by name.
  const ByName &inputs() const { return inputShardings; }
  /// Returns the shardings of the model's outputs, by name.
  const ByName &outputs() const { return outputShardings; }
  /// Returns the shardings in which weights are stored, by name.
  const ByName &weights() const { return weightShardings; }

  /// Returns the number of values without a recorded sharding:
  ///  - values that some op reads as partial sums (terms that still have to be
  ///    added over ranks);
  ///  - weights whose sharding differs between stages.
  unsigned numUnsaid() const { return partial + ambiguous.size(); }

private:
  /// Returns the entry of `map` for `key`. Returns null if there is no entry,
  /// or if the entry is nullopt, which marks contradictory values.
  template <typename Key, typename Value>
  static const Value *lookUp(const std::map<Key, std::optional<Value>> &map,
                             const Key &key) {
    auto found = map.find(key);
    return found == map.end() || !found->second ? nullptr : &*found->second;
  }
  /// Sets the entry of `map` for `key` to `value`. If the entry exists and
  /// differs, sets it to nullopt, which marks contradictory values.
  template <typename Key, typename Value>
  static void enter(std::map<Key, std::optional<Value>> &map, const Key &key,
                    const Value &value) {
    auto [known, isNew] = map.insert({key, value});
    if (!isNew && known->second && !(*known->second == value))
      known->second.reset();
  }

  /// Records the shardings of the arguments and results of `function` as those
  /// of model inputs and outputs.
  void readSignature(mlir::func::FuncOp function);
  /// Records the stage of the ONNX node of `op`, and the shardings of the
  /// operands and results of `op`.
  void readOp(mlir::Operation *op);
  /// Records the sharding of `value`, a result of an op, under the name `name`.
  void readResult(mlir::Value value, const std::string &name);

  /// Sharding and stage of each value, by the value's name. An entry is nullopt
  /// if the module gives several shardings or stages for one name.
  std::map<std::string, std::optional<StagedSharding>> values;
  /// Sharding and stage in which a node reads a value. The key is the name of
  /// the node and the name of the value. An entry is nullopt if the node reads
  /// the value in several shardings or stages.
  std::map<std::pair<std::string, std::string>, std::optional<StagedSharding>>
      uses;
  /// Stage of each node, by name; nullopt if the node is on several stages.
  std::map<std::string, std::optional<int64_t>> stages;
  /// The shardings that inputs(), outputs() and weights() return.
  ByName inputShardings, outputShardings, weightShardings;
  /// Names of the weights whose sharding differs between stages.
  std::set<std::string> ambiguous;
  /// Number of values for which no sharding is recorded, because an op reads
  /// them as partial sums (terms that still have to be added over ranks).
  unsigned partial = 0;
};

} // namespace pcc

#endif // PCC_PASSES_ANNOTATE_DECIDEDSHARDINGS_H
