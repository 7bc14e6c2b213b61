//===- RankTensors.h - tensors of one value on all ranks ------------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_RANKTENSORS_H
#define PCC_PASSES_INTERPRET_SIMULATE_RANKTENSORS_H

#include "dialects/graph/reference/HostTensor.h"
#include <memory>

namespace pcc::interpret {

/// An immutable tensor, which several ranks and several values may share.
using TensorPointer = std::shared_ptr<const graph::HostTensor>;

/// The tensors of one value, such as an op result, on all ranks. Entry r points
/// to the tensor of rank r. If several ranks have equal tensors, their entries
/// can point to one tensor object. An op that reads this tensor object on
/// several ranks needs to be evaluated only once. For example, an op whose only
/// operand is a replicated weight is evaluated once for all ranks.
struct RankTensors : std::vector<TensorPointer> {
  using vector::vector;
  /// Whether the value is a constant, or can be folded to one by the compiler.
  /// A value stays so when another stage or another action reads it.
  bool isFolded = false;
};

/// Converts tensors, one per rank, to RankTensors. Ranks whose tensors have
/// equal shapes and bitwise equal elements share one tensor object.
RankTensors shareEqual(std::vector<graph::HostTensor> tensors);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_RANKTENSORS_H
