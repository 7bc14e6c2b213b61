//===- FlopCounter.h - floating-point operations of stages and ops --------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_FLOPCOUNTER_H
#define PCC_PASSES_7_EMIT_PROGRAM_FLOPCOUNTER_H

#include "passes/7-emit/program/ModelFacts.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::emit {

/// Returns the element type, such as `f32` or `bf16`, under which a cluster
/// file lists the speed of `op`. This is the type of the first result. If `op`
/// has no result, it is the type of the first operand. If `op` has no operand
/// either, it is `f32`.
std::string typeNameOf(mlir::Operation &op);

/// Counts the floating-point operations that one rank executes for ops of a
/// module after phase 7-emit. Tensors in such a module are shards of one rank.
/// Elements that pad a shard count, too.
class FlopCounter {
public:
  /// Counts the operations of one launch of each kernel of `module`. The
  /// methods look up these numbers.
  explicit FlopCounter(mlir::ModuleOp module);

  /// Returns the number of operations of `op`. For a launch, counts the
  /// operations of the kernel. For a library call, counts the operations of the
  /// call's body.
  double of(mlir::Operation &op) const;
  /// Returns the number of operations of all ops of `block`.
  double of(mlir::Block &block) const;
  /// Returns the number of operations that one rank executes for `stage` in one
  /// step, over all microbatches.
  double ofStep(const ModelFacts &facts, int stage) const;
  /// Returns the element type with the most operations in the module, as a
  /// cluster file spells it (`f32`, `bf16`). Counts each function once, even if
  /// it runs for several microbatches. Returns `f32` if the module has no
  /// operations.
  std::string busiestType(const ModelFacts &facts) const;

private:
  /// Number of operations of one launch of each kernel, by the kernel's symbol
  /// name.
  llvm::StringMap<double> ofKernel;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_FLOPCOUNTER_H
