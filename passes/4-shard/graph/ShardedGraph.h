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

/// The data-flow graph of a function, in which the search assigns mesh axes to
/// ops. The vertices are, in this order: the function arguments (sources), the
/// ops in program order, and the function results (sinks). An edge leads from
/// the vertex that produces a value to an operand of another vertex.
///
/// A seed is a requested sharding of a value. A pin is a vertex that reads and
/// returns a value in the sharding of a seed. If the result of an op has a
/// seed, a pin comes after the op, and users of the result read the pin. The op
/// itself may then produce the value in any sharding. Sources, sinks and ops
/// without operands (weights) that have a seed are pins themselves. A write of
/// a weight is a pin if the weight has a seed, because a weight is written in
/// the sharding in which it is read.
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
  /// Edge of the graph: operand number `operand` of vertex `user` reads result
  /// number `result` of vertex `producer`. A vertex is given as an index into
  /// `ops`.
  struct OperandEdge {
    unsigned producer, result, user, operand;
  };

  /// Builds the graph of `function`. Each dim of a tensor is one factor, unless
  /// the sharding rule of the op divides the dim into several factors. Keeps
  /// pointers into `seeds` (requested shardings), which must outlive the graph.
  ShardedGraph(mlir::func::FuncOp function, const Seeds &seeds);

  /// Cuts the factors (dims, or parts of dims) of all vertices until the
  /// producer and the users of each value have equal factors. Then tags these
  /// factors:
  ///
  /// - the batch and the sequence, which follow from `graph.batch_dim` and
  ///   `graph.sequence_dim` of the arguments;
  /// - the heads of attention.
  ///
  /// If `sequenceParts` > 1, first cuts the queries and keys of causal
  /// attention into stripes (pieces of the sequence; Stripes.h) for that many
  /// ranks. The factor of the tokens of each stripe then gets the tag Sequence.
  /// Returns whether any attention was cut into stripes.
  ///
  /// If `microbatches` > 1, also cuts the batch of each argument into that many
  /// microbatches and the samples of one microbatch.
  bool refine(int64_t sequenceParts = 1, int64_t microbatches = 1);

  /// Returns the number of microbatches if the ranks of `mesh` cannot divide
  /// the samples of one microbatch of `function` evenly; otherwise 1. In the
  /// first case the batch has to be cut (`refine`): without a cut, 6 samples in
  /// 2 microbatches on 4 ranks would be [6@mb+dp], 8 parts of at most one
  /// sample. A microbatch would have 4 or 2 samples, and not the 3 that it has
  /// where the ranks do not divide it. With the cut they are [2@mb|3@dp].
  static int64_t unevenMicrobatches(mlir::func::FuncOp function,
                                    const dist::Mesh &mesh);

  /// Returns whether `refine` has cut the batch into microbatches.
  bool hasUnevenMicrobatches() const { return cutsMicrobatches; }

  /// Returns the number of vertices (ops, arguments or results) that depend on
  /// a function argument and have a factor (dim, or part of a dim) with the tag
  /// Sequence. Does not count vertices that depend only on weights and
  /// constants, because every rank has weights and constants whole.
  int64_t numSequenceOps() const;

  /// tags[v][f] is the tag, such as Batch, of factor f (a dim, or part of one)
  /// of vertex v (op, argument or result). Empty before `refine`.
  llvm::SmallVector<llvm::SmallVector<FactorTag, 8>, 0> tags;

  /// By vertex (function argument, op, requested sharding or function result):
  /// its IR op, its sharding rule, and the axes assigned so far.
  std::vector<ShardedOp> ops;
  /// operands[v] lists the edges that lead to vertex v (op, argument or
  /// result): one for each operand of v, in operand order.
  llvm::SmallVector<llvm::SmallVector<OperandEdge, 3>> operands;
  /// users[v][r] lists the edges that lead from result r of vertex v (op or
  /// argument) to the operands that read the result.
  llvm::SmallVector<llvm::SmallVector<llvm::SmallVector<OperandEdge, 2>, 1>>
      users;

  /// Returns whether the function is a training step. If not, nothing may be
  /// summed over microbatches.
  bool isTraining() const { return trains; }
  /// Returns whether vertex `op` belongs to the optimizer update, which runs
  /// once per step. Other vertices run once per microbatch.
  bool runsOncePerStep(unsigned op) const {
    return trains && ops[op].op &&
           parts.of(ops[op].op) == graph::StepPart::Update;
  }

  /// Returns whether vertex `op` may read a value that is partial along the
  /// time axis: a sum over the batch of which each microbatch has one addend.
  /// It remains partial until `graph.accumulate` adds the addends. Valid after
  /// `refine`.
  bool readsSumsInTime(unsigned op) const {
    return llvm::any_of(operands[op], [&](const OperandEdge &edge) {
      return sumsInTime.test(edge.producer);
    });
  }

  /// Returns pairs (read, write) of vertices: a `graph.get_parameter` and a
  /// `graph.set_parameter` of the same parameter on the same stage. The two
  /// vertices must have the same sharding, because a parameter is written in
  /// the sharding in which it is stored.
  llvm::ArrayRef<std::pair<unsigned, unsigned>> writes() const {
    return readsAndWrites;
  }

  /// Returns the IR value that is result number `result` of vertex `op`. If the
  /// vertex is a pin (requested sharding of a value), returns the pinned value.
  /// `op` must not be a sink (function result).
  mlir::Value valueOf(unsigned op, unsigned result) const;
  /// Returns the IR value that `edge` reads.
  mlir::Value valueOf(const OperandEdge &edge) const {
    return valueOf(edge.producer, edge.result);
  }
  /// Returns the seed (requested sharding) of vertex `op`. Returns null if the
  /// vertex is no pin, that is, if it has no requested sharding.
  const Seed *seedOf(unsigned op) const { return pins.lookup(op); }
  /// Returns whether vertex `op` is a pin (requested sharding) that comes after
  /// an op. False for arguments, function results and weights that are pins
  /// themselves.
  bool isPinOfValue(unsigned op) const { return pinnedValues.contains(op); }
  /// Returns whether vertex `op` is a source, that is, a function argument.
  bool isArgument(unsigned op) const { return op < numArguments; }
  /// Returns whether vertex `op` is a sink, that is, a function result.
  bool isSink(unsigned op) const { return op >= ops.size() - numSinks; }
  /// Returns the index of the function result that vertex `op` stands for. `op`
  /// must be a sink, which is a vertex for a function result.
  unsigned sinkIndex(unsigned op) const { return op - (ops.size() - numSinks); }
  /// Returns the vertex that users of `value` read. It is the pin (vertex with
  /// the requested sharding) of the value if there is one, otherwise the vertex
  /// that produces the value.
  unsigned opOf(mlir::Value value) const {
    return producers.lookup(value).first;
  }

  /// The function of the graph. The handle is mutable because the accessors of
  /// FuncOp are not const.
  mutable mlir::func::FuncOp function;

private:
  /// Adds a vertex for a function argument. The vertex is a pin if the argument
  /// has a seed (requested sharding).
  void addSource(mlir::Value argument);
  /// Adds a vertex for `op`. If the result of `op` has a seed (requested
  /// sharding), also adds a pin: after the vertex of `op`, or as this vertex if
  /// leafSeedOf returns the seed.
  void addOp(mlir::Operation *op);
  /// Adds a pin: a vertex that reads `value` and returns it in the sharding
  /// that `seed` requests. Users of `value` that are added later read the pin.
  void addPin(mlir::Value value, const Seed &seed);
  /// Adds a vertex for a function result, which reads `value`. If `seed` (a
  /// requested sharding) is not null, the vertex is a pin: it reads `value` in
  /// the sharding that `seed` requests.
  void addSink(mlir::Value value, const Seed *seed);
  /// Adds one edge for each of `operands`, the operands of vertex `user` (an op
  /// or function result). The edge leads from the producer of the operand to
  /// `user`.
  void connect(unsigned user, mlir::ValueRange operands);
  /// Fills `seededReads`.
  void findSeededReads();
  /// Returns the seed (requested sharding) that makes the vertex of `op` itself
  /// a pin: of the result, if `op` has no operands, or of the parameter that
  /// `op` writes. Null for other ops and if there is no seed.
  const Seed *leafSeedOf(mlir::Operation *op) const;
  /// Fills `readsAndWrites`, the pairs of vertices that read and write the same
  /// parameter.
  void findWrites();
  /// Computes `sumsInTime`. Visits the vertices (ops of the graph) in program
  /// order, operands before users.
  void findSumsInTime();
  /// Sets `tags` of the batch, the sequence and the heads. Walks from the
  /// arguments to the results, then back, so that tables of token positions and
  /// masks get tags as well.
  void tagBatchAndSequence(int64_t sequenceParts);
  /// Tags the factors (dims, or parts of dims) of the heads of vertex `index`
  /// if attention begins there: at a fused attention op, or at a product of
  /// queries and keys.
  void tagHeads(unsigned index);
  /// Returns whether attention ends at vertex `index`: at a fused attention op,
  /// or at the product of attention weights and values, which sums over the
  /// keys. Tags of heads are not copied from there to users.
  bool endsAttention(unsigned index) const;
  /// Cuts the batch dims of the arguments in `rules`, the rules of all
  /// vertices, into `microbatches` and the samples of one microbatch.
  void cutBatch(llvm::ArrayRef<std::shared_ptr<RefinedRule>> rules,
                int64_t microbatches);
  /// Adds a vertex with the given sharding rule. If `seed` (a requested
  /// sharding) is not null, the vertex is a pin: it returns its value in the
  /// sharding of `seed`. The factors (dims, or parts of dims) that the seed
  /// splits are then not cut further.
  void addVertex(mlir::Operation *op, RefinedRule rule, unsigned numResults,
                 const Seed *seed = nullptr);

  const Seeds *seeds;
  /// The part of a training step (forward, backward, update) of each op.
  graph::StepParts parts;
  /// Whether the function is a training step.
  bool trains;
  /// Whether `refine` has cut the batch into microbatches.
  bool cutsMicrobatches = false;
  /// Number of function arguments, whose vertices come first, and number of
  /// function results, whose vertices come last.
  unsigned numArguments = 0, numSinks = 0;
  /// By IR value: the vertex that users of the value read, and the index of the
  /// value among the results of that vertex.
  llvm::DenseMap<mlir::Value, std::pair<unsigned, unsigned>> producers;
  /// By vertex that is a pin (vertex with a requested sharding): its seed, the
  /// requested sharding.
  llvm::DenseMap<unsigned, const Seed *> pins;
  /// By vertex that is a pin (requested sharding) after an op: the IR value
  /// that it pins.
  llvm::DenseMap<unsigned, mlir::Value> pinnedValues;
  /// By parameter and stage: the seed (requested sharding) of its reads.
  std::map<std::pair<llvm::StringRef, int64_t>, const Seed *> seededReads;
  /// Pairs of vertices that read and write one parameter; see `writes`.
  llvm::SmallVector<std::pair<unsigned, unsigned>> readsAndWrites;
  /// Vertices (ops of the graph) whose results may be partial along the time
  /// axis: each microbatch has one addend, which `graph.accumulate` must add
  /// up.
  llvm::BitVector sumsInTime;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SHARDEDGRAPH_H
