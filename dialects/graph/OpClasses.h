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

/// Returns the sharding rule of an op that broadcasts its operands, as
/// element-wise ops do. A factor is a loop index of the op that a sharding may
/// split. Each result dim of more than one element is a Parallel factor: ranks
/// can split it without communication. Operand dims are matched with result
/// dims from the right; operand dims of size 1 have no factor. No operand may
/// be a partial sum.
ShardingRule broadcastRule(mlir::Operation *op);

//===----------------------------------------------------------------------===//
// Kinds: from which operand elements an element of a result is computed.
// AttentionOpInterface is the kind of attention and its gradients.
//===----------------------------------------------------------------------===//

/// Class of ops that declare a symbol of the module, such as a weight, and
/// compute nothing.
template <typename Op>
class IsDeclaration : public mlir::OpTrait::TraitBase<Op, IsDeclaration> {};

/// Class of ops without operands, such as weights, constants and iotas.
template <typename Op>
class IsSource : public mlir::OpTrait::TraitBase<Op, IsSource> {};

/// Class of ops with one result, each element of which is computed from the
/// operand elements at the same index, after NumPy broadcasting. The class
/// defines a sharding rule; an op can define its own rule instead.
template <typename Op>
class IsElementWise : public mlir::OpTrait::TraitBase<Op, IsElementWise> {
public:
  ShardingRule getShardingRule() { return broadcastRule(this->getOperation()); }
};

/// Class of ops that only copy elements. Shapes and attributes determine which
/// element of an operand each element of the result is. The op therefore
/// computes nothing and is linear. A pad does not belong to this class, because
/// it adds elements that are not in its operand.
template <typename Op>
class IsLayout : public mlir::OpTrait::TraitBase<Op, IsLayout> {};

/// Class of ops that read or write elements at indices which an integer operand
/// holds, such as gather and scatter.
template <typename Op>
class IsIndexing : public mlir::OpTrait::TraitBase<Op, IsIndexing> {};

/// Class of ops that compute each element from a few operand elements. Shapes
/// and attributes determine the indices of these elements. For example, a pool
/// reads the elements around a given one.
template <typename Op>
class IsWindow : public mlir::OpTrait::TraitBase<Op, IsWindow> {};

/// Class of ops that combine all elements along some dims: reductions, norms,
/// scans such as cumsum, and selections such as topk.
template <typename Op>
class IsRowWise : public mlir::OpTrait::TraitBase<Op, IsRowWise> {};

/// Class of ops that sum products of elements of two or more operands, such as
/// matmul and convolution. In most models, one operand is a weight.
template <typename Op>
class IsContraction : public mlir::OpTrait::TraitBase<Op, IsContraction> {};

/// Class of ops that begin the update (of the weights) in a training step, or
/// are part of it.
template <typename Op>
class IsUpdate : public mlir::OpTrait::TraitBase<Op, IsUpdate> {};

//===----------------------------------------------------------------------===//
// Facts about elements
//===----------------------------------------------------------------------===//

/// Class of ops whose result has only elements of operand 0. If all elements of
/// operand 0 are equal, all elements of the result are equal, too. A concat
/// does not belong to this class, because it has elements of several operands.
template <typename Op>
class MovesElements : public mlir::OpTrait::TraitBase<Op, MovesElements> {};

/// Class of ops whose result is a strided view of the operand: each element of
/// the operand is in the result at most once, at indices that strides describe.
/// Readers of the result need no copy. The gradient of such an op is also a
/// view. A broadcast does not belong to this class, because it repeats
/// elements.
template <typename Op>
class IsView : public mlir::OpTrait::TraitBase<Op, IsView> {};

/// Class of ops whose result is a strided view with every element of the
/// operand, such as a transpose. Another view can restore the operand from the
/// result.
template <typename Op>
class KeepsElements : public mlir::OpTrait::TraitBase<Op, KeepsElements> {};

/// Class of ops whose result is in memory before the step begins, so that the
/// step needs no buffer for it: weights and constants.
template <typename Op>
class IsStored : public mlir::OpTrait::TraitBase<Op, IsStored> {};

//===----------------------------------------------------------------------===//
// Facts about numbers
//===----------------------------------------------------------------------===//

/// Class of ops whose cost is mostly sums of products: contractions and
/// attention. In mixed precision, such an op computes in the element type that
/// the user requests.
template <typename Op>
class SumsProducts : public mlir::OpTrait::TraitBase<Op, SumsProducts> {};

/// Class of ops that need tens of instructions per element of the result, such
/// as exp. Fusion avoids computing such an op again for each of its readers.
template <typename Op>
class IsExpensive : public mlir::OpTrait::TraitBase<Op, IsExpensive> {};

/// Class of ops that must compute in f32 or a wider type, because they amplify
/// relative errors, exceed the range of f16, or add many terms in sequence.
/// Norms and softmax do not belong to this class, because they compute in f32
/// internally. Reductions do not belong to it, because only some kinds (sum,
/// max, …) need f32.
template <typename Op>
class LosesDigits : public mlir::OpTrait::TraitBase<Op, LosesDigits> {};

/// Class of ops whose float results are assumed to be finite, whatever the
/// operands are. Either the function is bounded, or every usable model keeps
/// the values finite, such as weights, norms and products of matrices.
template <typename Op>
class GivesFinite : public mlir::OpTrait::TraitBase<Op, GivesFinite> {};

/// Class of ops whose float results are assumed to be finite if all their float
/// operands are finite.
template <typename Op>
class KeepsFinite : public mlir::OpTrait::TraitBase<Op, KeepsFinite> {};

//===----------------------------------------------------------------------===//
// Other facts
//===----------------------------------------------------------------------===//

/// Class of ops that ONNX exporters may also write as several smaller ops. The
/// pass `recognise-composites` replaces the smaller ops by one op of this
/// class.
template <typename Op>
class IsComposite : public mlir::OpTrait::TraitBase<Op, IsComposite> {};

/// Returns whether the result of `op` has only elements of its one operand, at
/// indices that shapes and attributes determine. This holds for every layout op
/// except concat, which has several operands. The op may repeat or drop
/// elements.
inline bool laysOutOperand(mlir::Operation *op) {
  return op->hasTrait<IsLayout>() && op->hasTrait<MovesElements>();
}

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPCLASSES_H
