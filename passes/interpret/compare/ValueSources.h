//===- ValueSources.h - ops from which a value is computed ----------------===//

#ifndef PCC_PASSES_INTERPRET_COMPARE_VALUESOURCES_H
#define PCC_PASSES_INTERPRET_COMPARE_VALUESOURCES_H

#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::interpret {

/// Returns the op result that `value` is. An argument of a stage function may
/// be the result of an op in another function of the stage. Returns null for an
/// input of the model.
mlir::OpResult originOf(mlir::Value value);

/// Finds the op results from which others are computed, in a module after
/// 6-schedule. An op may be in another function of the stage, or in another
/// stage.
class ValueSources {
public:
  explicit ValueSources(mlir::ModuleOp module);

  /// Returns the operands of the op that computes `result`, without inputs of
  /// the model. The source of a received value is the value that is sent.
  llvm::SmallVector<mlir::OpResult> of(mlir::OpResult result) const;

private:
  /// Ops that send a value to another stage, by the name of the value.
  llvm::StringMap<pipe::SendOp> sends;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_COMPARE_VALUESOURCES_H
