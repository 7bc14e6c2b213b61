//===- Verification.h - check of a partitioned model against the whole ----===//

#ifndef PCC_PASSES_INTERPRET_VERIFICATION_H
#define PCC_PASSES_INTERPRET_VERIFICATION_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/interpret/compare/VerifyReport.h"
#include "passes/interpret/simulate/PipelineRun.h"

namespace pcc::interpret {

/// Files that the executables of a bundle have written.
struct ExecutedFiles {
  /// Folder with a .npy file for each output (OutputNames.h). A training run
  /// writes the outputs of its last step.
  std::string outputs;
  /// Paths of .npy files with the parameters after the last training step, by
  /// name.
  std::map<std::string, std::string> parameters;
};

/// Verifies a partitioned model against its unpartitioned form. simulate() must
/// be called first; all other functions use its inputs and results.
class Verification {
public:
  /// Prepares the verification. `whole` is the unpartitioned model after phase
  /// 1-import. With training or another precision, it is the model after
  /// 2-prepare. `numerics` selects f64 or the model's element types.
  Verification(mlir::ModuleOp whole, graph::Numerics numerics);

  /// Executes the unpartitioned model on one device and `parts` (the module
  /// after phase 6-schedule) on simulated ranks. Compares every output on every
  /// rank. If all are equal, also compares the accuracy in the model's own
  /// types. A training step is executed three times; see verifyTraining().
  ///
  /// `inputs` are texts NAME=FILE.npy; all other inputs get seeded random
  /// values. Returns an error only if a module cannot be executed. findings()
  /// and verdict() report differences.
  Status simulate(mlir::ModuleOp parts, llvm::ArrayRef<std::string> inputs);

  /// Writes the inputs that simulate() has used as .npy files into the
  /// directory `folder`. Adds the path of each file to `files`, under the
  /// input's name.
  Status writeInputs(const std::string &folder,
                     std::map<std::string, std::string> &files) const;
  /// Compares values that executables have written to files with those of the
  /// unpartitioned model. The tolerance is that for the model's element types.
  /// A training run must have executed steps() steps, all on the same inputs.
  Status compareExecuted(const ExecutedFiles &files);
  /// Returns the number of steps that are executed: 1, or 3 for training.
  int steps();

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
  /// Executes `parts` and compares all outputs. Replaces earlier results in
  /// `found`.
  Status compareRanks(mlir::ModuleOp parts);
  /// Compares the accuracy of `parts` with that of one rank in the model's own
  /// types. Does nothing if the model computes in f64.
  Status compareAccuracy(mlir::ModuleOp parts);
  /// Compares the shards of the output `name` on all ranks, for one microbatch.
  /// Records their indices in `shards`.
  void check(llvm::StringRef name, const StageValue &value);
  /// Adds the values in `files` to `found`.
  Status readExecuted(const ExecutedFiles &files);
  /// Compares `got` with the value `name` that simulate() has expected, and
  /// adds the result to `found`. `held` are the shards of the ranks; empty if
  /// they are not known.
  void addExecuted(const std::string &name, mlir::Value value,
                   const graph::HostTensor &got,
                   llvm::ArrayRef<RankShard> held);
  /// Sets `ownNoise` unless it is set.
  Status measureOwnNoise();

  mlir::ModuleOp whole;
  /// The function @main of `whole`.
  mlir::func::FuncOp model;
  Inputs inputs;
  Findings found;
  /// Differences that count as equal (MeasureNoise.h), in the precision of the
  /// simulation and in the model's own types. Each map is empty until a
  /// difference has been found.
  llvm::StringMap<double> noise, ownNoise;
  /// For each output, the shards of all ranks and microbatches. Only ranks and
  /// indices are kept; the tensors are null.
  std::vector<std::vector<RankShard>> shards;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFICATION_H
