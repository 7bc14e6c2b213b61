//===- FirstDifference.h - search for the first value that differs --------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H
#define PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H

#include "passes/interpret/compare/VerifiedValue.h"
#include "passes/interpret/elements/Inputs.h"

namespace pcc::interpret {

/// Returns the first op result, in the order of execution, that differs between
/// `whole`, the unpartitioned model, and the partitioned model `parts` (after
/// 6-schedule) on simulated ranks. Executes up to `numSteps` steps of both.
/// Returns a written parameter if only the parameter is wrong. Returns nullopt
/// if no value differs, if none can be told to be the first, or if a model
/// cannot be executed. `numSamples` is that of measureNoise(). Call it only
/// after an output differs, because it keeps the op results of a step in
/// memory.
std::optional<VerifiedValue> findFirstDifference(mlir::ModuleOp whole,
                                                 mlir::ModuleOp parts,
                                                 const Inputs &inputs,
                                                 graph::Numerics numerics,
                                                 int numSteps, int numSamples);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H
