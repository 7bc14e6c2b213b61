//===- FirstDifference.h - search for the first value that differs --------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H
#define PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H

#include "passes/interpret/compare/VerifiedValue.h"
#include "passes/interpret/elements/Inputs.h"

namespace pcc::interpret {

/// Finds the first value that the simulated ranks compute differently from the
/// unpartitioned model, in the order in which the ranks compute. `whole` and
/// `parts` are the modules of Verification::simulate.
///
/// Values of both modules are paired by their names in the ONNX model. Values
/// without a name, partial sums and windowed reads are not compared. Returns
/// nullopt if all compared values are equal, so that only outputs differ.
///
/// Executes both modules again and keeps every named value of `whole` in
/// memory. It is therefore called only after an output has been found to
/// differ.
std::optional<VerifiedValue> findFirstDifference(mlir::ModuleOp whole,
                                                 mlir::ModuleOp parts,
                                                 const Inputs &inputs,
                                                 graph::Numerics numerics);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H
