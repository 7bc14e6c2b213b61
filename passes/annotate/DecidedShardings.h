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

/// Shardings and pipeline stages of the values in an MLIR module, by their
/// names in the ONNX model. Phase 4-shard has chosen the shardings. They omit
/// the mesh axis that counts microbatches.
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

  /// Returns the sharding and the pipeline stage of the value with the ONNX
  /// name `name`. If only a reshard reads the value, returns the sharding after
  /// the reshard. The stage of a weight or a model input is 0. Returns null if
  /// the sharding is unknown, ambiguous, or a partial sum.
  const StagedSharding *ofValue(const std::string &name) const {
    return lookUp(values, name);
  }
  /// Returns the sharding in which the ONNX node `node` reads its input `name`,
  /// and the pipeline stage of the node. Returns null if no MLIR op of the node
  /// reads the input, if the ops disagree, or if all reads are halo exchanges.
  /// Also returns null for a weight that stages store in different shardings.
  const StagedSharding *ofUse(const std::string &node,
                              const std::string &name) const {
    return lookUp(uses, {node, name});
  }
  /// Returns the number of the pipeline stage of an ONNX node. `node` is the
  /// name of the node. The compiler may have made several MLIR ops from the
  /// node. Returns nullopt in two cases:
  ///  - The MLIR ops of the node are on different stages.
  ///  - No MLIR op of the node is left in the module, or no MLIR op of the node
  ///    has an operand.
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

  /// Returns the number of values for which this object has no sharding. There
  /// are two kinds of such values:
  ///  - A partial sum that an op reads before the terms are added. (In a
  ///    partial sum, each rank holds one term. The terms must still be added
  ///    over ranks.)
  ///  - A weight that two pipeline stages store in different shardings.
  unsigned numUnsaid() const { return partial + ambiguous.size(); }

private:
  /// Returns the content of `map` for `key`. Returns null if the key is absent,
  /// or if its content is nullopt because calls of enter() contradicted each
  /// other.
  template <typename Key, typename Value>
  static const Value *lookUp(const std::map<Key, std::optional<Value>> &map,
                             const Key &key) {
    auto found = map.find(key);
    return found == map.end() || !found->second ? nullptr : &*found->second;
  }
  /// Adds an entry with the key `key` and the content `value` to `map`. If
  /// `map` already has an entry with this key and another content, the function
  /// replaces the content of that entry by nullopt. The content nullopt means
  /// that the values for the key contradict each other. Later calls do not
  /// change such an entry.
  template <typename Key, typename Value>
  static void enter(std::map<Key, std::optional<Value>> &map, const Key &key,
                    const Value &value) {
    auto [known, isNew] = map.insert({key, value});
    if (!isNew && known->second && !(*known->second == value))
      known->second.reset();
  }

  /// Reads the shardings of the inputs and outputs of the ONNX model from
  /// `function`. The arguments of `function` are inputs of the model, and the
  /// results of `function` are outputs of the model. The sharding of each
  /// argument is added to the maps `inputShardings` and `values`. The sharding
  /// of each result is added to the map `outputShardings`. The key in each map
  /// is the name of the input or output in the ONNX model.
  void readSignature(mlir::func::FuncOp function);
  /// Adds the pipeline stage of `op` to `stages`, the shardings of its operands
  /// to `uses`, and those of its results to `values`. Skips operands with
  /// elements of neighbor ranks (halo exchange). Does nothing for a reshard or
  /// a transfer between stages, because ONNX has no such ops.
  void readOp(mlir::Operation *op);
  /// Adds the sharding and the pipeline stage of `value`, the result of an op,
  /// to `values` under its ONNX name `name`. Adds a weight to
  /// `weightShardings`, too. If an op reads the terms of a partial sum, only
  /// increments `partial`.
  void readResult(mlir::Value value, const std::string &name);

  /// Sharding and stage of each value, by the value's name. An entry is nullopt
  /// if the module gives several shardings or stages for one name.
  std::map<std::string, std::optional<StagedSharding>> values;
  /// Map from the names of an ONNX node and of one of its inputs to two facts:
  /// the sharding in which the node reads the input, and the stage of the node.
  /// The content is nullopt if MLIR ops of the node contradict each other, or
  /// if the input is a weight that stages store in different shardings.
  std::map<std::pair<std::string, std::string>, std::optional<StagedSharding>>
      uses;
  /// Stage of each node, by name; nullopt if the node is on several stages.
  std::map<std::string, std::optional<int64_t>> stages;
  /// Three maps of shardings. `inputShardings` has the shardings of the inputs
  /// of the ONNX model. `outputShardings` has the shardings of the outputs.
  /// `weightShardings` has the shardings in which ranks store the weights. The
  /// key in each map is the name of the input, output or weight in the ONNX
  /// model.
  ByName inputShardings, outputShardings, weightShardings;
  /// Names of the weights whose sharding differs between stages.
  std::set<std::string> ambiguous;
  /// Number of values for which no sharding is recorded, because an op reads
  /// them as partial sums (terms that still have to be added over ranks).
  unsigned partial = 0;
};

} // namespace pcc

#endif // PCC_PASSES_ANNOTATE_DECIDEDSHARDINGS_H
