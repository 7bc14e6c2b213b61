//===- RankTensors.h - one value on every simulated rank ------------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_RANKTENSORS_H
#define PCC_PASSES_INTERPRET_SIMULATE_RANKTENSORS_H

#include "dialects/graph/reference/HostTensor.h"
#include <memory>

namespace pcc::interpret {

using TensorPointer = std::shared_ptr<const graph::HostTensor>;

/// What each rank holds of one value. Ranks with equal elements share one
/// tensor, so that what is computed from it is computed once.
using RankTensors = std::vector<TensorPointer>;

/// Shares tensors whose elements have the same bits.
RankTensors shareEqual(std::vector<graph::HostTensor> tensors);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_RANKTENSORS_H
