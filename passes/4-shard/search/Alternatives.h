//===- Alternatives.h - choices that ops did not take, and their prices ---===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_ALTERNATIVES_H
#define PCC_PASSES_4_SHARD_SEARCH_ALTERNATIVES_H

#include "dialects/dist/Decision.h"
#include "passes/4-shard/search/ReaderForms.h"
#include "passes/4-shard/search/StrategySpace.h"

namespace pcc::shard {

/// Computes, for `pcc explain`, the prices of choices that were possible but
/// not taken. A choice is a way in which one op uses one axis, while all
/// adjacent ops stay as they are. All axes must have been assigned. Prices are
/// the costs that the search uses.
class Alternatives {
public:
  /// Keeps references to all arguments, which must outlive this object. The
  /// graph must not change while this object is used.
  Alternatives(const ShardedGraph &graph, const Seeds &seeds,
               plan::ReshardPlanner &planner)
      : graph(graph), seeds(seeds), planner(planner), weights(graph),
        megatron(graph, weights), stored(graph),
        batchOrder(graph, planner.mesh()), forms(graph) {}

  /// Returns the decisions about vertex `index` of the graph, in mesh order. A
  /// decision is about one mesh axis: it contains the way in which the op uses
  /// the axis, and the prices of other ways.
  ///
  /// - An op that contracts with a large weight has a decision for each mesh
  ///   axis.
  /// - Any other op has a decision for each axis along which it communicates.
  /// - Requested shardings (pins), transfers, inputs and outputs have none.
  std::vector<dist::Decision> decisionsAt(unsigned index);

private:
  /// Returns the decision about `axis` at vertex `index` of the graph:
  /// `chosen`, the choice that was taken, and the cheapest other choices.
  dist::Decision decisionOf(unsigned index, const dist::Axis &axis,
                            dist::Choice chosen);
  /// Returns the price of `candidate`, a way of splitting vertex `index` of the
  /// graph. Returns std::nullopt if an operand or a result cannot be resharded
  /// as needed.
  std::optional<dist::Choice> price(unsigned index, const ShardedOp &candidate);
  /// A sharding in which a vertex needs some value, and the index of its first
  /// operand that needs the value in this sharding.
  struct OwnForm {
    dist::Sharding sharding;
    unsigned operand;
  };
  /// Adds to `choice` the reshards (changes of sharding) that `candidate`, a
  /// way of splitting vertex `index` of the graph, needs for its operands.
  /// Returns false if one of them is impossible.
  bool priceOperands(unsigned index, const ShardedOp &candidate,
                     dist::Choice &choice);
  /// Adds the reshard (change of sharding) of one operand to `choice`. `edge`
  /// leads from the producer of a value to the operand. `to` is the sharding
  /// that the operand needs. `own` lists the shardings that earlier operands of
  /// the same vertex need of the value. Returns false if the reshard is
  /// impossible.
  bool priceOperand(const ShardedGraph::OperandEdge &edge,
                    const dist::Sharding &to, llvm::ArrayRef<OwnForm> own,
                    dist::Choice &choice);
  /// Adds to `choice` the reshards that users of one result of `candidate`
  /// need. Returns false if one of them is impossible.
  bool priceResult(unsigned index, unsigned result, const ShardedOp &candidate,
                   dist::Choice &choice);
  /// Adds to `choice` the reshard of a tensor from `from` to `to`. If
  /// `isShared`, another reader needs this reshard, too, so it adds no cost to
  /// `choice`. Returns false if the reshard is impossible.
  bool add(const dist::Sharding &from, const dist::Sharding &to,
           mlir::RankedTensorType type, bool isShared,
           dist::Choice &choice) const;
  /// Adds to `choice` the steps of `plan` that communicate, and their time. If
  /// `isShared`, another reader needs the steps, too, and their time is not
  /// added. Returns false if the plan is impossible.
  bool add(const plan::ReshardPlan &plan, bool isShared,
           dist::Choice &choice) const;
  /// Returns whether vertex `index` of the graph is a weight or constant,
  /// without a requested sharding, that only vertex `reader` reads. It is then
  /// split as the reader needs it, at no cost.
  bool followsReader(unsigned index, unsigned reader) const;
  /// Returns the shardings in which other operands need the value on `edge`.
  /// These are the operands of its other users, and earlier operands of the
  /// same user (listed in `own`). The shardings are in the order of the users.
  /// The pointers are valid as long as `own` and this object exist.
  llvm::SmallVector<const dist::Sharding *>
  takenBeside(const ShardedGraph::OperandEdge &edge,
              llvm::ArrayRef<OwnForm> own);
  /// Returns the reason why the search must not split vertex `index` of the
  /// graph as in `candidate`. Returns an empty string if the search may do so.
  /// `base` is the vertex before `axis` was assigned.
  std::string refusal(unsigned index, const ShardedOp &base,
                      const ShardedOp &candidate, const dist::Axis &axis) const;
  /// Returns the name of the weight of vertex `index`, if `axis` must divide
  /// this weight and does not divide it in `candidate`. Otherwise returns an
  /// empty string. `base` is the vertex before `axis` was assigned.
  std::string wholeWeight(unsigned index, const ShardedOp &base,
                          const ShardedOp &candidate,
                          const dist::Axis &axis) const;
  /// Returns a text that describes how `candidate` uses `axis`, such as "split
  /// 'w' as [-, 8@tp]".
  std::string describe(const ShardedOp &candidate,
                       const dist::Axis &axis) const;

  const ShardedGraph &graph;
  const Seeds &seeds;
  plan::ReshardPlanner &planner;
  ContractionWeights weights;
  MegatronLayout megatron;
  StoredWeights stored;
  BatchOrder batchOrder;
  ReaderForms forms;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_ALTERNATIVES_H
