//===- Alternatives.h - choices that ops did not take, and their prices ---===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_ALTERNATIVES_H
#define PCC_PASSES_4_SHARD_SEARCH_ALTERNATIVES_H

#include "dialects/dist/Decision.h"
#include "passes/4-shard/search/StrategySpace.h"

namespace pcc::shard {

/// Prices, for `pcc explain`, the choices that ops had and did not take. The
/// axes of the graph have all been assigned. A choice is a use of one axis by
/// one op, with all adjacent ops as they are. A weight that only the op reads
/// follows the choice. Prices are those of the search: the chosen use costs no
/// more than any other that was not refused.
class Alternatives {
public:
  /// All arguments must outlive this.
  Alternatives(const ShardedGraph &graph, const Seeds &seeds,
               plan::ReshardPlanner &planner)
      : graph(graph), seeds(seeds), planner(planner), weights(graph),
        megatron(graph, weights), stored(graph) {}

  /// Returns the decisions about vertex `index`, in mesh order: one per axis
  /// along which something is communicated for the op, or one per axis if the
  /// op contracts with a weight that counts. Empty for pins, transfers, inputs
  /// and outputs.
  std::vector<dist::Decision> decisionsAt(unsigned index);

private:
  /// Returns the decision about `axis`: the price of the chosen use, and the
  /// cheapest of the other uses.
  dist::Decision decisionOf(unsigned index, const dist::Axis &axis,
                            dist::Choice chosen);
  /// Returns the price of `candidate`, a state of vertex `index`. Returns
  /// nothing if an operand or a result cannot be resharded as needed.
  std::optional<dist::Choice> price(unsigned index, const ShardedOp &candidate);
  /// Adds the reshard of one operand of `candidate` to `choice`. Returns false
  /// if it is impossible.
  bool priceOperand(const ShardedGraph::OperandEdge &edge,
                    const ShardedOp &candidate, dist::Choice &choice);
  /// Adds the reshards of a result of `candidate` to `choice`. Returns false if
  /// one is impossible.
  bool priceResult(unsigned index, unsigned result, const ShardedOp &candidate,
                   dist::Choice &choice);
  /// Adds the reshard of a tensor to `choice`. `isShared` says that other
  /// readers need the same reshard. Returns false if it is impossible.
  bool add(const dist::Sharding &from, const dist::Sharding &to,
           mlir::RankedTensorType type, bool isShared,
           dist::Choice &choice) const;
  /// Adds the communicating steps of `plan` to `choice`, and its time unless it
  /// is shared. Returns false if the plan is impossible.
  bool add(const plan::ReshardPlan &plan, bool isShared,
           dist::Choice &choice) const;
  /// Returns whether vertex `index` is an unpinned weight or constant that only
  /// vertex `reader` reads, so that it takes the reader's sharding for free.
  bool followsReader(unsigned index, unsigned reader) const;
  /// Returns the shardings in which the value on `edge` is made for its other
  /// users and for earlier operands of `candidate`.
  llvm::SmallVector<dist::Sharding>
  takenBeside(const ShardedGraph::OperandEdge &edge,
              const ShardedOp &candidate) const;
  /// Returns the reason for which `candidate` must not be taken at any cost;
  /// empty if it may be taken. `base` is the vertex without `axis`.
  std::string refusal(unsigned index, const ShardedOp &base,
                      const ShardedOp &candidate, const dist::Axis &axis) const;
  /// Returns the name of the weight that `candidate` leaves whole although
  /// `axis` must divide it; empty if there is none.
  std::string wholeWeight(unsigned index, const ShardedOp &base,
                          const ShardedOp &candidate,
                          const dist::Axis &axis) const;
  /// Returns in words how `candidate` uses `axis`: "split 'w' as [-, 8@tp]".
  std::string describe(const ShardedOp &candidate,
                       const dist::Axis &axis) const;

  const ShardedGraph &graph;
  const Seeds &seeds;
  plan::ReshardPlanner &planner;
  ContractionWeights weights;
  MegatronLayout megatron;
  StoredWeights stored;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_ALTERNATIVES_H
