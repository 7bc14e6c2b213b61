//===- FirstDifference.h - where the ranks leave the model ----------------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H
#define PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H

#include "passes/interpret/compare/VerifiedValue.h"
#include "passes/interpret/elements/Inputs.h"

namespace pcc::interpret {

/// The first value, in the order in which the ranks compute, that is not what
/// the unpartitioned model computes; none if only outputs differ. Values are
/// paired by their names in the ONNX model; what has lost its name and partial
/// sums are passed over. Executes both again and keeps every named value of
/// `whole`: made for when outputs are known to differ.
std::optional<VerifiedValue> findFirstDifference(mlir::ModuleOp whole,
                                                 mlir::ModuleOp parts,
                                                 const Inputs &inputs,
                                                 graph::Numerics numerics);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H
