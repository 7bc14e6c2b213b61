//===- FlopCounter.h - floating-point operations of stages and ops --------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_FLOPCOUNTER_H
#define PCC_PASSES_7_EMIT_PROGRAM_FLOPCOUNTER_H

#include "passes/7-emit/program/ModelFacts.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::emit {

/// Returns the element type by which a cluster file prices `op`, such as `f32`
/// or `bf16`. It is the type of the first result or, without results, of the
/// first operand. An op with neither has `f32`.
std::string typeNameOf(mlir::Operation &op);

/// Counts the floating-point operations that one rank executes for ops of a
/// module that phase 7-emit has processed. Shapes are local, padding included.
class FlopCounter {
public:
  /// Computes the operations of one launch of each kernel of `module`.
  explicit FlopCounter(mlir::ModuleOp module);

  /// Returns the operations of one op, including those of the kernel or library
  /// call that it runs.
  double of(mlir::Operation &op) const;
  /// Returns the sum over the ops of `block`.
  double of(mlir::Block &block) const;
  /// Returns the operations of `stage` in one step, all microbatches included.
  double ofStep(const ModelFacts &facts, int stage) const;
  /// Returns the element type with the most operations in the module, as a
  /// cluster file spells it (`f32`, `bf16`); `f32` if the module has no
  /// operations. Each function counts once, whatever the number of
  /// microbatches.
  std::string busiestType(const ModelFacts &facts) const;

private:
  /// Operations of one launch, by the kernel's symbol.
  llvm::StringMap<double> ofKernel;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_FLOPCOUNTER_H
