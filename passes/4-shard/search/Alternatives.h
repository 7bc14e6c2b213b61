//===- Alternatives.h - what else could have been decided -----------------===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_ALTERNATIVES_H
#define PCC_PASSES_4_SHARD_SEARCH_ALTERNATIVES_H

#include "dialects/dist/Decision.h"
#include "passes/4-shard/search/StrategySpace.h"

namespace pcc::shard {

/// Prices, for ops of a graph whose axes have all been handed out, what each
/// axis could have done to one op with its neighbours as they are. Weights that
/// only the op reads lie as it takes them. Prices are those of the search: what
/// was chosen costs no more than what was not, unless that was refused.
class Alternatives {
public:
  /// All must outlive this.
  Alternatives(const ShardedGraph &graph, const Seeds &seeds,
               plan::ReshardPlanner &planner)
      : graph(graph), seeds(seeds), planner(planner), weights(graph),
        megatron(graph, weights), stored(graph) {}

  /// One decision per axis along which something is communicated for op
  /// `index`, or per axis if it contracts with a weight that counts; outermost
  /// first. None for pins, transfers, inputs and outputs.
  std::vector<dist::Decision> decisionsAt(unsigned index);

private:
  dist::Decision decisionOf(unsigned index, const dist::Axis &axis,
                            dist::Choice chosen);
  std::optional<dist::Choice> price(unsigned index, const ShardedOp &candidate);
  bool priceOperand(const ShardedGraph::OperandEdge &edge,
                    const ShardedOp &candidate, dist::Choice &choice);
  bool priceResult(unsigned index, unsigned result, const ShardedOp &candidate,
                   dist::Choice &choice);
  bool add(const dist::Sharding &from, const dist::Sharding &to,
           mlir::RankedTensorType type, bool isShared,
           dist::Choice &choice) const;
  bool add(const plan::ReshardPlan &plan, bool isShared,
           dist::Choice &choice) const;
  bool followsReader(unsigned index, unsigned reader) const;
  llvm::SmallVector<dist::Sharding>
  takenBeside(const ShardedGraph::OperandEdge &edge,
              const ShardedOp &candidate) const;
  std::string refusal(unsigned index, const ShardedOp &base,
                      const ShardedOp &candidate, const dist::Axis &axis) const;
  std::string wholeWeight(unsigned index, const ShardedOp &base,
                          const ShardedOp &candidate,
                          const dist::Axis &axis) const;
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
