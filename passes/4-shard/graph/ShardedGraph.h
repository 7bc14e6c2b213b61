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

/// The data-flow graph of a function to whose ops mesh axes are assigned. Its
/// vertices are sources (function arguments), ops in program order and sinks
/// (function results), in this order. An edge joins each operand to the vertex
/// that produces the value.
///
/// A *pin* is a vertex that takes and gives a value in the sharding of a seed.
/// If an op's result has a seed, a pin follows the op and users of the result
/// read the pin. The op itself may then produce the value in any sharding.
/// Sources, sinks and ops without operands (weights) that have a seed are pins
/// themselves.
///
///   %y = matmul %x, %w, y seeded:    x   w
///                                     \ /
///                                   matmul
///                                      |
///                                pin [-, 8@tp]
///                                      |
///                                 users of %y
class ShardedGraph {
public:
  /// Operand `operand` of vertex `user`, which reads result `result` of vertex
  /// `producer`. Vertices are indices into `ops`.
  struct OperandEdge {
    unsigned producer, result, user, operand;
  };

  /// Builds the graph of `function`, with one factor per dim or as the op's
  /// rule says. Keeps pointers into `seeds`, which must outlive the graph.
  ShardedGraph(mlir::func::FuncOp function, const Seeds &seeds);

  /// Cuts factors until the producer and the user of every value agree. Then
  /// tags the factors of the batch and the sequence, which follow from the
  /// arguments' `graph.batch_dim` and `graph.sequence_dim`, and the heads of
  /// attention. Must be called once, before any axis is assigned.
  ///
  /// With `sequenceParts` > 1, the dims of queries and keys of causal attention
  /// are first cut into stripes for that many ranks (Stripes.h). The Sequence
  /// factor is then the tokens of each stripe. Returns whether any attention
  /// was cut into stripes.
  bool refine(int64_t sequenceParts = 1);

  /// Returns the number of vertices that depend on an argument and have a
  /// factor tagged Sequence. Vertices that depend on weights and constants
  /// alone do not count, since every rank holds those whole.
  int64_t numSequenceOps() const;

  /// Per vertex and factor of its rule: the tag. Empty before `refine`.
  llvm::SmallVector<llvm::SmallVector<FactorTag, 8>, 0> tags;

  /// The vertices with the axes assigned so far.
  std::vector<ShardedOp> ops;
  /// Per vertex: its operand edges in operand order.
  llvm::SmallVector<llvm::SmallVector<OperandEdge, 3>> operands;
  /// Per vertex and result: the edges that read the result.
  llvm::SmallVector<llvm::SmallVector<llvm::SmallVector<OperandEdge, 2>, 1>>
      users;

  /// Returns whether the function trains. Only then can sums over microbatches
  /// accumulate.
  bool isTraining() const { return trains; }
  /// Returns whether vertex `op` runs once per step, in the update, rather than
  /// once per microbatch.
  bool runsOncePerStep(unsigned op) const {
    return trains && ops[op].op &&
           parts.of(ops[op].op) == graph::StepPart::Update;
  }

  /// Returns whether vertex `op` may read partial sums over microbatches: some
  /// operand depends on a sum over the batch that has not reached
  /// `graph.accumulate`. Valid after `refine`.
  bool readsSumsInTime(unsigned op) const {
    return llvm::any_of(operands[op], [&](const OperandEdge &edge) {
      return sumsInTime.test(edge.producer);
    });
  }

  /// Returns a pair (read, write) of vertices for every `graph.get_parameter`
  /// and `graph.set_parameter` of one parameter on one stage. Both must have
  /// the same sharding, since the parameter is written as it is stored.
  llvm::ArrayRef<std::pair<unsigned, unsigned>> writes() const {
    return readsAndWrites;
  }

  /// Returns the IR value of result `result` of vertex `op`; for a pin, the
  /// value that it pins. `op` must not be a sink.
  mlir::Value valueOf(unsigned op, unsigned result) const;
  /// Returns the IR value that `edge` reads.
  mlir::Value valueOf(const OperandEdge &edge) const {
    return valueOf(edge.producer, edge.result);
  }
  /// Returns the seed of a pin; null if vertex `op` is no pin.
  const Seed *seedOf(unsigned op) const { return pins.lookup(op); }
  /// Returns whether vertex `op` is a pin that was added after an op.
  bool isPinOfValue(unsigned op) const { return pinnedValues.contains(op); }
  /// Returns whether vertex `op` is a source, that is, a function argument.
  bool isArgument(unsigned op) const { return op < numArguments; }
  /// Returns whether vertex `op` is a sink, that is, a function result.
  bool isSink(unsigned op) const { return op >= ops.size() - numSinks; }
  /// Returns the position of a sink among the function's results.
  unsigned sinkIndex(unsigned op) const { return op - (ops.size() - numSinks); }
  /// Returns the vertex that users of `value` read: the pin of the value if it
  /// has one, else its producer.
  unsigned opOf(mlir::Value value) const {
    return producers.lookup(value).first;
  }

  /// The function of the graph. The handle is mutable because the accessors of
  /// FuncOp are not const.
  mutable mlir::func::FuncOp function;

private:
  /// Adds a source for a function argument; it is a pin if it has a seed.
  void addSource(mlir::Value argument);
  /// Adds the vertex of `op` and, if its result has a seed, a pin behind it.
  void addOp(mlir::Operation *op);
  /// Adds a pin of `value` to `seed`, which users of `value` added later read.
  void addPin(mlir::Value value, const Seed &seed);
  /// Adds a sink for a function result; it is a pin if `seed` is not null.
  void addSink(mlir::Value value, const Seed *seed);
  /// Adds the edges from the producers of `operands` to vertex `user`.
  void connect(unsigned user, mlir::ValueRange operands);
  /// Fills `readsAndWrites`.
  void findWrites();
  /// Fills `sumsInTime`, in program order.
  void findSumsInTime();
  /// Fills `tags`: walks from the arguments to the results, then back from ops
  /// on tokens to tables of positions and masks.
  void tagBatchAndSequence(int64_t sequenceParts);
  /// Tags the heads of vertex `index` if it begins attention: a fused
  /// attention, or a product of queries and keys.
  void tagHeads(unsigned index);
  /// Returns whether vertex `index` ends attention: a fused attention, or the
  /// sum over keys of weights times values. Heads keep their tag until there.
  bool endsAttention(unsigned index) const;
  /// Adds a vertex with `rule`. With a seed, the factors that the seed splits
  /// are not cut further.
  void addVertex(mlir::Operation *op, RefinedRule rule, unsigned numResults,
                 const Seed *seed = nullptr);

  const Seeds *seeds;
  /// The part of a training step (forward, backward, update) of each op.
  graph::StepParts parts;
  /// Whether the function trains.
  bool trains;
  /// Numbers of sources, which come first, and of sinks, which come last.
  unsigned numArguments = 0, numSinks = 0;
  /// Per value: the vertex, and its result, that users of the value read.
  llvm::DenseMap<mlir::Value, std::pair<unsigned, unsigned>> producers;
  /// Per pin: its seed.
  llvm::DenseMap<unsigned, const Seed *> pins;
  /// Per pin that was added after an op: the value that it pins.
  llvm::DenseMap<unsigned, mlir::Value> pinnedValues;
  /// The result of `writes`.
  llvm::SmallVector<std::pair<unsigned, unsigned>> readsAndWrites;
  /// Vertices whose results may be partial sums over microbatches.
  llvm::BitVector sumsInTime;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SHARDEDGRAPH_H
