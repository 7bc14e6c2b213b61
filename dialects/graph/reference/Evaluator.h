//===- Evaluator.h - reference evaluator of graph ops ---------------------===//
//
// The executable definition of the graph dialect: every op is evaluated on
// tensors in host memory, in f64. Constant folding and the interpreter behind
// `pcc verify` use it. It is written for exactness rather than speed.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_EVALUATOR_H
#define PCC_DIALECTS_GRAPH_REFERENCE_EVALUATOR_H

#include "dialects/graph/reference/HostTensor.h"
#include "mlir/IR/Operation.h"
#include <string>

namespace pcc::graph {

/// Precision of floating-point results. All ops compute in f64 either way.
enum class Numerics : uint8_t {
  Exact, ///< results stay f64, so casts between float types are identities
  Model, ///< results of every op are rounded to their element types
};

/// Returns whether `op` has an evaluator. Reads of weights have none, because
/// their elements are not in the module.
bool canEvaluate(mlir::Operation *op);

/// Evaluates `op` on `operands` and appends its results to `results`. There is
/// one operand tensor per operand of `op`, with the shape of its type. Integer
/// results are wrapped to the width of their element type.
///
/// Fails if `op` has no evaluator, or if the result is undefined for these
/// operands, as for an index that is out of range. `error` then holds the
/// message, which does not name the op.
mlir::LogicalResult evaluate(mlir::Operation *op,
                             llvm::ArrayRef<const HostTensor *> operands,
                             llvm::SmallVectorImpl<HostTensor> &results,
                             Numerics numerics, std::string &error);

/// Evaluates `op` like the function above, but emits the error at `op`.
mlir::LogicalResult evaluate(mlir::Operation *op,
                             llvm::ArrayRef<const HostTensor *> operands,
                             llvm::SmallVectorImpl<HostTensor> &results,
                             Numerics numerics);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_EVALUATOR_H
