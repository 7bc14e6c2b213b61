//===- FirstDifference.h - search for the first value that differs --------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H
#define PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H

#include "passes/interpret/compare/VerifiedValue.h"
#include "passes/interpret/elements/Inputs.h"

namespace pcc::interpret {

/// Finds the first value, in the order of execution, that the simulated ranks
/// compute differently from the unpartitioned model. `whole` is the
/// unpartitioned module. `parts` is the partitioned module after phase
/// 6-schedule.
///
/// Values of the two modules are compared if they have the same name in the
/// ONNX model. Values without a name, partial sums and windowed reads (halo
/// exchanges) are not compared. Returns nullopt if all compared values are
/// equal, so that only outputs differ.
///
/// Executes both modules and keeps every named value of `whole` in memory.
/// Therefore it should only be called after an output has been found to differ.
std::optional<VerifiedValue> findFirstDifference(mlir::ModuleOp whole,
                                                 mlir::ModuleOp parts,
                                                 const Inputs &inputs,
                                                 graph::Numerics numerics);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H
