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
///  - `whole` is the module of the unpartitioned model.
///  - `parts` is the module of the partitioned model. It is the output of the
///    compiler phase 6-schedule. This phase makes the functions of each
///    pipeline stage.
///  - `inputs` contains the tensors of the model's inputs, by name.
///  - `numerics` is the precision of both executions. Op results are in f64, or
///    are rounded to their element types in the model, such as bf16.
///
/// The function compares an op result of `parts` with the op result of `whole`
/// that has the same name in the ONNX model. There are op results that the
/// function cannot compare and skips:
///
///  - The op result has no name in the ONNX model, or `whole` has no op result
///    with this name.
///  - The tensors on the ranks are not complete. For example, each rank has
///    only one term of a sum, and a later all-reduce computes the sum.
///  - The tensor on a rank has other elements than the shard of the rank. For
///    example, the sharding splits 8 rows over 2 ranks. The shard of rank 1 has
///    the rows 4 to 7. A convolution on rank 1 also needs row 3. Rank 1 has
///    received row 3 from rank 0, and its tensor has the rows 3 to 7.
///  - The tensors on the ranks do not have the shape of a shard. For example,
///    the global tensor has 8 rows, and the sharding splits the rows over 2
///    ranks. A shard has 4 rows, but the tensor on a rank has 8 rows.
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
