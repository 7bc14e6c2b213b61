//===- Compile.h - entry points: compile, verify and explain --------------===//
//
// Plain C++: this header and all headers that it includes are free of MLIR, so
// that tools and bindings need no MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_COMPILE_H
#define PCC_PASSES_COMPILE_H

#include "passes/Listener.h"
#include "passes/Options.h"
#include "passes/annotate/ModelWithWeights.h"

namespace pcc {

/// Compiles `options.model` to the bundle `options.bundle`, a directory with
/// one executable per rank. If `options.emitsOnnx`, writes an ONNX model with
/// the chosen shardings and stages instead. Writes neither if
/// `options.stopAfter` ends the compilation earlier. After an error, no
/// incomplete bundle or model remains.
Status compile(const CompileOptions &options, const Listener &listener = {});

/// Argument of the callback VerifyOptions::run. The callback executes a bundle,
/// which is a directory with one executable per rank. The members of this
/// struct tell the callback which bundle to execute, which input files to read,
/// and to which directories to write results. The callback itself fills only
/// the member `parameters`.
struct BundleRun {
  /// Path of the bundle, the directory that pcc writes.
  std::string bundle;
  /// For each input, by name, the path of the .npy file that holds it.
  std::map<std::string, std::string> inputs;
  /// Directory to which the outputs of the bundle are written as .npy files.
  std::string outputs;
  /// Number of training steps that the callback VerifyOptions::run executes; 1
  /// for inference. Every step reads the same input values.
  int steps = 1;
  /// Existing directory for parameters. Parameters are weights and the state of
  /// the optimizer. For training, the callback VerifyOptions::run writes the
  /// values that all parameters have after the last step into this directory,
  /// as .npy files. For each file, the callback adds an entry to `parameters`:
  /// the key is the name of the parameter, and the value is the path of the
  /// file. For inference, the callback writes no parameters.
  std::string parameterFolder;
  std::map<std::string, std::string> parameters = {};
};

/// Options of `pcc verify`, in addition to those of compile.
struct VerifyOptions {
  /// Inputs in the form NAME=FILE.npy. All other inputs get seeded random
  /// values.
  std::vector<std::string> inputs;
  /// --report of `pcc verify`: path of a JSON report. `pcc verify` compares
  /// each output of the partitioned model with the same output of the
  /// unpartitioned model. The report contains the results of these comparisons.
  /// If empty, no report is written.
  std::string report;
  /// Whether the user gives `--dtype model`. An interpreter executes the
  /// unpartitioned model and the partitioned model, and `pcc verify` compares
  /// the outputs of the two models:
  ///  - true: the interpreter rounds each result of an op to the element type
  ///    that this result has in the model, such as f16.
  ///  - false: the interpreter keeps all floating-point results in f64.
  bool modelTypes = false;
  /// Callback that runs a bundle on all ranks and writes the outputs. Set by
  /// the option --run of `pcc verify`, otherwise null. verify() calls it only
  /// if the model gives the right outputs on simulated ranks.
  std::function<Status(BundleRun &)> run = {};
  /// Existing directory for temporary files, if the callback `run` is set. The
  /// function verify() writes the bundle and the input values to this
  /// directory. The callback `run` executes the bundle and writes the outputs
  /// to this directory. If the callback `run` is null, the directory is not
  /// used.
  std::string scratch = {};
};

/// Executes the partitioned model on simulated ranks, and compares the outputs
/// with those of the unpartitioned model. On success, stores the largest errors
/// in `verdict`, as one line. Returns exit code 15 if an output differs, or is
/// less accurate than accuracyOf() allows.
Status verify(const CompileOptions &options, const VerifyOptions &verifyOptions,
              std::string &verdict, const Listener &listener = {});

/// Options of `pcc explain`, in addition to those of compile.
struct ExplainOptions {
  /// Name or glob pattern of values. A value is a weight, an input, an output
  /// or another tensor of the model. `pcc explain` explains the shardings of
  /// all values with a matching name. If the member is empty, `pcc explain`
  /// explains all collectives of the model instead, and prints lints (warnings
  /// about suspicious shardings).
  std::string value;
  /// Whether the explanation is wanted as JSON, too.
  bool json = false;
  /// --verbose: whether the text lists all collectives, each with the rejected
  /// alternatives of the decisions that caused it.
  bool isVerbose = false;
  /// --top: number of entries that the text shows. An entry is a group of equal
  /// collectives, or the communication between two pipeline stages. The entries
  /// with the longest times are shown.
  int64_t top = 4;
};

/// Explanation of a plan in both forms. `json` is empty if it is not wanted.
struct ExplainedModel {
  std::string text;
  std::string json;
};

/// Compiles `options.model` without writing a bundle, and stores an explanation
/// of the plan in `explained`: collectives, cuts into pipeline stages, and
/// lints. The explanation also suggests options. For each of the first four
/// suggestions, compiles the model once more with these options, to find their
/// effect on time and memory. If `explainOptions.value` selects tensors, the
/// text explains only the shardings of these tensors. The JSON explains the
/// collectives, too.
Status explainModel(const CompileOptions &options,
                    const ExplainOptions &explainOptions,
                    ExplainedModel &explained, const Listener &listener = {});

} // namespace pcc

#endif // PCC_PASSES_COMPILE_H
