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
#include "status/Status.h"
#include <string>

namespace pcc::graph {

/// Precision to which evaluate() rounds floating-point results. All ops compute
/// in f64, whatever the precision.
enum class Numerics : uint8_t {
  Exact, ///< results stay f64, so casts between float types are identities
  Model, ///< results of every op are rounded to their element types
};

/// Returns whether the evaluator can compute `op`. Returns false for ops that
/// read weights, because the elements of weights are not in the module.
bool canEvaluate(mlir::Operation *op);

/// Computes the results of `op` and appends them to `results`. `numerics`
/// decides whether floats are rounded to their element type. Integers always
/// wrap. Returns Unsupported if `op` has no evaluator, and BadInput if operands
/// or attributes are invalid. The error message does not name `op`.
Status evaluate(mlir::Operation *op,
                llvm::ArrayRef<const HostTensor *> operands,
                llvm::SmallVectorImpl<HostTensor> &results, Numerics numerics);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_EVALUATOR_H
