//===- FirstDifference.h - search for the first value that differs --------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H
#define PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H

#include "passes/interpret/compare/VerifiedValue.h"
#include "passes/interpret/elements/Inputs.h"

namespace pcc::interpret {

/// Executes the unpartitioned model `whole`, and the partitioned model `parts`
/// on simulated ranks. Returns the first op result, in the order of execution,
/// that differs between them. `parts` must be a module after phase 6-schedule.
/// Returns nullopt if no result differs or if a model cannot be executed.
/// Compares only op results that have a name in the ONNX model. Skips partial
/// sums, and tensors that are not exactly shards, such as tensors after a halo
/// exchange. Keeps all named op results of `whole` in memory, so call the
/// function only after a model output has been found to differ.
std::optional<VerifiedValue> findFirstDifference(mlir::ModuleOp whole,
                                                 mlir::ModuleOp parts,
                                                 const Inputs &inputs,
                                                 graph::Numerics numerics);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H
