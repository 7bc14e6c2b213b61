//===- Verification.h - check of a partitioned model against the whole ----===//

#ifndef PCC_PASSES_INTERPRET_VERIFICATION_H
#define PCC_PASSES_INTERPRET_VERIFICATION_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/interpret/compare/VerifyReport.h"
#include "passes/interpret/simulate/PipelineRun.h"

namespace pcc::interpret {

/// Files that the executables of a bundle have written.
struct ExecutedFiles {
  /// Folder with one .npy file per output of the model. The function
  /// runtime::outputFileNames() returns the names of these files. If the model
  /// was trained, the files contain the outputs of the last training step.
  std::string outputs;
  /// Paths of .npy files with the parameters after the last training step, by
  /// name.
  std::map<std::string, std::string> parameters;
};

/// Verifies that a partitioned model computes the same outputs as the
/// unpartitioned model. Call simulate() first. After it, writeInputs() and
/// compareExecuted() may compare the executables of the bundle, too. findings()
/// and verdict() return the results.
class Verification {
public:
  /// Stores `whole`, the unpartitioned model after phase 1-import. With --train
  /// or --dtype, it is the model after 2-prepare. `numerics` is the precision
  /// of simulate(): f64, or the element types of the model.
  Verification(mlir::ModuleOp whole, graph::Numerics numerics);

  /// Executes the unpartitioned model, and the partitioned model `parts` (after
  /// 6-schedule) on simulated ranks. Compares outputs and trained parameters,
  /// and then the accuracy in the types of the model. An entry "NAME=FILE.npy"
  /// of `inputs` gives an input; other inputs are random. verdict() reports
  /// differences.
  Status simulate(mlir::ModuleOp parts, llvm::ArrayRef<std::string> inputs);

  /// Writes the inputs that simulate() has used as .npy files into the
  /// directory `folder`. Adds the path of each file to `files`, under the
  /// input's name.
  Status writeInputs(const std::string &folder,
                     std::map<std::string, std::string> &files) const;
  /// Compares the tensors that the executables of the bundle have written to
  /// `files` with the unpartitioned model. The executables must have executed
  /// steps() steps on the inputs of writeInputs(). A difference is no error
  /// here; verdict() reports it.
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
  /// Returns the outputs of the unpartitioned model as SSA values. The outputs
  /// are the operands of the return op of the function @main.
  mlir::OperandRange results();
  /// Executes the unpartitioned model and stores its outputs in `found` as the
  /// expected values.
  Status expectOutputs();
  /// Executes both models, and replaces `found.outputs` by comparisons of the
  /// outputs and of the trained parameters. A difference is no error. Returns
  /// an error if a model cannot be executed or if no stage computes an output.
  Status compareRanks(mlir::ModuleOp parts);
  /// Checks whether the partitioned model `parts` is less accurate than the
  /// unpartitioned model. Executes both models and rounds all results to the
  /// element types of the model, such as bf16. Then computes the errors of both
  /// models, which are the differences from the unpartitioned model in f64.
  /// Stores these errors in `found.ownTypes`. Does nothing if all floats of the
  /// model are f64.
  Status compareAccuracy(mlir::ModuleOp parts);
  /// Compares the shards `value` of the output `name` with the expected tensor
  /// in `found.outputs`. Ignores an unknown name. Appends the ranks and the
  /// global indices of the shards to the member `shards`, without elements.
  void check(llvm::StringRef name, const StageValue &value);
  /// Compares the .npy files that the executables of the bundle have written
  /// with the unpartitioned model. Appends the results to `found.executed`.
  /// Returns an error only if a file cannot be read.
  Status readExecuted(const ExecutedFiles &files);
  /// Compares `got`, a whole tensor from the executables, with the expected
  /// tensor of the output `name` in `found.outputs`. Appends the result to
  /// `found.executed`. `value` is the tensor in the IR and determines the
  /// tolerance. `held` lists the shards, to name the rank of a wrong element;
  /// empty if unknown.
  void addExecuted(const std::string &name, mlir::Value value,
                   const graph::HostTensor &got,
                   llvm::ArrayRef<RankShard> held);
  /// Returns how often measureNoise() executes the model with random rounding
  /// errors: 10 times, or 30 times if a difference is NaN or infinite. In one
  /// execution, the errors may cancel each other by chance. It is unlikely that
  /// they do so in all ten. An element that overflows by chance may do the same
  /// in more executions.
  int numSamples();
  /// Computes the member `ownNoise`. Does nothing if `ownNoise` has entries
  /// already. `ownNoise` contains one number for each output of the model and
  /// for each parameter that a training step writes. An element of this output
  /// or parameter counts as equal if it differs from the expected element by at
  /// most this number. The number applies to results that are rounded to the
  /// element types of the model, such as bf16.
  Status measureOwnNoise();

  mlir::ModuleOp whole;
  /// Function @main of the unpartitioned model. The member `whole` is the
  /// module that contains this function.
  mlir::func::FuncOp model;
  Inputs inputs;
  Findings found;
  /// Largest accepted difference of an element, by the name of the output or
  /// parameter. `noise` is for simulate(), and `ownNoise` for results rounded
  /// to the element types of the model. Both maps are empty at first. If a
  /// comparison finds a difference, measureNoise() fills the map of this
  /// comparison, and the comparison is repeated.
  llvm::StringMap<double> noise, ownNoise;
  /// Entry i lists the shards of output i of the model, for all ranks and all
  /// microbatches. A shard is the part of the output that one rank computes.
  /// The list contains the rank and the global indices of each shard, but not
  /// the elements: RankShard::tensor is null. This saves memory. `shards` is
  /// empty if the model is a training step.
  std::vector<std::vector<RankShard>> shards;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_VERIFICATION_H
