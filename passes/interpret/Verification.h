//===- Verification.h - check of a partitioned model against the whole ----===//

#ifndef PCC_PASSES_INTERPRET_VERIFICATION_H
#define PCC_PASSES_INTERPRET_VERIFICATION_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/interpret/compare/VerifyReport.h"
#include "passes/interpret/simulate/PipelineRun.h"

namespace pcc::interpret {

/// Verifies a partitioned model against the unpartitioned model. Call
/// simulate() first: the other functions use its inputs and results.
class Verification {
public:
  /// Prepares the verification. `whole` is the unpartitioned model after phase
  /// 1-import. For training or another precision, it is the model after phase
  /// 2-prepare. `numerics` selects the precision of simulate(): f64, or the
  /// model's own types.
  Verification(mlir::ModuleOp whole, graph::Numerics numerics);

  /// Executes the unpartitioned model on one device, and `parts` (the module
  /// after phase 6-schedule) on simulated ranks. Compares every output on every
  /// rank. If all outputs are equal, compares the accuracy in the model's own
  /// types, such as bf16. Executes three steps of a training model.
  ///
  /// `inputs` are texts NAME=FILE.npy. An input without a file gets seeded
  /// random values. Returns an error if a file does not fit or a module cannot
  /// be executed. A difference is no error here; verdict() reports it.
  Status simulate(mlir::ModuleOp parts, llvm::ArrayRef<std::string> inputs);

  /// Writes the inputs that simulate() has used as .npy files into the
  /// directory `folder`. Adds the path of each file to `files`, under the
  /// input's name.
  Status writeInputs(const std::string &folder,
                     std::map<std::string, std::string> &files) const;
  /// Compares output files that executables have written into `folder` with the
  /// outputs of the unpartitioned model. The tolerance is that for the model's
  /// element types. Must not be called for a training step.
  Status compareOutputs(const std::string &folder);

  /// Returns the results of all comparisons with the unpartitioned model.
  const Findings &findings() const { return found; }
  /// Returns success if all compared values are equal within their tolerances.
  /// If not, returns an error with exit code 15 that names the first
  /// difference.
  Status verdict() const;

private:
  /// Returns the outputs of the model: the operands of the return op of @main
  /// in `whole`.
  mlir::OperandRange results();
  /// Executes the unpartitioned model. Appends its outputs to `found.outputs`,
  /// as expected tensors.
  Status expectOutputs();
  /// Executes `parts` on simulated ranks, and compares all outputs with those
  /// of the unpartitioned model. Must not be called for a training model.
  Status compareRanks(mlir::ModuleOp parts);
  /// Compares the errors of two executions in the model's own types, such as
  /// bf16: the unpartitioned model on one rank, and `parts` on simulated ranks.
  /// Does nothing if the model computes in f64.
  Status compareAccuracy(mlir::ModuleOp parts);
  /// Compares the shards of the output `name`, for one microbatch, with the
  /// expected tensor. Adds the rank and the global indices of each shard to
  /// `shards`.
  void check(llvm::StringRef name, const StageValue &value);

  mlir::ModuleOp whole;
  /// Function @main of the unpartitioned model `whole`.
  mlir::func::FuncOp model;
  Inputs inputs;
  Findings found;
  /// Shards of each output, over all ranks and microbatches: shards[i] for
  /// output i. Each entry has the shard's rank and global indices. Its tensor
  /// is null.
  std::vector<std::vector<RankShard>> shards;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFICATION_H
