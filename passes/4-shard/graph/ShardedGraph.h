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
/// The vertices are, in this order: sources (function arguments), ops in
/// program order, and sinks (function results). An edge leads from the producer
/// of a value to an operand of a user.
///
/// A pin is a vertex with a seed (requested sharding). If an op with operands
/// has a seed for its result, a separate pin follows the op, and users of the
/// result read the pin. Any other vertex with a seed, such as a weight, is a
/// pin itself.
///
///   %y = matmul %x, %w, y seeded:   x, w -> matmul -> pin [-, 8@tp] -> users
class ShardedGraph {
public:
  /// Edge of the graph: operand number `operand` of vertex `user` reads result
  /// number `result` of vertex `producer`. A vertex is given as an index into
  /// `ops`.
  struct OperandEdge {
    unsigned producer, result, user, operand;
  };

  /// Builds the graph of `function`. Divides each dim of a tensor into factors.
  /// A factor is a dim, or part of a dim. Most dims are one factor. There are
  /// two exceptions:
  ///
  /// - The sharding rule of an op can divide a dim. For example, a reshape from
  ///   [24] to [3, 8] divides the dim of 24 elements into the factors 3 and 8.
  /// - A requested sharding can divide a dim. `seeds` contains the requested
  ///   shardings.
  ///
  /// The graph keeps pointers into `seeds`. The caller must not destroy `seeds`
  /// before the graph.
  ShardedGraph(mlir::func::FuncOp function, const Seeds &seeds);

  /// Divides factors (dims or parts of dims) until the producer and the users
  /// of each value have the same factors. For example, 24 becomes 3 and 8 if a
  /// user has 3 and 8. Factors of kind Whole or with `mustBeContiguous` are not
  /// divided. Then sets `tags`. If `sequenceParts` is greater than 1, first
  /// cuts causal attention into stripes that `sequenceParts` ranks can split
  /// (stripesFor). If `microbatches` is greater than 1, first divides the batch
  /// dim of each argument: 8 samples in 2 microbatches become 2 and 4. Returns
  /// whether any attention was cut into stripes.
  bool refine(int64_t sequenceParts = 1, int64_t microbatches = 1);

  /// Returns the number of microbatches if ranks cannot divide the samples of
  /// one microbatch evenly, and 1 otherwise. The ranks are those of all axes of
  /// `mesh` that may split the batch, without `mb`. If the result is greater
  /// than 1, `refine` must divide the batch dim into microbatches and samples
  /// of a microbatch. Otherwise microbatches might differ in size. For 6
  /// samples, 2 microbatches and 2 ranks of dp:
  ///
  ///   [6@mb+dp]     microbatches of 4 and 2 samples
  ///   [2@mb|3@dp]   microbatches of 3 and 3 samples
  static int64_t unevenMicrobatches(mlir::func::FuncOp function,
                                    const dist::Mesh &mesh);

  /// Returns whether `refine` has cut the batch into microbatches, because
  /// ranks cannot divide the samples of one microbatch evenly.
  bool hasUnevenMicrobatches() const { return cutsMicrobatches; }

  /// Returns the number of vertices that depend on a function argument and have
  /// a sequence dim (tag Sequence).
  int64_t numSequenceOps() const;

  /// tags[v][f] is the tag, such as Batch, of factor f (a dim, or part of one)
  /// of vertex v. Empty before `refine`.
  llvm::SmallVector<llvm::SmallVector<FactorTag, 8>, 0> tags;

  /// By vertex: its IR op, its sharding rule, and the axes assigned so far.
  std::vector<ShardedOp> ops;
  /// operands[v] lists the edges that lead to vertex v: one for each operand of
  /// v, in operand order.
  llvm::SmallVector<llvm::SmallVector<OperandEdge, 3>> operands;
  /// users[v][r] lists the edges that lead from result r of vertex v to the
  /// operands that read it.
  llvm::SmallVector<llvm::SmallVector<llvm::SmallVector<OperandEdge, 2>, 1>>
      users;

  /// Returns whether the function is a training step: some op in the function
  /// writes a parameter. In a training step, a sum over the batch may be
  /// computed in pieces. Each piece is the sum over one microbatch (a part of
  /// the batch), and a `graph.accumulate` adds the pieces. In any other
  /// function, a sum over the batch is not cut into microbatches.
  bool isTraining() const { return trains; }
  /// Returns whether vertex `op` belongs to the optimizer update, which runs
  /// once per step. Other vertices run once per microbatch.
  bool runsOncePerStep(unsigned op) const {
    return trains && ops[op].op &&
           parts.of(ops[op].op) == graph::StepPart::Update;
  }

  /// Returns whether vertex `op` may read an incomplete sum over the batch.
  /// Example: the gradient of a weight is a sum over all samples. The vertex
  /// that computes it runs once per microbatch. Each run computes only the sum
  /// over the samples of one microbatch. This sum is incomplete until a
  /// `graph.accumulate` adds the sums of all microbatches.
  ///
  /// Call `refine` before this function.
  bool readsSumsInTime(unsigned op) const {
    return llvm::any_of(operands[op], [&](const OperandEdge &edge) {
      return sumsInTime.test(edge.producer);
    });
  }

  /// Returns pairs (read, write) of vertices: a `graph.get_parameter` and a
  /// `graph.set_parameter` of the same parameter on the same stage. Both must
  /// have the same sharding.
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
  /// Returns whether the function addPin has added vertex `op` to the graph.
  /// The vertex then only requests a sharding of an op's result, and it follows
  /// the vertex of the op. Example: the user requests a sharding of the result
  /// of a matmul. The graph then has a vertex for the matmul, and a second
  /// vertex for the request. isPinOfValue returns true for the second vertex
  /// only.
  ///
  /// The vertex of a function argument, of a function result or of an op
  /// without operands can hold a request itself. The graph has no second vertex
  /// for this request. isPinOfValue returns false for these vertices.
  bool isPinOfValue(unsigned op) const { return pinnedValues.contains(op); }
  /// Returns whether vertex `op` is a source, that is, a function argument.
  bool isArgument(unsigned op) const { return op < numArguments; }
  /// Returns whether vertex `op` is a sink, that is, a function result.
  bool isSink(unsigned op) const { return op >= ops.size() - numSinks; }
  /// Returns the index of the function result that vertex `op` stands for. `op`
  /// must be a sink, which is a vertex for a function result.
  unsigned sinkIndex(unsigned op) const { return op - (ops.size() - numSinks); }
  /// Returns the vertex from which the users of `value` read `value`. If the
  /// function addPin has added a vertex that requests a sharding of `value`,
  /// returns this vertex. Otherwise returns the vertex of the op or of the
  /// function argument that produces `value`.
  unsigned opOf(mlir::Value value) const {
    return producers.lookup(value).first;
  }

  /// The function of the graph. The handle is mutable because the accessors of
  /// FuncOp are not const.
  mutable mlir::func::FuncOp function;

private:
  /// Adds a vertex for a function argument. If the argument has a seed
  /// (requested sharding), the vertex must get this sharding.
  void addSource(mlir::Value argument);
  /// Adds a vertex for `op`. If a sharding is requested for the result of `op`,
  /// and `op` has no operands, the vertex is a pin (vertex with a requested
  /// sharding). If `op` has operands, a second vertex follows, and this vertex
  /// is the pin. A `graph.set_parameter` becomes a pin if a sharding is
  /// requested for a `graph.get_parameter` of the same parameter on the same
  /// pipeline stage.
  void addOp(mlir::Operation *op);
  /// Adds a pin: a vertex that reads `value` and returns it in the sharding
  /// that `seed` requests. Users of `value` that are added later read the pin.
  void addPin(mlir::Value value, const Seed &seed);
  /// Adds the vertex of one function result. `value` is the IR value that the
  /// function returns. The new vertex has `value` as its only operand. `seed`
  /// is the requested sharding of the function result, or null if there is no
  /// request. If `seed` is not null, the operand must have this sharding.
  void addSink(mlir::Value value, const Seed *seed);
  /// Adds one edge for each of `operands`, from its producer to vertex `user`.
  void connect(unsigned user, mlir::ValueRange operands);
  /// Fills `seededReads`.
  void findSeededReads();
  /// Returns the seed that the vertex of `op` gets, or null if the vertex gets
  /// no seed. A seed is a requested sharding of a value. There are three cases:
  ///
  /// - `op` has no operands, such as a `graph.get_parameter`. The function
  ///   returns the seed of the result of `op`.
  /// - `op` is a `graph.set_parameter`, which writes a parameter. The function
  ///   looks for a `graph.get_parameter` that reads this parameter on the same
  ///   pipeline stage, and returns the seed of its result. The parameter is
  ///   then written in the sharding in which it is read.
  /// - `op` is any other op. The function returns null. If the result of `op`
  ///   has a seed, `addOp` adds a separate vertex, which gets the seed.
  const Seed *leafSeedOf(mlir::Operation *op) const;
  /// Fills `readsAndWrites`, the pairs of vertices that read and write the same
  /// parameter.
  void findWrites();
  /// Fills `sumsInTime`: finds all vertices whose result may be a sum over only
  /// one microbatch, although the model needs the sum over the whole batch. A
  /// microbatch is a part of the batch, and each rank computes one microbatch
  /// after another. Example: the gradient of a weight is a sum over all
  /// samples. The vertex that computes the gradient runs once per microbatch.
  /// Each run adds up the samples of one microbatch only.
  void findSumsInTime();
  /// Sets the `tags` of all factors (dims or parts of dims) that belong to the
  /// batch, the sequence or the attention heads. Tags spread from function
  /// arguments to users. After that, the tag Sequence spreads from users to
  /// producers, because attention masks and tables of positions may depend on
  /// no argument. `sequenceParts` is the number of ranks for which `refine` has
  /// cut the sequence into stripes (contiguous pieces). It is 1 if no sequence
  /// was cut.
  void tagBatchAndSequence(int64_t sequenceParts);
  /// Gives the tag Head to the dim of attention heads in two kinds of ops. If
  /// the op of vertex `index` is not one of them, the function does nothing.
  ///
  /// - fused attention, or the gradient of a fused attention. The queries have
  ///   the dims [batch, heads, tokens, size of a head]. Dim 1 gets the tag.
  /// - product of queries and keys. An example is [batch, heads, queries, d] x
  ///   [batch, heads, keys, d], with the result [batch, heads, queries, keys].
  ///   The dim of the heads occurs in both operands and in the result. All dims
  ///   of this kind get the tag, except those that already have another tag. In
  ///   the example, the batch dim already has the tag Batch.
  void tagHeads(unsigned index);
  /// Returns whether vertex `index` does not pass the tag Head (dim of
  /// attention heads) on to its users. Two kinds of vertices do not pass it on:
  ///
  /// - a fused attention op
  /// - an op that sums over a sequence dim. An example is the product of the
  ///   attention probabilities [queries, keys] and the values [keys, d], which
  ///   sums over the keys.
  bool endsAttention(unsigned index) const;
  /// Cuts the batch dim of each function argument in two: microbatches, and the
  /// samples of one microbatch. With 2 microbatches, 8 samples become the
  /// factors 2 and 4. `rules` are the sharding rules of all vertices.
  void cutBatch(llvm::ArrayRef<std::shared_ptr<RefinedRule>> rules,
                int64_t microbatches);
  /// Adds a vertex with the given sharding rule. If `seed` (a requested
  /// sharding) is not null, the vertex must get this sharding. `refine` then
  /// does not cut the dims, or parts of dims, that the seed splits.
  void addVertex(mlir::Operation *op, RefinedRule rule, unsigned numResults,
                 const Seed *seed = nullptr);

  const Seeds *seeds;
  /// The part of a training step (forward, backward, update) of each op.
  graph::StepParts parts;
  /// Whether the function is a training step.
  bool trains;
  /// Whether `refine` has cut the batch into microbatches.
  bool cutsMicrobatches = false;
  /// Number of function arguments, which are the first vertices, and number of
  /// function results, which are the last vertices.
  unsigned numArguments = 0, numSinks = 0;
  /// For each IR value: the vertex that provides the value to its users, and
  /// the index of the value among the results of this vertex. The vertex is the
  /// op or the function argument that produces the value. There is one
  /// exception: if an op is followed by a pin (a vertex that requests a
  /// sharding of the op's result), the pin provides the result.
  llvm::DenseMap<mlir::Value, std::pair<unsigned, unsigned>> producers;
  /// For each pin (vertex with a requested sharding): the requested sharding.
  llvm::DenseMap<unsigned, const Seed *> pins;
  /// Maps a vertex to an IR value. Contains exactly the vertices that the
  /// function addPin has added. Each of these vertices requests a sharding for
  /// the result of an op, and the IR value is this result. Example: the user
  /// requests a sharding for the result %y of a matmul. Vertex 5 is the matmul,
  /// and vertex 6 is the request. Then pinnedValues[6] is %y.
  llvm::DenseMap<unsigned, mlir::Value> pinnedValues;
  /// The seeds (requested shardings) of parameters, by the parameter's name and
  /// the pipeline stage that reads it.
  std::map<std::pair<llvm::StringRef, int64_t>, const Seed *> seededReads;
  /// Pairs (read, write) of vertices: a `graph.get_parameter` and a
  /// `graph.set_parameter` of the same parameter on the same stage.
  llvm::SmallVector<std::pair<unsigned, unsigned>> readsAndWrites;
  /// Set of the vertices with results that may be incomplete sums over the
  /// batch. Example: the gradient of a weight is a sum over all samples. The
  /// vertex that computes it runs once per microbatch. Each run computes only
  /// the sum over the samples of one microbatch. This sum is incomplete until a
  /// `graph.accumulate` adds the sums of all microbatches.
  llvm::BitVector sumsInTime;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SHARDEDGRAPH_H
