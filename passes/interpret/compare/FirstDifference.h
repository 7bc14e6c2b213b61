//===- FirstDifference.h - search for the first value that differs --------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H
#define PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H

#include "passes/interpret/compare/VerifiedValue.h"
#include "passes/interpret/elements/Inputs.h"

namespace pcc::interpret {

/// Executes the unpartitioned model, and the partitioned model on simulated
/// ranks. Returns the first op result, in the order of execution, that the
/// simulated ranks compute differently from the unpartitioned model. Returns
/// nullopt if no such op result is found, or if a model cannot be executed.
///
/// - `whole` is the module of the unpartitioned model.
/// - `parts` is the module of the partitioned model. All phases of the compiler
///   up to 6-schedule, which makes one function per pipeline stage, have
///   changed this module.
/// - `inputs` are the global tensors of the model inputs.
/// - `numerics` tells whether op results are rounded to their element types or
///   stay f64.
///
/// Only some op results are compared. An op result of `parts` is compared with
/// the op result of `whole` that has the same name in the ONNX model. The
/// function skips an op result in these cases:
///
/// - The op result has no name in the ONNX model, or `whole` has no op result
///   of this name.
/// - The op result is partial: the ranks must still reduce their tensors, for
///   example by an all-reduce that computes a sum.
/// - The op result is a windowed read: a rank holds other elements than its own
///   part of a dim. For example, a rank also holds the rows of its neighbors
///   that a convolution needs.
/// - The tensors on the ranks do not have the shape of a shard. For example, if
///   the global tensor has 8 rows and the sharding splits the rows over 2
///   ranks, a shard has 4 rows.
///
/// The function stores all op results of `whole` that have a name, and so needs
/// much memory. Therefore call the function only after a model output has been
/// found to differ.
std::optional<VerifiedValue> findFirstDifference(mlir::ModuleOp whole,
                                                 mlir::ModuleOp parts,
                                                 const Inputs &inputs,
                                                 graph::Numerics numerics);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_FIRSTDIFFERENCE_H
