//===- ShardedGraph.h - all ops of a function while axes are handed out ---===//

#ifndef PCC_PASSES_4_SHARD_SHARDEDGRAPH_H
#define PCC_PASSES_4_SHARD_SHARDEDGRAPH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/4-shard/ShardedOp.h"
#include "llvm/ADT/DenseSet.h"

#include <vector>

namespace pcc::shard {

/// Sources (arguments), ops in program order, sinks (results), and who feeds
/// whom.
class ShardedGraph {
public:
  /// An operand of `user` and the result of `producer` that it reads.
  struct Edge {
    unsigned producer, result, user, operand;
  };

  explicit ShardedGraph(mlir::func::FuncOp function);

  /// Cuts factors finer until producers and users agree, except those of ops in
  /// `pinned`, which are cut as their sharding is; then finds which are the
  /// batch and the sequence, from the arguments' `graph.batch_dim` and
  /// `graph.sequence_dim`. Once, before axes are handed out.
  void refine(const llvm::DenseMap<unsigned, dist::Sharding> &pinned);

  /// Per op and factor.
  llvm::SmallVector<llvm::SmallVector<Tag, 8>, 0> tags;

  std::vector<ShardedOp> ops;
  /// Per op, its operand edges in order.
  llvm::SmallVector<llvm::SmallVector<Edge, 3>> operands;
  /// Per op and result, the edges that read it.
  llvm::SmallVector<llvm::SmallVector<llvm::SmallVector<Edge, 2>, 1>> users;

  mlir::Value valueOf(unsigned op, unsigned result) const;
  mlir::Value valueOf(const Edge &edge) const {
    return valueOf(edge.producer, edge.result);
  }
  bool isArgument(unsigned op) const { return op < numArguments; }
  bool isSink(unsigned op) const { return op >= ops.size() - numSinks; }
  /// The position of a sink among the function's results.
  unsigned sinkIndex(unsigned op) const { return op - (ops.size() - numSinks); }
  unsigned opOf(mlir::Value value) const { return producers.lookup(value); }

  mutable mlir::func::FuncOp
      function; ///< a handle: its accessors are not const

private:
  void addSource(mlir::Value argument);
  void addOp(mlir::Operation *op);
  void addSink(mlir::Value value);
  void connect(unsigned user, mlir::ValueRange operands);
  void tagBatchAndSequence();
  void addVertex(mlir::Operation *op, graph::ShardingRule rule,
                 unsigned numResults);

  unsigned numArguments = 0, numSinks = 0;
  llvm::DenseMap<mlir::Value, unsigned> producers;
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SHARDEDGRAPH_H
