//===- Alternatives.h - choices that ops did not take, and their prices ---===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_ALTERNATIVES_H
#define PCC_PASSES_4_SHARD_SEARCH_ALTERNATIVES_H

#include "dialects/dist/Decision.h"
#include "passes/4-shard/search/ReaderForms.h"
#include "passes/4-shard/search/StrategySpace.h"

namespace pcc::shard {

/// Computes the costs of the alternatives that `pcc explain` shows to the user.
/// The search has decided for each op which dims each mesh axis splits. An
/// alternative is another way in which one op could use one mesh axis. For
/// example, the axis tp splits the rows of a weight, and the alternative is to
/// split the columns.
///
/// The cost of an alternative is computed as in the search. All other ops stay
/// split as the search has decided. All mesh axes must have been assigned: the
/// search must have decided which dims they split.
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
  /// Returns the decision about vertex `index` of the graph and the mesh axis
  /// `axis`. The vertex is an op. The decision contains:
  ///
  /// - the way in which the op uses the axis, and the costs of this way. The
  ///   search has chosen this way. The parameter `chosen` contains the costs.
  ///   The function adds a text that describes the way.
  /// - other ways in which the op could use the axis, and their costs. The list
  ///   contains the best ways, at most five.
  dist::Decision decisionOf(unsigned index, const dist::Axis &axis,
                            dist::Choice chosen);
  /// Returns the price of `candidate`, a way of splitting vertex `index` of the
  /// graph. Returns std::nullopt if an operand or a result cannot be resharded
  /// as needed.
  std::optional<dist::Choice> price(unsigned index, const ShardedOp &candidate);
  /// One sharding in which an op reads a value. `operand` is the index of the
  /// operand that reads the value in this sharding. If several operands of the
  /// op read the value in this sharding, `operand` is the index of the first of
  /// these operands.
  ///
  /// An op may read one value in two shardings. Example: the op is the matmul
  /// of x and x. The mesh axis tp splits the columns of x for operand 0, and
  /// the rows of x for operand 1. There are then two OwnForm objects for x. In
  /// the first object, `sharding` splits the columns, and `operand` is 0. In
  /// the second object, `sharding` splits the rows, and `operand` is 1.
  struct OwnForm {
    dist::Sharding sharding;
    unsigned operand;
  };
  /// Adds to `choice` the reshards (changes of sharding) that `candidate`, a
  /// way of splitting vertex `index` of the graph, needs for its operands.
  /// Returns false if one of them is impossible.
  bool priceOperands(unsigned index, const ShardedOp &candidate,
                     dist::Choice &choice);
  /// Adds the cost of the reshard (change of sharding) of one operand to
  /// `choice`. Returns false if the reshard is impossible. The parameters are:
  ///
  /// - `edge` leads from the producer of a value to the operand, which reads
  ///   the value.
  /// - `to` is the sharding in which the operand needs the value.
  /// - `own` describes earlier operands of the same op that read the same
  ///   value. It lists the shardings in which these operands need the value.
  bool priceOperand(const ShardedGraph::OperandEdge &edge,
                    const dist::Sharding &to, llvm::ArrayRef<OwnForm> own,
                    dist::Choice &choice);
  /// Adds the costs of one result to `choice`, which collects the costs of
  /// `candidate`. `candidate` is a way of splitting vertex `index` of the
  /// graph. `result` is the index of the result. The costs are:
  ///
  /// - the memory of the result
  /// - the reshards (changes of sharding) of the result: one for each other
  ///   sharding in which some op reads the result
  ///
  /// Returns false if one of these reshards is impossible.
  bool priceResult(unsigned index, unsigned result, const ShardedOp &candidate,
                   dist::Choice &choice);
  /// Adds one reshard to `choice`. The reshard changes the sharding of a tensor
  /// from `from` to `to`. `type` is the type of the tensor. The function
  /// appends the communications of the reshard to `choice.steps`, and adds the
  /// time of the reshard to `choice.picoseconds`.
  ///
  /// `isShared` is true if two operands need the tensor in the sharding `to`.
  /// The ranks then reshard the tensor only once for both operands, and the
  /// function adds no time. Returns false if the reshard is impossible.
  bool add(const dist::Sharding &from, const dist::Sharding &to,
           mlir::RankedTensorType type, bool isShared,
           dist::Choice &choice) const;
  /// Adds the costs of `plan` to `choice`. `plan` lists the steps of one
  /// reshard (change of sharding), such as a slice and an all-gather. Each step
  /// that communicates is added to `choice.steps`. The time of the plan is
  /// added to `choice.picoseconds`.
  ///
  /// `isShared` means that another operand needs the same reshard. The steps
  /// are then marked as shared, and the time is not added. Returns false if the
  /// reshard is impossible.
  bool add(const plan::ReshardPlan &plan, bool isShared,
           dist::Choice &choice) const;
  /// Returns whether the ranks can store the result of vertex `index` of the
  /// graph in the sharding that vertex `reader` needs, so that no reshard
  /// (change of sharding) is necessary. The result is true if three conditions
  /// hold:
  ///
  /// - Vertex `index` is a weight or a constant.
  /// - No sharding is requested for vertex `index`.
  /// - No vertex except `reader` reads the weight or constant.
  bool followsReader(unsigned index, unsigned reader) const;
  /// Returns pointers to the shardings in which further operands need the value
  /// on `edge`: the operands of other ops, and the earlier operands of the same
  /// op, which `own` lists. The result is sorted by op, and then by operand.
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
  /// Returns a text for the user that describes how `candidate` uses the mesh
  /// axis `axis`. `candidate` is an op, together with the axes that split its
  /// dims. Example: the op is a matmul that reads the weight w of two dims, and
  /// tp splits the second dim of w. The text for the axis tp is "split 'w' as
  /// [-, tp]". In this text, `-` says that no axis splits the first dim of w.
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
