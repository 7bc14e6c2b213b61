//===- OpClasses.h - kinds of the graph ops and facts about them ----------===//
//
// Traits that passes ask for instead of listing ops. Each graph op has exactly
// one kind, and the facts that its definition names (OpClasses.td, ops/*.td).
//
//===----------------------------------------------------------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPCLASSES_H
#define PCC_DIALECTS_GRAPH_OPCLASSES_H

#include "dialects/graph/ShardingRule.h"
#include "mlir/IR/OpDefinition.h"

namespace pcc::graph {

/// Returns the rule of an op that broadcasts its operands, as element-wise ops
/// do. Each result dim of more than one element is a Parallel factor. Operand
/// dims are matched with result dims from the right; operand dims of size 1
/// have no factor. No operand may be a partial sum (`partialThrough` is empty).
ShardingRule broadcastRule(mlir::Operation *op);

//===----------------------------------------------------------------------===//
// Kinds: from which operand elements an element of a result is computed.
// AttentionOpInterface is the kind of attention and its gradients.
//===----------------------------------------------------------------------===//

/// Declares a symbol of the module and computes nothing.
template <typename Op>
class IsDeclaration : public mlir::OpTrait::TraitBase<Op, IsDeclaration> {};

/// Computes from no operand: weights, constants, positions.
template <typename Op>
class IsSource : public mlir::OpTrait::TraitBase<Op, IsSource> {};

/// Computes each element of its one result from the operand elements at the
/// same index, after NumPy broadcasting. Gives ops without a rule of their own
/// the sharding rule of a broadcast.
template <typename Op>
class IsElementWise : public mlir::OpTrait::TraitBase<Op, IsElementWise> {
public:
  ShardingRule getShardingRule() { return broadcastRule(this->getOperation()); }
};

/// Copies operand elements to places that shapes and attributes determine: each
/// element of the result is an element of an operand, so the op computes
/// nothing and is linear. An op that adds other elements, as a pad does, is no
/// layout op.
template <typename Op>
class IsLayout : public mlir::OpTrait::TraitBase<Op, IsLayout> {};

/// Reads or writes elements in places that an operand of integers determines.
template <typename Op>
class IsIndexing : public mlir::OpTrait::TraitBase<Op, IsIndexing> {};

/// Computes each element from a few elements in places that shapes and
/// attributes determine, such as those around it.
template <typename Op>
class IsWindow : public mlir::OpTrait::TraitBase<Op, IsWindow> {};

/// Computes from all elements along some dims: reductions, norms, scans,
/// selections.
template <typename Op>
class IsRowWise : public mlir::OpTrait::TraitBase<Op, IsRowWise> {};

/// Sums products of elements of two or more operands, one of which is a weight
/// in most models.
template <typename Op>
class IsContraction : public mlir::OpTrait::TraitBase<Op, IsContraction> {};

/// Begins the update of a training step, or belongs to it.
template <typename Op>
class IsUpdate : public mlir::OpTrait::TraitBase<Op, IsUpdate> {};

//===----------------------------------------------------------------------===//
// Facts about elements
//===----------------------------------------------------------------------===//

/// Each element of the result is an element of operand 0, so a result is
/// uniform if operand 0 is. A concat has several such operands and lacks the
/// class.
template <typename Op>
class MovesElements : public mlir::OpTrait::TraitBase<Op, MovesElements> {};

/// The result has each element of its operand at most once, in places that
/// strides describe: no copy is needed to read it, and its gradient is a view,
/// too. A broadcast repeats elements and its gradient is a sum, so it is no
/// view.
template <typename Op>
class IsView : public mlir::OpTrait::TraitBase<Op, IsView> {};

/// The result is a view that has every element of its operand, so the op can be
/// undone.
template <typename Op>
class KeepsElements : public mlir::OpTrait::TraitBase<Op, KeepsElements> {};

/// The elements are in memory before the step begins, in no buffer of the op:
/// weights and constants.
template <typename Op>
class IsStored : public mlir::OpTrait::TraitBase<Op, IsStored> {};

//===----------------------------------------------------------------------===//
// Facts about numbers
//===----------------------------------------------------------------------===//

/// Sums of products are nearly all of the op's work: it is a contraction or an
/// attention. In mixed precision it computes in the type that the user asks
/// for.
template <typename Op>
class SumsProducts : public mlir::OpTrait::TraitBase<Op, SumsProducts> {};

/// One element of the result costs tens of instructions, as exp does. Fusion
/// avoids repeating the op.
template <typename Op>
class IsExpensive : public mlir::OpTrait::TraitBase<Op, IsExpensive> {};

/// The op amplifies relative errors, leaves the range of f16 or sums many terms
/// one after the other, so it must compute in f32 or wider. Ops that compute in
/// f32 internally, such as norms and softmax, lack the class. Reductions lack
/// it because their kind (sum, max, …) decides.
template <typename Op>
class LosesDigits : public mlir::OpTrait::TraitBase<Op, LosesDigits> {};

/// A result of floats is assumed to be finite whatever the operands are: the
/// function is bounded, or every model that works keeps the values finite, such
/// as weights, norms and products of matrices.
template <typename Op>
class GivesFinite : public mlir::OpTrait::TraitBase<Op, GivesFinite> {};

/// A result of floats is assumed to be finite if all operands of floats are.
template <typename Op>
class KeepsFinite : public mlir::OpTrait::TraitBase<Op, KeepsFinite> {};

//===----------------------------------------------------------------------===//
// Other facts
//===----------------------------------------------------------------------===//

/// Exporters also write the op as several ops, which `recognise-composites`
/// replaces by it.
template <typename Op>
class IsComposite : public mlir::OpTrait::TraitBase<Op, IsComposite> {};

/// Returns whether the result of `op` has only elements of its one operand, in
/// places that shapes and attributes determine: `op` is a layout op other than
/// a concat. It may repeat or drop elements.
inline bool laysOutOperand(mlir::Operation *op) {
  return op->hasTrait<IsLayout>() && op->hasTrait<MovesElements>();
}

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPCLASSES_H
