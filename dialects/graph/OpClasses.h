//===- OpClasses.h - kinds of the graph ops and facts about them ----------===//
//
// Traits by which passes classify ops, so that passes need no lists of ops.
// Each graph op has exactly one kind. In addition, its definition may name
// facts (OpClasses.td, ops/*.td).
//
//===----------------------------------------------------------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPCLASSES_H
#define PCC_DIALECTS_GRAPH_OPCLASSES_H

#include "dialects/graph/ShardingRule.h"
#include "mlir/IR/OpDefinition.h"

namespace pcc::graph {

/// Returns the sharding rule of an op that broadcasts its operands, as
/// element-wise ops do. Operand dims match result dims from the right, as in
/// NumPy.
///
///  - A result dim is one Parallel factor (a loop index that ranks can split
///    without communication). A dim of size 1 has no factor.
///  - An operand dim has the factor of its result dim, or no factor if the size
///    of the operand dim is 1.
///  - No operand may be a partial sum.
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

/// Class of ops that only copy elements of their operands. The shapes and
/// attributes of the op alone say where each element goes. The op therefore
/// computes nothing and is linear. A pad does not belong to this class, because
/// it adds new elements.
template <typename Op>
class IsLayout : public mlir::OpTrait::TraitBase<Op, IsLayout> {};

/// Class of ops that read or write elements at indices from an integer operand,
/// such as gather and scatter.
template <typename Op>
class IsIndexing : public mlir::OpTrait::TraitBase<Op, IsIndexing> {};

/// Class of ops that compute each element of the result from a few operand
/// elements at indices that shapes and attributes determine. For example, a
/// pool computes each element from the operand elements in one window.
template <typename Op>
class IsWindow : public mlir::OpTrait::TraitBase<Op, IsWindow> {};

/// Class of ops that combine all elements along some dims: reductions, norms,
/// scans such as cumsum, and topk.
template <typename Op>
class IsRowWise : public mlir::OpTrait::TraitBase<Op, IsRowWise> {};

/// Class of ops that sum products of elements of two or more operands, such as
/// matmul and convolution. In most models, one operand is a weight.
template <typename Op>
class IsContraction : public mlir::OpTrait::TraitBase<Op, IsContraction> {};

/// Class of the two ops that separate the weight update from the microbatches
/// of a training step. accumulate sums a value over all microbatches, and
/// set_parameter stores the updated weight.
template <typename Op>
class IsUpdate : public mlir::OpTrait::TraitBase<Op, IsUpdate> {};

//===----------------------------------------------------------------------===//
// Facts about elements
//===----------------------------------------------------------------------===//

/// Class of ops whose result contains only elements of operand 0. If operand 0
/// is a splat, the result is therefore a splat, too. A concat does not belong
/// to this class, because its result contains elements of several operands.
template <typename Op>
class MovesElements : public mlir::OpTrait::TraitBase<Op, MovesElements> {};

/// Class of ops whose result is a strided view of the operand: transpose,
/// reshape and slice. The result can be read from the operand's memory without
/// a copy. A broadcast does not belong to this class, because it repeats
/// elements.
template <typename Op>
class IsView : public mlir::OpTrait::TraitBase<Op, IsView> {};

/// Class of ops whose result is a strided view of the operand that contains
/// every element of the operand, such as a transpose. The inverse view restores
/// the operand from the result.
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
/// as exp. If several ops read the result, fusion computes it once and does not
/// repeat the op for each reader.
template <typename Op>
class IsExpensive : public mlir::OpTrait::TraitBase<Op, IsExpensive> {};

/// Class of ops that must compute in f32 or a wider type: exp, sqrt and cumsum,
/// for example. An op of this class has at least one of these properties:
///
///  - It amplifies relative errors.
///  - Its result may exceed the range of f16.
///  - It adds many terms in sequence.
///
/// Norms, softmax and reductions do not belong to this class. Norms and softmax
/// compute in f32 internally, and some reductions (max, min) do not need f32.
template <typename Op>
class LosesDigits : public mlir::OpTrait::TraitBase<Op, LosesDigits> {};

/// Class of ops whose float results are assumed to be finite, whatever the
/// operands are. Some of these ops compute bounded functions. For others, such
/// as weights, norms and matrix products, every usable model keeps the values
/// finite.
template <typename Op>
class GivesFinite : public mlir::OpTrait::TraitBase<Op, GivesFinite> {};

/// Class of ops whose float results are assumed to be finite if all their float
/// operands are finite.
template <typename Op>
class KeepsFinite : public mlir::OpTrait::TraitBase<Op, KeepsFinite> {};

//===----------------------------------------------------------------------===//
// Other facts
//===----------------------------------------------------------------------===//

/// Class of ops for which some ONNX exporters write several smaller ops
/// instead. The pass `recognise-composites` replaces these smaller ops by one
/// op of this class.
template <typename Op>
class IsComposite : public mlir::OpTrait::TraitBase<Op, IsComposite> {};

/// Returns whether the result of `op` contains only elements of its single
/// operand, at indices that shapes and attributes determine. The op may repeat
/// or drop elements. The function returns true for every layout op except
/// concat, which has several operands.
inline bool laysOutOperand(mlir::Operation *op) {
  return op->hasTrait<IsLayout>() && op->hasTrait<MovesElements>();
}

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPCLASSES_H
