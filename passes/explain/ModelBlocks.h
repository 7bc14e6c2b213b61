//===- ModelBlocks.h - repeated parts of a model, such as its layers ------===//

#ifndef PCC_PASSES_EXPLAIN_MODELBLOCKS_H
#define PCC_PASSES_EXPLAIN_MODELBLOCKS_H

#include "passes/7-emit/bundle/CollectiveFacts.h"

namespace pcc::explain {

/// Blocks of a model, such as the layers of a transformer. A block is told by
/// the names of its weights: all that begin with `h.3.` belong to the block
/// `h.3`. If no weight has such a name, the names of nodes are taken. An op
/// without a name of its own belongs to the latest block that it reads from.
/// Ops before the first block and after the last one, such as an embedding,
/// belong to no block.
class ModelBlocks {
public:
  /// Reads the forward functions of `facts`.
  explicit ModelBlocks(const emit::ModelFacts &facts);

  /// Names of the blocks, in the order of the program.
  const std::vector<std::string> &names() const { return blockNames; }
  /// Returns the block of an ONNX node of the forward or backward pass; empty
  /// if the node belongs to none.
  llvm::StringRef blockOf(llvm::StringRef node) const;
  /// Returns the number of the block of an op of a forward function; -1 if the
  /// op belongs to none.
  int numberOf(mlir::Operation *op) const;

private:
  void addStage(mlir::func::FuncOp forward, bool isLast);
  /// Returns the number of the block that `text`, the name of a weight or node,
  /// tells; -1 if it tells none.
  int numberOf(llvm::StringRef text);
  /// Returns the latest block of the operands of `op` and of its own name.
  int latestBlock(mlir::Operation &op);

  /// Returns whether `op` tells its block itself, by a weight or by its name.
  bool namesBlock(mlir::Operation &op) const;
  /// Returns whether `block` has as many ops as the block before it.
  bool isComplete(int block) const;
  void addOp(mlir::Operation &op, int block);

  std::vector<std::string> blockNames;
  /// Number of ops of each block that were read so far.
  std::vector<int> numOps;
  llvm::StringMap<int> numbers;
  llvm::StringMap<int> numberOfNode;
  llvm::DenseMap<mlir::Operation *, int> numberOfOp;
  /// Whether names of nodes tell the blocks, not names of weights.
  bool readsNodes = false;
  /// Latest block of the stages that were read so far.
  int reached = -1;
};

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_MODELBLOCKS_H
