//===- Alternatives.h - choices that ops did not take, and their prices ---===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_ALTERNATIVES_H
#define PCC_PASSES_4_SHARD_SEARCH_ALTERNATIVES_H

#include "dialects/dist/Decision.h"
#include "passes/4-shard/search/ReaderForms.h"
#include "passes/4-shard/search/StrategySpace.h"

namespace pcc::shard {

/// Computes the costs of the alternatives that `pcc explain` shows. An
/// alternative is another way in which one op could use one mesh axis: tp could
/// split the columns of a weight in place of the rows. All other ops stay as
/// the search has decided. The search must have assigned all mesh axes.
class Alternatives {
public:
  /// Keeps references to all arguments, which must outlive this object. The
  /// graph must not change while this object is used.
  Alternatives(const ShardedGraph &graph, const Seeds &seeds,
               plan::ReshardPlanner &planner)
      : graph(graph), seeds(seeds), planner(planner), weights(graph),
        megatron(graph, weights), stored(graph),
        batchOrder(graph, planner.mesh()), forms(graph) {}

  /// Returns the decisions about node `index`, in the order of the mesh axes.
  /// Each decision is about one mesh axis: it has the chosen use of the axis,
  /// and the alternatives. For a contraction with a large weight, there is one
  /// decision for each mesh axis. For any other op, there is one decision for
  /// each mesh axis along which the op communicates.
  std::vector<dist::Decision> decisionsAt(unsigned index);

private:
  /// Returns the decision about node `index` of the graph and the mesh axis
  /// `axis`: the use of the axis that the search has chosen, and at most five
  /// alternatives, the best first. `chosen` contains the costs of the chosen
  /// use.
  dist::Decision decisionOf(unsigned index, const dist::Axis &axis,
                            dist::Choice chosen);
  /// Returns the costs of `candidate`, a way of splitting node `index` of the
  /// graph. Returns std::nullopt if an operand or a result cannot be resharded
  /// as needed.
  std::optional<dist::Choice> price(unsigned index, const ShardedOp &candidate);
  /// A sharding in which an op reads a value, and the index of the first
  /// operand that reads the value in this sharding. An op may read one value in
  /// two shardings: a matmul of x and x may split rows and columns.
  struct OwnForm {
    dist::Sharding sharding;
    unsigned operand;
  };
  /// Adds to the costs in `choice` the reshards (changes of sharding) that
  /// `candidate`, a way of splitting node `index` of the graph, needs for its
  /// operands. Returns false if one of them is impossible.
  bool priceOperands(unsigned index, const ShardedOp &candidate,
                     dist::Choice &choice);
  /// Adds to the costs in `choice` the reshard to the sharding `to` of the
  /// operand that `edge` describes. `own` lists the shardings in which earlier
  /// operands of the op read the same value. Returns false if the reshard is
  /// impossible.
  bool priceOperand(const ShardedGraph::OperandEdge &edge,
                    const dist::Sharding &to, llvm::ArrayRef<OwnForm> own,
                    dist::Choice &choice);
  /// Adds the costs of one result to `choice`. The result is number `result` of
  /// node `index`, which is split as in `candidate`. The costs are the memory
  /// of the result, and the reshards to the shardings in which other ops read
  /// the result. Returns false if a reshard is impossible.
  bool priceResult(unsigned index, unsigned result, const ShardedOp &candidate,
                   dist::Choice &choice);
  /// Adds one reshard of a tensor to the costs in `choice`: its communications
  /// and its time. If another operand needs the same reshard (`isShared`), adds
  /// no time. Returns false if the reshard is impossible.
  bool add(const dist::Sharding &from, const dist::Sharding &to,
           mlir::RankedTensorType type, bool isShared,
           dist::Choice &choice) const;
  /// Adds the communications and the time of the reshard `plan` to the costs in
  /// `choice`. If another operand needs the same reshard (`isShared`), adds no
  /// time. Returns false if the reshard is impossible.
  bool add(const plan::ReshardPlan &plan, bool isShared,
           dist::Choice &choice) const;
  /// Returns whether node `index` can be stored in the sharding that node
  /// `reader` needs. This is possible for a weight or a constant that only
  /// `reader` reads, and whose sharding the user did not set.
  bool followsReader(unsigned index, unsigned reader) const;
  /// Returns all shardings in which the value on `edge` is needed elsewhere.
  /// `edge` is the use of a value as one operand of an op. The result contains
  /// the shardings in which other ops need the value, and the list `own`: the
  /// shardings in which earlier operands of the same op need it. The result is
  /// sorted by op and operand. The pointers are valid while `own` and this
  /// object exist.
  llvm::SmallVector<const dist::Sharding *>
  takenBeside(const ShardedGraph::OperandEdge &edge,
              llvm::ArrayRef<OwnForm> own);
  /// Returns the reason why the search must not split node `index` of the graph
  /// as in `candidate`. Returns an empty string if the search may do so. `base`
  /// is the node before `axis` was assigned.
  std::string refusal(unsigned index, const ShardedOp &base,
                      const ShardedOp &candidate, const dist::Axis &axis) const;
  /// Returns the name of the weight of node `index`, if `axis` must divide this
  /// weight and does not divide it in `candidate`. Otherwise returns an empty
  /// string. `base` is the node before `axis` was assigned.
  std::string wholeWeight(unsigned index, const ShardedOp &base,
                          const ShardedOp &candidate,
                          const dist::Axis &axis) const;
  /// Returns a text for the user about how `candidate` uses the mesh axis
  /// `axis`, such as "split 'w' as [-, tp]".
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
