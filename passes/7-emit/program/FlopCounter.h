//===- FlopCounter.h - what functions compute -----------------------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_FLOPCOUNTER_H
#define PCC_PASSES_7_EMIT_PROGRAM_FLOPCOUNTER_H

#include "passes/7-emit/program/ModelFacts.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::emit {

/// The element type of an op's first result, or operand where it has none, as
/// cluster files call it.
std::string typeNameOf(mlir::Operation &op);

/// Floating-point operations on one rank, of a module that phase 7-emit has
/// passed.
class FlopCounter {
public:
  explicit FlopCounter(mlir::ModuleOp module);

  /// Of one op, with all that it runs.
  double of(mlir::Operation &op) const;
  double of(mlir::Block &block) const;
  /// Of all that a stage does in one step.
  double ofStep(const ModelFacts &facts, int stage) const;
  /// The type in which most of the module's operations are, as cluster files
  /// call it (f32, bf16); f32 if there are none.
  std::string busiestType(const ModelFacts &facts) const;

private:
  llvm::StringMap<double> ofKernel;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_FLOPCOUNTER_H
