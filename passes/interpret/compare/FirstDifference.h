//===- FirstDifference.h - search for the first value that differs --------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H
#define PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H

#include "passes/interpret/compare/VerifiedValue.h"
#include "passes/interpret/elements/Inputs.h"

namespace pcc::interpret {

/// Returns the first op result that differs between `whole`, the unpartitioned
/// model, and the partitioned model `parts` (after 6-schedule) on simulated
/// ranks. Returns nullopt if there is none, or if a model cannot be executed.
/// Call it only after an output differs, because it keeps all named op results
/// in memory.
std::optional<VerifiedValue> findFirstDifference(mlir::ModuleOp whole,
                                                 mlir::ModuleOp parts,
                                                 const Inputs &inputs,
                                                 graph::Numerics numerics);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H
