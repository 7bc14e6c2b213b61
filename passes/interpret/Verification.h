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

/// Verifies that a partitioned model, which runs on several ranks, computes the
/// same outputs as the unpartitioned model. Functions in order of calls:
///  1. simulate() interprets both models in this process and compares outputs.
///  2. writeInputs() writes the inputs of simulate() to files for the
///     executables of the bundle (optional).
///  3. compareExecuted() compares the outputs of the executables with those of
///     the unpartitioned model (optional).
///  4. findings() and verdict() return the results.
class Verification {
public:
  /// Stores `whole`, the unpartitioned model, and `numerics`. The function
  /// simulate() later interprets `whole` on one device and the partitioned
  /// model on simulated ranks, and compares the outputs of both.
  ///
  /// `whole` is the model after the compiler phase 1-import, which reads the
  /// ONNX file. The phase 2-prepare can turn the model into a training step
  /// (option --train) and change its element types (option --dtype). If the
  /// user gives one of these options, `whole` is the model after 2-prepare.
  ///
  /// `numerics` is the precision with which simulate() interprets both models.
  /// It either keeps all float results in f64, or rounds them to the element
  /// types of the model, such as bf16.
  Verification(mlir::ModuleOp whole, graph::Numerics numerics);

  /// Executes the unpartitioned model on one device and `parts`, the output of
  /// phase 6-schedule, on simulated ranks. Compares the outputs. For training,
  /// executes three steps and compares the parameters, too. If all are equal,
  /// executes both models with each op result rounded to its type, such as
  /// bf16, unless all floats are f64. The error of `parts` must not be much
  /// larger than that of one device. An entry "NAME=FILE.npy" of `inputs` gives
  /// an input. Other inputs are random, but equal in each call. Returns an
  /// error only if a file cannot be read or a model cannot run; verdict()
  /// reports differences.
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
  /// Returns the outputs of the unpartitioned model as SSA values. The outputs
  /// are the operands of the return op of the function @main.
  mlir::OperandRange results();
  /// Executes the unpartitioned model and stores its outputs in `found` as the
  /// expected values.
  Status expectOutputs();
  /// Executes the unpartitioned model on one device, and the partitioned model
  /// `parts` on simulated ranks. Compares the outputs of both models. For a
  /// training step, executes three steps and also compares the parameters after
  /// the last step.
  ///
  /// The function deletes all earlier results in `found.outputs` and stores the
  /// new results there. If an output differs, the function still returns
  /// success. The function returns an error if a model cannot be executed. For
  /// inference, the function also returns an error if the model has an output
  /// that no pipeline stage computes.
  Status compareRanks(mlir::ModuleOp parts);
  /// Checks whether the partitioned model `parts` is less accurate than the
  /// unpartitioned model. Executes both models and rounds all results to the
  /// element types of the model, such as bf16. Then computes the errors of both
  /// models, which are the differences from the unpartitioned model in f64.
  /// Stores these errors in `found.ownTypes`. Does nothing if all floats of the
  /// model are f64.
  Status compareAccuracy(mlir::ModuleOp parts);
  /// Compares one output of the partitioned model with the tensor that the
  /// unpartitioned model has computed for this output. An entry of
  /// `found.outputs` contains this tensor. The function adds the result of the
  /// comparison to the entry. The function does nothing if there is no such
  /// entry.
  ///
  ///  - `name` is the name of the output.
  ///  - `value` contains one shard of the output per rank, for one microbatch.
  ///
  /// The function also appends the shards to the member `shards`, but without
  /// their elements. For each shard, the member `shards` then contains the
  /// number of the rank and the global indices of the elements.
  void check(llvm::StringRef name, const StageValue &value);
  /// Reads the .npy files that the executables of the bundle have written.
  /// `files` contains the paths of these files. Each file contains an output of
  /// the model, or a parameter after the last training step. The function
  /// compares each of these tensors with the tensor that the unpartitioned
  /// model has computed. It appends one result per tensor to `found.executed`.
  /// If a tensor differs, the function still returns success. It returns an
  /// error only if a file cannot be read.
  Status readExecuted(const ExecutedFiles &files);
  /// Compares `got`, a whole tensor that the executables of the bundle have
  /// written, with the tensor `name` of `found.outputs` from the unpartitioned
  /// model. Appends the result to `found.executed`. `value` is this output or
  /// parameter in the IR of the unpartitioned model; the allowed error depends
  /// on the element types from which it is computed, such as 1e-4 for f32.
  /// `held` lists the shards of the tensor with rank and global indices, so
  /// that the comparison can name the rank with a wrong element. If `held` is
  /// empty, the comparison names no rank.
  void addExecuted(const std::string &name, mlir::Value value,
                   const graph::HostTensor &got,
                   llvm::ArrayRef<RankShard> held);
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
  /// Two maps from the name of an output or parameter, such as "loss of step
  /// 2", to the largest accepted difference of an element. Ranks add numbers in
  /// another order, so correct results can differ slightly. `noise` is for the
  /// comparison in simulate(), in the precision `found.numerics`. `ownNoise` is
  /// for compareAccuracy() and compareExecuted(), with results rounded to the
  /// element types of the model, such as bf16. A map is empty until one of its
  /// comparisons finds a difference. measureNoise() then fills the map, and the
  /// comparison is repeated.
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
