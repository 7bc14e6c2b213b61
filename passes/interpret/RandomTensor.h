//===- RandomTensor.h - stand-ins for weights and inputs ------------------===//

#ifndef PCC_PASSES_INTERPRET_RANDOMTENSOR_H
#define PCC_PASSES_INTERPRET_RANDOMTENSOR_H

#include "dialects/graph/meaning/HostTensor.h"

namespace pcc::interpret {

/// Floats uniform in [-0.1, 0.1), which f32 holds; integers and booleans in
/// [0, bound). The same seed gives the same elements on every machine.
graph::HostTensor randomTensor(mlir::RankedTensorType type, uint64_t seed,
                               int64_t bound = 2);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_RANDOMTENSOR_H
