//===- Verification.h - check of a partitioned model against the whole ----===//

#ifndef PCC_PASSES_INTERPRET_VERIFICATION_H
#define PCC_PASSES_INTERPRET_VERIFICATION_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/interpret/compare/VerifyReport.h"
#include "passes/interpret/simulate/PipelineRun.h"

namespace pcc::interpret {

/// Verifies a partitioned model against its unpartitioned form. simulate() must
/// be called first; all other functions use its inputs and results.
class Verification {
public:
  /// Prepares the verification. `whole` is the unpartitioned model: the module
  /// after phase 2-prepare for a training step or another precision, else after
  /// 1-import. `numerics` chooses between f64 for all values and results
  /// rounded to the model's element types.
  Verification(mlir::ModuleOp whole, graph::Numerics numerics);

  /// Executes the unpartitioned model on one device and `parts` (the module
  /// after phase 6-schedule) on simulated ranks. Compares every output on every
  /// rank. A training step is executed three times; see verifyTraining(). If
  /// all are equal, also compares the accuracy in the model's own types
  /// (VerifyAccuracy.h).
  ///
  /// `inputs` are texts NAME=FILE.npy; all other inputs get seeded random
  /// values. An error means that a module could not be executed. If values
  /// differ, simulate() still returns success; findings() and verdict() report
  /// the difference.
  Status simulate(mlir::ModuleOp parts, llvm::ArrayRef<std::string> inputs);

  /// Writes the inputs that simulate() has used as .npy files into the
  /// directory `folder`. Adds the path of each file to `files`, under the
  /// input's name.
  Status writeInputs(const std::string &folder,
                     std::map<std::string, std::string> &files) const;
  /// Compares output files that compiled executables have written into `folder`
  /// with the outputs of the unpartitioned model. A difference is attributed to
  /// the rank that held the element in simulate(). Executables compute in the
  /// model's element types, so the tolerance is the one for these types. Must
  /// not be called for a training step.
  Status compareOutputs(const std::string &folder);

  /// Returns the results of all comparisons.
  const Findings &findings() const { return found; }
  /// Returns success if all compared values are equal within their tolerances.
  /// If not, returns an error with exit code 15 that names the first
  /// difference.
  Status verdict() const;

private:
  /// Returns the outputs of the model: the operands of the return op of @main
  /// in `whole`.
  mlir::OperandRange results();
  /// Executes the unpartitioned model and stores its outputs in `found` as the
  /// expected values.
  Status expectOutputs();
  /// Executes `parts`, which is no training step, and compares all outputs.
  Status compareRanks(mlir::ModuleOp parts);
  /// Compares the accuracy of `parts` with that of one rank in the model's own
  /// types. Does nothing if the model computes in f64.
  Status compareAccuracy(mlir::ModuleOp parts);
  /// Compares the shards of the output `name` that all ranks hold for one
  /// microbatch, and records the shards' indices in `shards`.
  void check(llvm::StringRef name, const StageValue &value);

  mlir::ModuleOp whole;
  /// The function @main of `whole`.
  mlir::func::FuncOp model;
  Inputs inputs;
  Findings found;
  /// For each output, the shards of all ranks and microbatches. Their tensors
  /// are null: only ranks and indices are needed later.
  std::vector<std::vector<RankShard>> shards;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFICATION_H
