//===- ShardedGraph.h - all ops of a function while axes are handed out ---===//

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

/// Sources (arguments), ops in program order, sinks (results), and who feeds
/// whom. An op's value that has a seed is followed by a *pin*: a vertex that
/// takes and gives the value as the seed says, whatever the op's rule allows.
/// Sources, weights and sinks with a seed are pins themselves.
class ShardedGraph {
public:
  /// An operand of `user` and the result of `producer` that it reads.
  struct OperandEdge {
    unsigned producer, result, user, operand;
  };

  /// The graph keeps pointers to `seeds`.
  ShardedGraph(mlir::func::FuncOp function, const Seeds &seeds);

  /// Cuts factors finer until producers and users agree; then finds which are
  /// the batch and the sequence, from the arguments' `graph.batch_dim` and
  /// `graph.sequence_dim`, and the heads of attention. Once, before axes are
  /// handed out. With more than one of `sequenceParts` causal attention begins
  /// in stripes for so many ranks (Stripes.h), whose parts are the sequence;
  /// returns whether there is any.
  bool refine(int64_t sequenceParts = 1);

  /// Ops that have a dim of the sequence; not those on weights and constants
  /// alone, of which every rank has all.
  int64_t numSequenceOps() const;

  /// Per op and factor.
  llvm::SmallVector<llvm::SmallVector<FactorTag, 8>, 0> tags;

  std::vector<ShardedOp> ops;
  /// Per op, its operand edges in order.
  llvm::SmallVector<llvm::SmallVector<OperandEdge, 3>> operands;
  /// Per op and result, the edges that read it.
  llvm::SmallVector<llvm::SmallVector<llvm::SmallVector<OperandEdge, 2>, 1>>
      users;

  /// The function trains: sums over microbatches are possible.
  bool isTraining() const { return trains; }
  /// The op, or what makes the value, runs once per step.
  bool runsOncePerStep(unsigned op) const {
    return trains && ops[op].op &&
           parts.of(ops[op].op) == graph::StepPart::Update;
  }

  /// Whether microbatches can give partial sums of what the op reads: it
  /// depends on a sum over the batch that has not accumulated.
  bool readsSumsInTime(unsigned op) const {
    return llvm::any_of(operands[op], [&](const OperandEdge &edge) {
      return sumsInTime.test(edge.producer);
    });
  }

  /// The reads of each parameter that is written on the same stage, with the
  /// write.
  llvm::ArrayRef<std::pair<unsigned, unsigned>> writes() const {
    return readsAndWrites;
  }

  mlir::Value valueOf(unsigned op, unsigned result) const;
  mlir::Value valueOf(const OperandEdge &edge) const {
    return valueOf(edge.producer, edge.result);
  }
  /// What a vertex is pinned to; null if it is no pin.
  const Seed *seedOf(unsigned op) const { return pins.lookup(op); }
  /// A pin behind an op.
  bool isPinOfValue(unsigned op) const { return pinnedValues.contains(op); }
  bool isArgument(unsigned op) const { return op < numArguments; }
  bool isSink(unsigned op) const { return op >= ops.size() - numSinks; }
  /// The position of a sink among the function's results.
  unsigned sinkIndex(unsigned op) const { return op - (ops.size() - numSinks); }
  /// The vertex that users of a value read.
  unsigned opOf(mlir::Value value) const {
    return producers.lookup(value).first;
  }

  mutable mlir::func::FuncOp
      function; ///< a handle: its accessors are not const

private:
  void addSource(mlir::Value argument);
  void addOp(mlir::Operation *op);
  void addPin(mlir::Value value, const Seed &seed);
  void addSink(mlir::Value value, const Seed *seed);
  void connect(unsigned user, mlir::ValueRange operands);
  void findWrites();
  void findSumsInTime();
  void tagBatchAndSequence(int64_t sequenceParts);
  void tagHeads(unsigned index);
  bool endsAttention(unsigned index) const;
  void addVertex(mlir::Operation *op, RefinedRule rule, unsigned numResults,
                 const Seed *seed = nullptr);

  const Seeds *seeds;
  graph::StepParts parts;
  bool trains;
  unsigned numArguments = 0, numSinks = 0;
  /// Per value the vertex and its result that users read.
  llvm::DenseMap<mlir::Value, std::pair<unsigned, unsigned>> producers;
  llvm::DenseMap<unsigned, const Seed *> pins;
  llvm::DenseMap<unsigned, mlir::Value> pinnedValues;
  llvm::SmallVector<std::pair<unsigned, unsigned>> readsAndWrites;
  /// Ops that can be partial sums over microbatches.
  llvm::BitVector sumsInTime;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SHARDEDGRAPH_H
