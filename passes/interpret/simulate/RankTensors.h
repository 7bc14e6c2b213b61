//===- RankTensors.h - tensors of one value on all ranks ------------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_RANKTENSORS_H
#define PCC_PASSES_INTERPRET_SIMULATE_RANKTENSORS_H

#include "dialects/graph/reference/HostTensor.h"
#include <memory>

namespace pcc::interpret {

/// An immutable tensor, which several ranks and values may share.
using TensorPointer = std::shared_ptr<const graph::HostTensor>;

/// The tensors of one value, by rank. Ranks with equal elements share one
/// tensor. An op is evaluated once for all ranks that share its operands, so
/// replicated computation costs no more than one rank's.
using RankTensors = std::vector<TensorPointer>;

/// Returns `tensors`, one per rank, with one shared tensor for ranks whose
/// shapes and elements are bitwise equal.
RankTensors shareEqual(std::vector<graph::HostTensor> tensors);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_RANKTENSORS_H
