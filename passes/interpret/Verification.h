//===- Verification.h - all ranks against the unpartitioned model ---------===//

#ifndef PCC_PASSES_INTERPRET_VERIFICATION_H
#define PCC_PASSES_INTERPRET_VERIFICATION_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/interpret/compare/VerifyReport.h"
#include "passes/interpret/simulate/PipelineRun.h"

namespace pcc::interpret {

/// One verification, from inputs to a verdict.
class Verification {
public:
  /// `whole` is the model after 1-import. In f64, or with every result rounded
  /// to the model's own types.
  Verification(mlir::ModuleOp whole, graph::Numerics numerics);

  /// Runs `whole` on one simulated device and the action tables of `parts`
  /// (after 6-schedule) on all simulated ranks, and compares what every rank
  /// holds of every output. `inputs` are NAME=FILE.npy; others are seeded.
  runtime::Status simulate(mlir::ModuleOp parts,
                           llvm::ArrayRef<std::string> inputs);

  /// Writes the inputs that simulate() had into `folder`: files by input name.
  runtime::Status writeInputs(const std::string &folder,
                              std::map<std::string, std::string> &files) const;
  /// Compares the outputs that executables wrote into `folder`, element by
  /// element of every rank that simulate() saw.
  runtime::Status compareOutputs(const std::string &folder);

  const Findings &findings() const { return found; }
  /// Exit code 15 with the first value that differs.
  runtime::Status verdict() const;

private:
  mlir::OperandRange results();
  runtime::Status expectOutputs();
  void check(llvm::StringRef name, const StageValue &value);

  mlir::ModuleOp whole;
  mlir::func::FuncOp model;
  Inputs inputs;
  Findings found;
  /// By output: its shards without their elements.
  std::vector<std::vector<RankShard>> shards;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFICATION_H
