//===- ShardedGraph.h - ops and values of a function, as a graph ----------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_SHARDEDGRAPH_H
#define PCC_PASSES_4_SHARD_GRAPH_SHARDEDGRAPH_H

#include "dialects/graph/StepParts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/4-shard/graph/Seeds.h"
#include "passes/4-shard/graph/ShardedOp.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"

#include <vector>

namespace pcc::shard {

/// Data-flow graph of a function, in which the search assigns mesh axes to ops.
/// The nodes are, in this order: function arguments, ops in program order, and
/// function results. A node whose sharding the user sets (--shard or an
/// annotation) is called a pin. If the user sets the sharding of a result of an
/// op with operands, an extra pin node follows the node of the op:
///
///   %y = matmul %x, %w, y is [-, 8@tp]:   x, w -> matmul -> pin -> users
class ShardedGraph {
public:
  /// Edge of the graph: operand number `operand` of node `user` reads result
  /// number `result` of node `producer`. A node is given as an index into
  /// `ops`.
  struct OperandEdge {
    unsigned producer, result, user, operand;
  };

  /// Builds the graph of `function`. `seeds` (shardings that the user set) must
  /// outlive the graph.
  ShardedGraph(mlir::func::FuncOp function, const Seeds &seeds);

  /// Divides loop dims until the producer and the users of each value have the
  /// same loop dims, where possible. Then sets `tags`. If `sequenceParts`, the
  /// number of ranks that split the sequence, is above 1, first cuts causal
  /// attention into stripes (contiguous ranges of tokens). If `microbatches` is
  /// above 1, first cuts batch dims into this number of microbatches. Returns
  /// whether any attention was cut into stripes.
  bool refine(int64_t sequenceParts = 1, int64_t microbatches = 1);

  /// Returns the number of microbatches if ranks cannot divide the samples of
  /// one microbatch evenly, and 1 otherwise. In the first case, refine() must
  /// cut the batch dim into microbatches. Example: 6 samples, 2 microbatches
  /// and dp = 2. If the batch dim is not cut, the sharding [6@mb+dp] makes
  /// microbatches of 4 and 2 samples. If it is cut, [2@mb|3@dp] makes two
  /// microbatches of 3 samples.
  static int64_t unevenMicrobatches(mlir::func::FuncOp function,
                                    const dist::Mesh &mesh);

  /// Returns whether `refine` has cut the batch into microbatches, because
  /// ranks cannot divide the samples of one microbatch evenly.
  bool hasUnevenMicrobatches() const { return cutsMicrobatches; }

  /// Returns the number of nodes that depend on a function argument and have a
  /// sequence dim (tag Sequence).
  int64_t numSequenceOps() const;

  /// tags[v][f] is the tag, such as Batch, of loop dim f of node v. Empty
  /// before `refine`.
  llvm::SmallVector<llvm::SmallVector<FactorTag, 8>, 0> tags;

  /// By node: its IR op, its sharding rule, and the axes assigned so far.
  std::vector<ShardedOp> ops;
  /// operands[v] lists the edges that lead to node v: one for each operand of
  /// v, in operand order.
  llvm::SmallVector<llvm::SmallVector<OperandEdge, 3>> operands;
  /// users[v][r] lists the edges that lead from result r of node v to the
  /// operands that read it.
  llvm::SmallVector<llvm::SmallVector<llvm::SmallVector<OperandEdge, 2>, 1>>
      users;

  /// Returns whether the function is a training step: some op writes a
  /// parameter. Only in a training step may each microbatch compute a part of a
  /// sum over the batch.
  bool isTraining() const { return trains; }
  /// Returns whether node `op` belongs to the optimizer update, which runs once
  /// per step. All other nodes run once per microbatch.
  bool runsOncePerStep(unsigned op) const {
    return trains && ops[op].op &&
           parts.of(ops[op].op) == graph::StepPart::Update;
  }

  /// Returns whether node `op` may read a sum over one microbatch only, such as
  /// a weight gradient. A `graph.accumulate` completes the sum over the batch.
  /// Call refine() before.
  bool readsSumsInTime(unsigned op) const {
    return llvm::any_of(operands[op], [&](const OperandEdge &edge) {
      return sumsInTime.test(edge.producer);
    });
  }

  /// Returns pairs (read, write) of nodes: a `graph.get_parameter` and a
  /// `graph.set_parameter` of the same parameter on the same pipeline stage.
  /// Both must have the same sharding.
  llvm::ArrayRef<std::pair<unsigned, unsigned>> writes() const {
    return readsAndWrites;
  }

  /// Returns the IR value that is result number `result` of node `op`. For a
  /// node that addPin() added to set the sharding of an op result, returns this
  /// op result. `op` must not be a function result.
  mlir::Value valueOf(unsigned op, unsigned result) const;
  /// Returns the IR value that `edge` reads.
  mlir::Value valueOf(const OperandEdge &edge) const {
    return valueOf(edge.producer, edge.result);
  }
  /// Returns the sharding that the user set (--shard or an annotation) for node
  /// `op`. Returns null if the user set none.
  const Seed *seedOf(unsigned op) const { return pins.lookup(op); }
  /// Returns whether node `op` was added by addPin: it only sets the sharding
  /// of an op's result. Returns false for arguments, function results, and ops
  /// without operands: a sharding that the user set for them is stored in their
  /// own node.
  bool isPinOfValue(unsigned op) const { return pinnedValues.contains(op); }
  /// Returns whether node `op` is a source, that is, a function argument.
  bool isArgument(unsigned op) const { return op < numArguments; }
  /// Returns whether node `op` is a sink, that is, a function result.
  bool isSink(unsigned op) const { return op >= ops.size() - numSinks; }
  /// Returns the index of the function result that node `op` stands for. `op`
  /// must be the node of a function result.
  unsigned sinkIndex(unsigned op) const { return op - (ops.size() - numSinks); }
  /// Returns the node from which users of `value` read it. It is the node that
  /// addPin added for `value`, if any; otherwise the producer.
  unsigned opOf(mlir::Value value) const {
    return producers.lookup(value).first;
  }

  /// The function of the graph. The handle is mutable because the accessors of
  /// FuncOp are not const.
  mutable mlir::func::FuncOp function;

private:
  /// Adds a node for a function argument. The node gets the sharding that the
  /// user set for the argument, if any.
  void addSource(mlir::Value argument);
  /// Adds a node for `op`. If the user sets the sharding of the result of `op`,
  /// also adds a pin node with this sharding. An op without operands needs no
  /// pin node: its own node gets the sharding.
  void addOp(mlir::Operation *op);
  /// Adds a pin: a node that reads `value` and returns it in the sharding
  /// `seed`. Users of `value` that are added later read the pin.
  void addPin(mlir::Value value, const Seed &seed);
  /// Adds the node of a function result, with `value` as its operand. If `seed`
  /// is not null, the operand must have this sharding, which the user set.
  void addSink(mlir::Value value, const Seed *seed);
  /// Adds one edge for each of `operands`, from its producer to node `user`.
  void connect(unsigned user, mlir::ValueRange operands);
  /// Fills `seededReads`.
  void findSeededReads();
  /// Returns the user-set sharding that addOp() stores in the node of `op`
  /// itself, and not in a pin node. Returns null if there is none. For an op
  /// without operands, this is the sharding that the user set for its result.
  /// For a `graph.set_parameter`, it is the sharding that the user set for the
  /// `graph.get_parameter` of the parameter on the same pipeline stage.
  const Seed *leafSeedOf(mlir::Operation *op) const;
  /// Fills `readsAndWrites`, the pairs of nodes that read and write the same
  /// parameter.
  void findWrites();
  /// Fills `sumsInTime`, the set of nodes whose result may be a sum over one
  /// microbatch only. If the function is not a training step, the set stays
  /// empty.
  void findSumsInTime();
  /// Tags all loop dims that belong to the batch, the sequence or the attention
  /// heads. `sequenceParts` is the number of ranks for which refine() has cut
  /// the sequence into stripes; 1 if it has not.
  void tagBatchAndSequence(int64_t sequenceParts);
  /// Gives the tag Head to the dim of attention heads, if node `index` is a
  /// fused attention or a product of queries and keys.
  void tagHeads(unsigned index);
  /// Returns whether node `index` is the last op of an attention: a fused
  /// attention, or an op that sums over a sequence dim, such as the product of
  /// softmax weights and values. The users of this node do not inherit the tag
  /// Head from it.
  bool endsAttention(unsigned index) const;
  /// Cuts the batch dim of each function argument in two: microbatches, and the
  /// samples of one microbatch. With 2 microbatches, 8 samples become the loop
  /// dims 2 and 4. `rules` are the sharding rules of all nodes.
  void cutBatch(llvm::ArrayRef<std::shared_ptr<RefinedRule>> rules,
                int64_t microbatches);
  /// Adds a node with the given sharding rule. If `seed` is not null, the node
  /// must get this sharding, which the user set. `refine` then does not cut the
  /// loop dims that `seed` splits.
  void addVertex(mlir::Operation *op, RefinedRule rule, unsigned numResults,
                 const Seed *seed = nullptr);

  const Seeds *seeds;
  /// The part of a training step (forward, backward, update) of each op.
  graph::StepParts parts;
  /// Whether the function is a training step.
  bool trains;
  /// Whether `refine` has cut the batch into microbatches.
  bool cutsMicrobatches = false;
  /// Number of function arguments, which are the first nodes, and number of
  /// function results, which are the last nodes.
  unsigned numArguments = 0, numSinks = 0;
  /// For each IR value: the node from which users read the value, and the index
  /// of the value among the results of this node. The node is the pin that
  /// addPin() added for the value, if any, otherwise the producer.
  llvm::DenseMap<mlir::Value, std::pair<unsigned, unsigned>> producers;
  /// For each node whose sharding the user sets (--shard or an annotation):
  /// this sharding.
  llvm::DenseMap<unsigned, const Seed *> pins;
  /// For each node that addPin added: the op result whose sharding it sets.
  llvm::DenseMap<unsigned, mlir::Value> pinnedValues;
  /// The shardings that the user set for parameters, by the parameter's name
  /// and the pipeline stage that reads it.
  std::map<std::pair<llvm::StringRef, int64_t>, const Seed *> seededReads;
  /// Pairs (read, write) of nodes: a `graph.get_parameter` and a
  /// `graph.set_parameter` of the same parameter on the same pipeline stage.
  llvm::SmallVector<std::pair<unsigned, unsigned>> readsAndWrites;
  /// Nodes whose result may be a sum over one microbatch only, such as a weight
  /// gradient. A `graph.accumulate` completes the sum over the batch.
  llvm::BitVector sumsInTime;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SHARDEDGRAPH_H
