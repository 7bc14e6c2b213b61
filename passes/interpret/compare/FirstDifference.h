//===- FirstDifference.h - search for the first value that differs --------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H
#define PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H

#include "passes/interpret/compare/VerifiedValue.h"
#include "passes/interpret/elements/Inputs.h"

namespace pcc::interpret {

/// Finds the first value that simulated ranks compute differently from the
/// unpartitioned model, in the order of execution. `whole` is the unpartitioned
/// module, `parts` the module after phase 6-schedule. Returns nullopt if no
/// such value is found.
///
/// Compares values with equal names in the ONNX model. Skips partial sums and
/// windowed reads (such as halo exchanges).
///
/// Keeps all named values of `whole` in memory, so call it only if an output
/// differs.
std::optional<VerifiedValue> findFirstDifference(mlir::ModuleOp whole,
                                                 mlir::ModuleOp parts,
                                                 const Inputs &inputs,
                                                 graph::Numerics numerics);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H
