//===- Evaluator.h - what each graph op computes --------------------------===//
//
// The definition of the dialect that a computer can follow: every op is
// evaluated on plain tensors. Folding, the interpreter and `pcc verify` use it.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_EVALUATOR_H
#define PCC_DIALECTS_GRAPH_REFERENCE_EVALUATOR_H

#include "dialects/graph/reference/HostTensor.h"
#include "mlir/IR/Operation.h"
#include <string>

namespace pcc::graph {

enum class Numerics : uint8_t {
  Exact, ///< floats of every type are f64: casts between them are identities
  Model, ///< the result of every op is rounded to its element type
};

/// Whether `op` can be evaluated. Reads of weights cannot: their elements are
/// no business of the op.
bool canEvaluate(mlir::Operation *op);

/// Evaluates `op` on `operands`, whose shapes are those of its operand types,
/// and appends its results. Integers wrap to their width. On failure (an index
/// outside its table, an op without meaning) `error` says what was found.
mlir::LogicalResult evaluate(mlir::Operation *op,
                             llvm::ArrayRef<const HostTensor *> operands,
                             llvm::SmallVectorImpl<HostTensor> &results,
                             Numerics numerics, std::string &error);

/// The same, with the error emitted at `op`.
mlir::LogicalResult evaluate(mlir::Operation *op,
                             llvm::ArrayRef<const HostTensor *> operands,
                             llvm::SmallVectorImpl<HostTensor> &results,
                             Numerics numerics);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_EVALUATOR_H
