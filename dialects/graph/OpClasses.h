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

/// Returns the sharding rule of an op with NumPy broadcasting, such as `add`.
/// Each result dim larger than 1 has one Parallel factor (a loop index of the
/// op). For example, [8,1] + [4] -> [8,4] has the factors {{a},{}} + {{b}} ->
/// {{a},{b}}. No operand may be a partial sum (one summand per rank).
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

/// Class of element-wise ops with one result and NumPy broadcasting. The class
/// defines a sharding rule, but an op can define its own rule instead.
template <typename Op>
class IsElementWise : public mlir::OpTrait::TraitBase<Op, IsElementWise> {
public:
  ShardingRule getShardingRule() { return broadcastRule(this->getOperation()); }
};

/// Class of ops that only copy elements of their operands, such as transpose,
/// slice and concat. The shapes and attributes of the op determine which
/// element of the result is a copy of which operand element. Each op of the
/// class is linear: slice(x + y) = slice(x) + slice(y). A pad is not in the
/// class, because its result has elements that are not in the operand.
template <typename Op>
class IsLayout : public mlir::OpTrait::TraitBase<Op, IsLayout> {};

/// Class of ops that read or write elements at indices from an integer operand,
/// such as gather and scatter.
template <typename Op>
class IsIndexing : public mlir::OpTrait::TraitBase<Op, IsIndexing> {};

/// Class of ops whose result elements depend on a few operand elements each, at
/// indices known at compile time. For example, a pool reads one window per
/// element.
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

/// Class of the two ops that update weights once per training step, after all
/// microbatches. `accumulate` combines one value per microbatch, such as a
/// gradient. `set_parameter` stores a weight or a state of the optimizer.
template <typename Op>
class IsUpdate : public mlir::OpTrait::TraitBase<Op, IsUpdate> {};

//===----------------------------------------------------------------------===//
// Facts about elements
//===----------------------------------------------------------------------===//

/// Class of ops whose result contains only elements of operand 0, such as
/// transpose and gather. If all elements of operand 0 are equal, then all
/// elements of the result are equal, too. A concat is not in the class, because
/// its result also contains elements of the other operands.
template <typename Op>
class MovesElements : public mlir::OpTrait::TraitBase<Op, MovesElements> {};

/// Class of ops whose result is a strided view of the operand: transpose,
/// reshape and slice. No copy is needed to read the result. A broadcast is
/// excluded, because it repeats elements.
template <typename Op>
class IsView : public mlir::OpTrait::TraitBase<Op, IsView> {};

/// Class of ops whose result is a strided view of all elements of the operand,
/// such as a transpose. The inverse view restores the operand from the result.
template <typename Op>
class KeepsElements : public mlir::OpTrait::TraitBase<Op, KeepsElements> {};

/// Class of ops whose result is in memory before the compiled function runs,
/// such as weights and constants. The function needs no buffer for the result.
template <typename Op>
class IsStored : public mlir::OpTrait::TraitBase<Op, IsStored> {};

//===----------------------------------------------------------------------===//
// Facts about numbers
//===----------------------------------------------------------------------===//

/// Class of ops whose cost is mostly sums of products: contractions and
/// attention. In mixed precision, they compute in the element type that the
/// user gives by --dtype.
template <typename Op>
class SumsProducts : public mlir::OpTrait::TraitBase<Op, SumsProducts> {};

/// Class of element-wise ops that execute tens of machine instructions per
/// element, such as exp. Fusion avoids kernels that compute the same element of
/// such an op several times. Fusion permits such kernels for cheap ops, such as
/// add.
template <typename Op>
class IsExpensive : public mlir::OpTrait::TraitBase<Op, IsExpensive> {};

/// Class of ops that must compute in f32 or a wider type to stay accurate or in
/// range, such as exp, sqrt and cumsum. Norms and softmax are not in the class,
/// because they compute in f32 internally. The op `reduce` is not in the class,
/// because only some of its kinds need f32.
template <typename Op>
class LosesDigits : public mlir::OpTrait::TraitBase<Op, LosesDigits> {};

/// Class of ops whose float results are assumed to be finite for all operands.
/// There are two reasons for which an op can be in the class:
///
///  - The op computes a bounded function. Examples are `tanh` and `softmax`.
///  - The results of the op are finite in every usable model. Examples are
///    `matmul`, and `get_parameter`, which reads the elements of a weight.
template <typename Op>
class GivesFinite : public mlir::OpTrait::TraitBase<Op, GivesFinite> {};

/// Class of ops whose float results are assumed to be finite if all their float
/// operands are finite.
template <typename Op>
class KeepsFinite : public mlir::OpTrait::TraitBase<Op, KeepsFinite> {};

//===----------------------------------------------------------------------===//
// Other facts
//===----------------------------------------------------------------------===//

/// Class of ops that some ONNX exporters write as several smaller ops. The pass
/// `recognise-composites` replaces these smaller ops by one op of this class.
template <typename Op>
class IsComposite : public mlir::OpTrait::TraitBase<Op, IsComposite> {};

/// Returns whether `op` has one operand and only copies elements of it, such as
/// transpose, broadcast and slice. A concat is excluded, because it has several
/// operands.
inline bool laysOutOperand(mlir::Operation *op) {
  return op->hasTrait<IsLayout>() && op->hasTrait<MovesElements>();
}

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPCLASSES_H
