//===- ForwardChain.h - forward ops as a chain to cut into stages ---------===//

#ifndef PCC_PASSES_3_PLACE_FORWARDCHAIN_H
#define PCC_PASSES_3_PLACE_FORWARDCHAIN_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/plan/stage/StageCut.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace pcc::place {

/// Divides the ops of a function into three classes, by the way in which they
/// get their pipeline stage:
///
///   links      forward ops that carry work: contractions, and all ops that
///              depend on a link, on a trained weight, or on a weight of more
///              than 4096 elements. Each link lies on exactly one stage. The
///              links in program order form the chain that is cut into stages.
///   followers  ops of the backward pass and of the update. Their stages follow
///              from the stages of links.
///   free ops   all other ops: weights and their views, constants, and cheap
///              ops on inputs, constants and small weights, such as masks.
///              Every stage that uses a free op gets a clone of it.
///
/// An example from a forward pass:
///
///   %w = get_parameter @w    free
///   %i = iota                free
///   %m = less %i, %n         free, a mask
///   %y = matmul %x, %w       link 0
///   %z = select %m, %y, %0   link 1, as it depends on link 0
class ForwardChain {
public:
  /// Classifies the ops of `function`. While the object is in use, the function
  /// may only be changed by setting attributes and by cloning free ops (ops
  /// that are cloned onto each stage that uses them).
  explicit ForwardChain(mlir::func::FuncOp function);

  /// Returns the links (forward ops that carry work) in program order.
  llvm::ArrayRef<mlir::Operation *> links() const { return linkOps; }
  /// Returns whether `op` is a free op, which is cloned onto each stage that
  /// uses it. A free op is neither a link (forward op that lies on one stage)
  /// nor an op of the backward pass or the update.
  bool isFree(mlir::Operation *op) const {
    return !positions.contains(op) && !isFollower.contains(op);
  }
  /// Returns the followers (ops of the backward pass and the update) in program
  /// order.
  llvm::ArrayRef<mlir::Operation *> followers() const { return followerOps; }
  /// Returns the index in links() of `op`, which must be a link (forward op
  /// that lies on one stage).
  size_t positionOf(mlir::Operation *op) const { return positions.lookup(op); }

  /// Returns the input of the planner that cuts the model into `numStages`
  /// stages. The input has one work item per link (forward op that lies on one
  /// stage). An item holds the link's time, in units of the time of one flop,
  /// and its bytes of weights and of activations. The input also lists, for
  /// each link, the bytes to be sent if a stage ends after the link.
  plan::StageCutRequest request(int numStages) const;

  /// Returns the index of the link (forward op that lies on one stage) at which
  /// a stage begins if the user cuts the model before `name`, a node or value.
  /// If the op with that name is no link, the stage begins at the next link.
  /// Returns std::nullopt if no op has the name or if no link follows.
  std::optional<size_t> findCut(llvm::StringRef name) const;

private:
  /// Returns whether `op` is a link, a forward op that lies on one stage. `op`
  /// must not be a backward or update op, and all ops before it must have been
  /// classified.
  bool carriesWork(mlir::Operation *op) const;
  /// Returns whether `op` is a follower, an op of the backward pass or the
  /// update. All ops before it must have been classified.
  bool follows(mlir::Operation *op) const;
  /// Returns whether training updates `weight`.
  bool trains(graph::GetParameterOp weight) const;

  mutable mlir::func::FuncOp
      function; ///< mutable because accessors of this handle are not const
  /// Symbols of the module of `function`.
  mlir::SymbolTable parameters;
  llvm::SmallVector<mlir::Operation *> linkOps;
  /// For each link (op that lies on one stage), its index in `linkOps`.
  llvm::DenseMap<mlir::Operation *, size_t> positions;
  llvm::SmallVector<mlir::Operation *> followerOps;
  llvm::DenseSet<mlir::Operation *> isFollower;
};

} // namespace pcc::place

#endif // PCC_PASSES_3_PLACE_FORWARDCHAIN_H
