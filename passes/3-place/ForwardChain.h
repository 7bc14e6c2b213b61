//===- ForwardChain.h - the ops of a model as a chain of work -------------===//

#ifndef PCC_PASSES_3_PLACE_FORWARDCHAIN_H
#define PCC_PASSES_3_PLACE_FORWARDCHAIN_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/plan/stage/StageCut.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace pcc::place {

/// The ops of a function in three classes: *links* of the forward pass, which
/// carry work and lie on exactly one stage, in program order; *followers*, the
/// backward pass and the update, whose stage follows from that of links; and
/// free ops, which are cheap to have on every stage that uses them: weights,
/// constants, and what is computed from inputs, constants and small weights
/// that do not train, without contractions.
class ForwardChain {
public:
  explicit ForwardChain(mlir::func::FuncOp function);

  llvm::ArrayRef<mlir::Operation *> links() const { return linkOps; }
  bool isFree(mlir::Operation *op) const {
    return !positions.contains(op) && !isFollower.contains(op);
  }
  /// In program order.
  llvm::ArrayRef<mlir::Operation *> followers() const { return followerOps; }
  /// The position of a link in the chain.
  size_t positionOf(mlir::Operation *op) const { return positions.lookup(op); }

  /// The question to the planner: work, weights and activations of the links,
  /// and bytes that cross each cut.
  plan::StageCutRequest request(int numStages) const;

  /// The first link at or behind the op that carries `name` or makes a value of
  /// that name; nothing if there is none.
  std::optional<size_t> findCut(llvm::StringRef name) const;

private:
  bool carriesWork(mlir::Operation *op) const;
  bool follows(mlir::Operation *op) const;
  bool trains(graph::GetParameterOp weight) const;

  mutable mlir::func::FuncOp
      function; ///< a handle: its accessors are not const
  llvm::SmallVector<mlir::Operation *> linkOps;
  llvm::DenseMap<mlir::Operation *, size_t> positions;
  llvm::SmallVector<mlir::Operation *> followerOps;
  llvm::DenseSet<mlir::Operation *> isFollower;
};

} // namespace pcc::place

#endif // PCC_PASSES_3_PLACE_FORWARDCHAIN_H
