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

/// Table of the shardings and pipeline stages of the values in an MLIR module.
/// The module was imported from an ONNX model. The key of an entry is the name
/// of the value in the ONNX model. The shardings are those that the compiler
/// phase 4-shard has chosen. The table omits the mesh axis that counts
/// microbatches.
///
/// Several values in the MLIR module may have the same ONNX name. If their
/// shardings or stages differ, ofValue() returns null for this name.
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
  /// name `name`. The stage of a weight or a model input is 0. For a partial
  /// sum (each rank holds one term), returns the sharding of the complete sum.
  /// If the only reader of a value is a reshard (an op that changes the
  /// sharding), returns the new sharding. A weight always has its stored
  /// sharding. Returns null if the module has no sharding for `name`, if an op
  /// reads the terms of a partial sum, or if values with this name have
  /// different shardings or stages.
  const StagedSharding *ofValue(const std::string &name) const {
    return lookUp(values, name);
  }
  /// Returns the sharding in which an ONNX node reads an input, and the
  /// pipeline stage of the node. `node` is the name of the node. `name` is the
  /// name of the input. The compiler may have made several MLIR ops from the
  /// node. Returns null in four cases:
  ///  - No MLIR op of the node reads the input. For example, a pass has removed
  ///    the op.
  ///  - Several MLIR ops of the node read the input, and they read it in
  ///    different shardings or on different stages.
  ///  - Each MLIR op that reads the input also reads elements of neighbor
  ///    ranks, for example for a convolution. (Such a read is a halo exchange.)
  ///  - The input is a weight, several pipeline stages store the weight, and
  ///    the shardings of the stored weight differ between stages.
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
  /// Returns a pointer to the content that `map` has for `key`. Returns null in
  /// two cases:
  ///
  /// - `map` does not have the key.
  /// - The content is nullopt, because the module gives different contents for
  ///   the same key. For example, the key is the name of an ONNX node, and the
  ///   content is the pipeline stage of the node. The content is nullopt if the
  ///   compiler made two MLIR ops from the node, and the two ops are on
  ///   different stages.
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
  /// Adds the data of `op` to three maps:
  ///  - `stages` gets the pipeline stage of the ONNX node from which `op` was
  ///    made.
  ///  - `uses` gets the sharding of each operand of `op`. If an operand also
  ///    contains elements of neighbor ranks (halo exchange), this operand is
  ///    skipped.
  ///  - `values` gets the sharding of each result of `op`. See readResult().
  ///
  /// Does nothing if `op` changes the sharding of a tensor or sends a tensor to
  /// another pipeline stage. These ops do not exist in the ONNX model.
  void readOp(mlir::Operation *op);
  /// Adds a sharding of `value` and its pipeline stage to the map `values`.
  /// `value` is the result of an op. `name` is the name of `value` in the ONNX
  /// model, and is the key in the map. There are two special cases:
  ///  - If `value` is a weight, the function also adds the sharding to the map
  ///    `weightShardings`.
  ///  - If `value` is a partial sum and an op reads it before the terms are
  ///    added, the function adds no sharding. Instead, it adds 1 to the counter
  ///    `partial`. (In a partial sum, each rank holds one term. The terms must
  ///    still be added over ranks.)
  void readResult(mlir::Value value, const std::string &name);

  /// Sharding and stage of each value, by the value's name. An entry is nullopt
  /// if the module gives several shardings or stages for one name.
  std::map<std::string, std::optional<StagedSharding>> values;
  /// Map from the inputs of ONNX nodes to shardings and pipeline stages. The
  /// key is a pair: the name of the node, and the name of the input. The
  /// content is the sharding in which the node reads the input, and the stage
  /// of the node. The compiler may make several MLIR ops from one node. The
  /// content is nullopt in two cases:
  ///
  /// - The MLIR ops of the node read the input in different shardings or on
  ///   different stages.
  /// - The input is a weight, and two stages store the weight in different
  ///   shardings. The annotated ONNX model can state only one sharding of a
  ///   weight. In this case, the annotated model states no sharding of the
  ///   weight.
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
