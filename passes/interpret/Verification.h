//===- Verification.h - check of a partitioned model against the whole ----===//

#ifndef PCC_PASSES_INTERPRET_VERIFICATION_H
#define PCC_PASSES_INTERPRET_VERIFICATION_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/interpret/compare/VerifyReport.h"
#include "passes/interpret/simulate/PipelineRun.h"

namespace pcc::interpret {

/// Verifies a partitioned model against its unpartitioned form, from inputs to
/// a verdict. simulate() comes first; all other functions use its inputs and
/// findings.
class Verification {
public:
  /// Prepares a verification against the module `whole`, which is on one
  /// device: the model after `1-import`, or after `2-prepare` if it is a
  /// training step or computed in another type. `numerics` chooses between f64
  /// throughout and results rounded to the element types of the model.
  Verification(mlir::ModuleOp whole, graph::Numerics numerics);

  /// Executes the unpartitioned model, and the action tables of `parts` (the
  /// module after `6-schedule`) on simulated ranks. Compares every output on
  /// every rank. A training step is executed three times; see verifyTraining().
  ///
  /// `inputs` are NAME=FILE.npy; other inputs get seeded random values. An
  /// error means that a module could not be executed. A difference is no error:
  /// it is in findings() and verdict().
  runtime::Status simulate(mlir::ModuleOp parts,
                           llvm::ArrayRef<std::string> inputs);

  /// Writes the inputs of simulate() as .npy files into `folder`, and adds the
  /// path of each file to `files` under the name of the input.
  runtime::Status writeInputs(const std::string &folder,
                              std::map<std::string, std::string> &files) const;
  /// Compares the output files that the compiled executables wrote into
  /// `folder` with the outputs of the unpartitioned model. Differences are
  /// attributed to the ranks that held the elements in simulate(). The
  /// tolerance is that of the model's element types, in which executables
  /// compute. Must not be called for a training step.
  runtime::Status compareOutputs(const std::string &folder);

  /// Returns everything that has been compared.
  const Findings &findings() const { return found; }
  /// Returns success if all compared values are equal within their tolerances.
  /// Otherwise returns an error with exit code 15 that names the first
  /// difference.
  runtime::Status verdict() const;

private:
  /// Returns the values that the unpartitioned model returns.
  mlir::OperandRange results();
  /// Executes the unpartitioned model and records its outputs in `found`.
  runtime::Status expectOutputs();
  /// Compares the shards that all ranks hold of the output `name` for one
  /// microbatch, and records their indices in `shards`.
  void check(llvm::StringRef name, const StageValue &value);

  mlir::ModuleOp whole;
  /// Function @main of `whole`.
  mlir::func::FuncOp model;
  Inputs inputs;
  Findings found;
  /// By output: the shards of all ranks and microbatches. Their tensors are
  /// null, since only ranks and indices are needed again.
  std::vector<std::vector<RankShard>> shards;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFICATION_H
