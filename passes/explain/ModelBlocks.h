//===- ModelBlocks.h - repeated parts of a model, such as its layers ------===//

#ifndef PCC_PASSES_EXPLAIN_MODELBLOCKS_H
#define PCC_PASSES_EXPLAIN_MODELBLOCKS_H

#include "passes/7-emit/bundle/CollectiveFacts.h"

namespace pcc::explain {

/// Blocks of a model, such as the layers of a transformer. The names of weights
/// define the blocks: all weights whose names begin with "h.3." belong to the
/// block "h.3". If no weight has such a name, the names of the ONNX nodes
/// define the blocks in the same way. An op belongs to the last block from
/// which it reads a weight or a value. Ops before the first block and after the
/// last one, such as an embedding, belong to no block.
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
  /// Returns the number of the block in the name `text` of a weight or an ONNX
  /// node. For example, "h.3.ln.weight" contains the name of block "h.3". Gives
  /// the block a new number if its name is new. Returns -1 if `text` contains
  /// no block.
  int numberOf(llvm::StringRef text);
  /// Returns the last block of the model, such as a transformer layer, on which
  /// `op` depends, as its number; -1 if there is none. The op depends on the
  /// blocks of the ops that compute its operands, and on the blocks of the
  /// weights that it reads: weight "h.3.ln.weight" is in block "h.3". If
  /// `readsNodes` is true, the name of its ONNX node, and not of its weights,
  /// tells the block.
  int latestBlock(mlir::Operation &op);

  /// Returns whether a name of `op` itself contains a block: the name of a
  /// weight that `op` reads, or, if `readsNodes` is true, the name of its ONNX
  /// node.
  bool namesBlock(mlir::Operation &op) const;
  /// Returns whether block number `block` seems to be read completely: so far,
  /// at least as many ops were read of it as of the block before it. Always
  /// true for the first block.
  bool isComplete(int block) const;
  void addOp(mlir::Operation &op, int block);

  std::vector<std::string> blockNames;
  /// For each block, the number of its ops that were read so far.
  std::vector<int> numOps;
  llvm::StringMap<int> numbers;
  llvm::StringMap<int> numberOfNode;
  llvm::DenseMap<mlir::Operation *, int> numberOfOp;
  /// Whether the blocks are found by the names of ONNX nodes. If false, the
  /// blocks are found by the names of weights.
  bool readsNodes = false;
  /// Largest number of a block to which an op that was read so far belongs; -1
  /// if there is none. An op that receives a value from another pipeline stage
  /// is counted as an op of this block.
  int reached = -1;
};

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_MODELBLOCKS_H
