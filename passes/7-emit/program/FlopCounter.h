//===- FlopCounter.h - floating-point operations of stages and ops --------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_FLOPCOUNTER_H
#define PCC_PASSES_7_EMIT_PROGRAM_FLOPCOUNTER_H

#include "passes/7-emit/program/ModelFacts.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::emit {

/// Returns the name of the element type in which `op` computes, such as `f32`.
/// The cluster file lists peak speeds under this name. The type is that of the
/// first result, or else of the first operand. Returns `f32` if there is no
/// ranked tensor.
std::string typeNameOf(mlir::Operation &op);

/// Counts the floating-point operations of ops on one rank. The ops belong to a
/// module after phase 7-emit. Operations on padding count, too.
class FlopCounter {
public:
  /// Counts the floating-point operations of one launch of each kernel of
  /// `module`. The methods look up these numbers.
  explicit FlopCounter(mlir::ModuleOp module);

  /// Returns the number of floating-point operations of one execution of `op`.
  /// For a kernel launch or a library call, this is the sum over the ops in the
  /// body. If one launch computes several tensors, the number counts the
  /// operations for all of them.
  double of(mlir::Operation &op) const;
  /// Returns the number of floating-point operations of all ops of `block`.
  double of(mlir::Block &block) const;
  /// Returns the number of floating-point operations that one rank executes for
  /// `stage` in one step, over all microbatches.
  double ofStep(const ModelFacts &facts, int stage) const;
  /// Returns the element type with the most floating-point operations in the
  /// module, such as `f32`. Counts each stage function once, even if it runs
  /// for every microbatch. Returns `f32` if there are no floating-point
  /// operations.
  std::string busiestType(const ModelFacts &facts) const;

private:
  /// Number of floating-point operations of one launch of each kernel, by the
  /// kernel's symbol name.
  llvm::StringMap<double> ofKernel;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_FLOPCOUNTER_H
