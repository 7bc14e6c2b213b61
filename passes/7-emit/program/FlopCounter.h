//===- FlopCounter.h - floating-point operations of stages and ops --------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_FLOPCOUNTER_H
#define PCC_PASSES_7_EMIT_PROGRAM_FLOPCOUNTER_H

#include "passes/7-emit/program/ModelFacts.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::emit {

/// Returns the name of the element type in which `op` computes, such as `f32`.
/// This is the element type of the first result of `op`, or of the first
/// operand if `op` has no results. Returns `f32` if `op` has neither, or if the
/// value is not a ranked tensor.
///
/// The cluster file lists the peak operations per second of a device under this
/// name. A cluster file is a TOML file that describes the hardware.
std::string typeNameOf(mlir::Operation &op);

/// Counts floating-point operations. The counted ops are ops of a module after
/// the passes of phase 7-emit. The tensors in this module are the shards of one
/// rank, so each count is the number of operations on one rank. If a shard
/// contains padding, the operations on the padding are counted as well.
/// Example: a tensor with 10 elements is divided among 4 ranks. Each shard has
/// room for 3 elements, so the addition of two tensors of this kind counts as 3
/// operations on each rank.
class FlopCounter {
public:
  /// Counts the floating-point operations of one launch of each kernel of
  /// `module`. The methods look up these numbers.
  explicit FlopCounter(mlir::ModuleOp module);

  /// Returns the number of floating-point operations of one execution of `op`.
  /// Two kinds of ops execute other ops:
  ///
  ///   - A launch is an op that runs a kernel. The result for a launch is the
  ///     number of operations of all ops in the kernel. If the launch runs the
  ///     kernel on several tensors, the result includes all tensors.
  ///   - A library call is an op that calls a library, for example for a matmul
  ///     with a bias. The result for a library call is the number of operations
  ///     of all ops in the body of the library call.
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
