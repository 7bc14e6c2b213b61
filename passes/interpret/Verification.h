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
/// unpartitioned model. The compiler has divided the partitioned model among
/// several ranks. The caller calls the functions in this order:
///
///  1. simulate() interprets both models in this process and compares their
///     outputs. It executes the code of each rank of the partitioned model, as
///     if there were several ranks.
///  2. writeInputs() writes the inputs that simulate() has used into files. The
///     caller can then run the executables of the bundle with these inputs.
///  3. compareExecuted() compares the outputs of the executables with the
///     outputs of the unpartitioned model. simulate() has stored these outputs.
///  4. findings() and verdict() return the results.
///
/// The caller may omit the calls 2 and 3.
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

  /// Executes the unpartitioned model on one device, and the partitioned model
  /// `parts` on simulated ranks. Compares the outputs of both models. A
  /// training step is executed three times, and the parameters after the third
  /// time are compared as well. `parts` must be the output of the compiler
  /// phase 6-schedule.
  ///
  /// If no tensor differs, the function executes both models again. This time,
  /// each op result is rounded to its element type in the model, such as bf16.
  /// The function computes the error of each model, which is the difference
  /// from the unpartitioned model in f64. The error of the partitioned model
  /// must not be much larger than the error of the unpartitioned model. The
  /// function skips this second comparison if all floats of the model are f64.
  ///
  ///  - `inputs` lists files with inputs of the model. Each entry is a text
  ///    "NAME=FILE.npy". For example, "ids=/tmp/a.npy" means that the file
  ///    /tmp/a.npy contains the input "ids". An input without a file gets
  ///    random elements, which are equal in each call.
  ///
  /// If the function finds a difference, it still returns success. findings()
  /// and verdict() report the difference. The function returns an error if an
  /// input cannot be read or a model cannot be executed.
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
  /// Compares the tensor `got` with an expected tensor. `got` is a whole tensor
  /// that the executables of the bundle have written to a file. The
  /// unpartitioned model has computed the expected tensor during simulate().
  /// Appends the result of the comparison to `found.executed`.
  ///
  ///  - `name` is the name of an entry of `found.outputs`. This entry contains
  ///    the expected tensor of an output or a parameter.
  ///  - `value` is this output or parameter in the IR of the unpartitioned
  ///    model. The allowed error depends on the element types of `value` and of
  ///    all values from which `value` is computed. For example, it is 1e-4 if
  ///    all of them are f32.
  ///  - `held` has one entry for each shard of the tensor: the rank that has
  ///    computed the shard, and the global indices of the elements of the
  ///    shard. With these entries, the comparison can name the rank that has
  ///    computed a wrong element. If `held` is empty, the comparison names no
  ///    rank.
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
  /// Two maps of accepted differences. The ranks add numbers in another order
  /// than the unpartitioned model. The ranks therefore have other rounding
  /// errors, and the results can differ slightly although both are correct.
  ///
  /// A key is the name of an output of the model, or of a parameter that a
  /// training step writes. In training, the name of an output contains the
  /// step, such as "loss of step 2". Each map contains a number for each key.
  /// An element of this output or parameter counts as equal if it differs from
  /// the expected element by at most this number. Example: the number is 0.2,
  /// and the expected element is 1.0. The element 1.1 then counts as equal.
  ///
  /// The two maps are used in different comparisons:
  ///
  ///   - `noise` is used when simulate() compares the outputs of the
  ///     partitioned model on simulated ranks with the outputs of the
  ///     unpartitioned model. The user selects the precision of this
  ///     comparison: f64, or the element types of the model. `found.numerics`
  ///     contains the selected precision.
  ///   - `ownNoise` is used in comparisons in which each op result is rounded
  ///     to its element type in the model, such as bf16. There are two
  ///     comparisons of this kind: compareAccuracy() compares the errors of
  ///     both models, and compareExecuted() compares the outputs of the
  ///     executables.
  ///
  /// Rounding errors in bf16 are larger than in f64. The two maps can therefore
  /// contain different numbers for the same key.
  ///
  /// Both maps are empty at first. If simulate() finds a difference, it fills
  /// `noise` with the result of measureNoise(), and compares the outputs again.
  /// If compareAccuracy() or compareExecuted() finds a difference, it fills
  /// `ownNoise` with the result of measureNoise(), and compares again. If
  /// `ownNoise` is already filled, it keeps its entries.
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
