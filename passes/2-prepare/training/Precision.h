//===- Precision.h - in which float type a model computes -----------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_PRECISION_H
#define PCC_PASSES_2_PREPARE_TRAINING_PRECISION_H

#include "llvm/ADT/StringRef.h"

namespace pcc::prepare {

/// On the module, a type: f32, bf16 or f16. Without it the model's own types
/// hold.
inline constexpr llvm::StringLiteral precisionName = "graph.precision";

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_PRECISION_H
