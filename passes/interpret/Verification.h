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

/// Verifies a partitioned model against its unpartitioned form. simulate() must
/// be called first; all other functions use its inputs and results.
class Verification {
public:
  /// Prepares the verification. `whole` is the unpartitioned model after the
  /// compiler phase 1-import, which reads the ONNX file. The phase 2-prepare
  /// can turn the model into a training step (option --train) and change its
  /// element types (option --dtype). If the user gives one of these options,
  /// `whole` is the model after 2-prepare.
  ///
  /// `numerics` is the precision of the simulation. The simulation either keeps
  /// all float results in f64, or rounds them to the element types of the
  /// model, such as bf16.
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
  /// Compares outputs and parameters that the executables of the bundle have
  /// written to `files` with the tensors that simulate() has computed with the
  /// unpartitioned model. The executables round results to the element types of
  /// the model. The tolerances are therefore the ones for these types, such as
  /// 1e-4 for f32.
  ///
  /// The executables must have read the inputs that writeInputs() has written.
  /// For a training step, they must have executed steps() steps on these
  /// inputs. If a tensor differs, the function returns success, and verdict()
  /// returns an error.
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
  /// Checks whether the partitioned model `parts` is less accurate than the
  /// unpartitioned model. Executes both models and rounds all results to the
  /// element types of the model, such as bf16. Then computes the errors of both
  /// models, which are the differences from the unpartitioned model in f64.
  /// Stores these errors in `found.ownTypes`. Does nothing if all floats of the
  /// model are f64.
  Status compareAccuracy(mlir::ModuleOp parts);
  /// Compares one output of the partitioned model with the expected tensor.
  /// `name` is the name of the output. `value` contains the shards of the
  /// output on all ranks, for one microbatch. Appends the rank of each shard,
  /// and the global indices of its elements, to `shards`. Does nothing if
  /// `found.outputs` has no entry with this name.
  void check(llvm::StringRef name, const StageValue &value);
  /// Adds the values in `files` to `found`.
  Status readExecuted(const ExecutedFiles &files);
  /// Compares `got` with the expected tensor of the output or parameter `name`,
  /// and appends the result to `found.executed`. `got` is a whole tensor that
  /// the executables have written. `value` is the same tensor in the IR of
  /// `whole`. The tolerance depends on its element type.
  ///
  /// `held` lists the rank and the global indices of each shard of the tensor.
  /// With these indices, the comparison can tell which rank has computed a
  /// wrong element. If `held` is empty, the comparison names no rank.
  void addExecuted(const std::string &name, mlir::Value value,
                   const graph::HostTensor &got,
                   llvm::ArrayRef<RankShard> held);
  /// Computes the member `ownNoise` by measureNoise(). Does nothing if
  /// `ownNoise` has entries already.
  Status measureOwnNoise();

  mlir::ModuleOp whole;
  /// The function @main of `whole`.
  mlir::func::FuncOp model;
  Inputs inputs;
  Findings found;
  /// Each map contains a number for each output and each written parameter of
  /// the model, by its name. An element of this tensor counts as equal if it
  /// differs from the expected element by at most this number. The
  /// difference occurs because ranks add numbers in another order than the
  /// unpartitioned model. `noise` is for the precision that simulate() uses.
  /// `ownNoise` is for results that are rounded to the element types of the
  /// model, such as bf16. Each map stays empty until an element differs by more
  /// than its tolerance. measureNoise() then computes the map.
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
