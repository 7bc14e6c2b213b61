//===- ForwardChain.h - forward ops as a chain to cut into stages ---------===//

#ifndef PCC_PASSES_3_PLACE_FORWARDCHAIN_H
#define PCC_PASSES_3_PLACE_FORWARDCHAIN_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/plan/stage/StageCut.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace pcc::place {

/// Divides the ops of a function into three classes, which decide how an op
/// gets its pipeline stage:
///
///   class       ops                          stage
///   links       forward ops with much work   exactly one
///   followers   backward pass and update     follows from the links
///   free ops    cheap forward ops: masks,    each stage that reads the result
///               transposes of weights        gets a clone
class ForwardChain {
public:
  /// Rule that decides which forward ops are links. A link is a forward op that
  /// exactly one pipeline stage runs. A forward op that is not a link is cheap,
  /// and is cloned onto each stage that uses its result.
  enum class Links {
    /// Rule: the links are contractions, such as a matmul, and forward ops that
    /// read a trained weight, a weight of more than 4096 elements, or the
    /// result of a link. A link is a forward op that exactly one pipeline stage
    /// runs. Transposes, reshapes, slices and casts of a weight are no links.
    WithWork,
    /// Rule: the links are the links of the rule WithWork, and also all forward
    /// ops that depend on an input of the model. A link is a forward op that
    /// exactly one pipeline stage runs. For example, let x be an input of the
    /// model. The op relu(x) is a link by this rule. It is not a link by the
    /// rule WithWork, because it reads no weight and no result of a link, and
    /// is not a contraction such as a matmul.
    OfInputs,
  };

  /// Classifies the ops of `function`. While this object is in use, `function`
  /// may change in two ways only: attributes may be set, and free ops (cheap
  /// ops, such as masks) may be cloned.
  ForwardChain(mlir::func::FuncOp function, Links kind);

  /// Returns the links (forward ops that only one stage runs) in program order.
  llvm::ArrayRef<mlir::Operation *> links() const { return linkOps; }
  /// Returns whether `op` is a free op, such as a mask or a constant. Each
  /// stage that uses a free op gets a clone of it.
  bool isFree(mlir::Operation *op) const {
    return !positions.contains(op) && !isFollower.contains(op);
  }
  /// Returns the followers (ops of the backward pass and the update) in program
  /// order.
  llvm::ArrayRef<mlir::Operation *> followers() const { return followerOps; }
  /// Returns the index of `op` in the list links(). `op` must be a link. A link
  /// is a forward op that only one stage runs. The list contains all links in
  /// program order, so the first link has the index 0.
  size_t positionOf(mlir::Operation *op) const { return positions.lookup(op); }

  /// Returns the input of the stage planner, which cuts the list of links
  /// (forward ops that only one stage runs) into `numStages` consecutive
  /// stages. The unit of time is one floating-point operation.
  plan::StageCutRequest request(int numStages) const;

  /// Returns the first link (forward op that only one stage runs) at or after
  /// `name`, the name of a node, a value or an output. A stage begins at this
  /// link if the user cuts the model before `name`. The result is an index into
  /// links(). It is links().size() if there is no link at or after `name`. A
  /// constant counts only if nothing else has the name.
  /// Returns std::nullopt if no node and no value has the name.
  std::optional<size_t> findCut(llvm::StringRef name) const;
  /// Returns whether there is a link before and a link after each of the cuts
  /// that `names` (--stage-at) asks for. `names` may be null.
  bool hasLinksAround(mlir::ArrayAttr names) const;
  /// Returns all names that findCut() knows. A name may occur several times.
  std::vector<std::string> cutNames() const;

private:
  /// Returns whether `op`, a forward op, is a link, which only one stage runs.
  /// The ops that compute its operands must be classified before `op`.
  bool carriesWork(mlir::Operation *op) const;
  /// Returns whether `op` is a follower. A follower is an op of the backward
  /// pass or of the weight update. An op that reads the result of a follower is
  /// also a follower. The function looks up in `isFollower` whether the ops
  /// that compute the operands of `op` are followers. Therefore the constructor
  /// calls the function for these ops first.
  bool follows(mlir::Operation *op) const;
  mlir::Operation *makerOfOutput(llvm::StringRef name) const;
  /// Returns whether training updates `weight`.
  bool trains(graph::GetParameterOp weight) const;

  mutable mlir::func::FuncOp
      function; ///< mutable because accessors of this handle are not const
  Links kind;
  /// Symbol table of the module that contains `function`. It finds the
  /// declaration (`graph.parameter`) of a weight by the name of the weight.
  mlir::SymbolTable parameters;
  llvm::SmallVector<mlir::Operation *> linkOps;
  /// Maps each link to its index in the list `linkOps`. A link is a forward op
  /// that only one stage runs. `linkOps` contains all links in program order.
  llvm::DenseMap<mlir::Operation *, size_t> positions;
  llvm::SmallVector<mlir::Operation *> followerOps;
  llvm::DenseSet<mlir::Operation *> isFollower;
};

} // namespace pcc::place

#endif // PCC_PASSES_3_PLACE_FORWARDCHAIN_H
