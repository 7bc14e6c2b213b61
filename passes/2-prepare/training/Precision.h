//===- Precision.h - attribute for the float type of computation ----------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_PRECISION_H
#define PCC_PASSES_2_PREPARE_TRAINING_PRECISION_H

#include "llvm/ADT/StringRef.h"

namespace pcc::prepare {

/// TypeAttr on the module, the value of `--precision`: the float type (f32,
/// bf16 or f16) in which contractions compute. Trained weights and their
/// optimizer states stay in f32 (mixed precision, Micikevicius et al. 2018).
/// Without the attribute the types of the model are kept.
inline constexpr llvm::StringLiteral precisionName = "graph.precision";

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_PRECISION_H
