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

/// Compiles the model `options.model`. Writes the result to the path
/// `options.bundle`:
///  - if `options.emitsOnnx` is false: the bundle, a directory with one
///    executable per rank. The compilation runs all phases up to 7-emit.
///  - if `options.emitsOnnx` is true: a copy of the ONNX model. Annotations in
///    the copy state the shardings and pipeline stages that pcc has chosen. The
///    compilation runs only the phases up to 4-shard.
///
/// The member `options.stopAfter` can end the compilation after an earlier
/// phase. The compilation then writes no result. With or without a result, the
/// compilation also writes the report and the IR dumps that `options` requests.
///
/// Returns the first error. After an error, no incomplete bundle or copy
/// remains.
Status compile(const CompileOptions &options, const Listener &listener = {});

/// Arguments of VerifyOptions::run: a bundle to run on all its ranks.
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
  /// Path of the JSON report with the results of all comparisons. If empty, no
  /// report is written.
  std::string report;
  /// --dtype model: the precision in which `pcc verify` executes and compares
  /// the unpartitioned model and the partitioned model.
  ///  - true: rounds each result of an op to the element type that the model
  ///    has for this result, such as f16.
  ///  - false: keeps all floating-point results in f64.
  bool modelTypes = false;
  /// Callback for `--run`: runs a bundle on all its ranks and writes the
  /// outputs. If it is set, `pcc verify` compares these outputs with those of
  /// the unpartitioned model.
  std::function<Status(BundleRun &)> run = {};
  /// Existing directory for the bundle, inputs and outputs that `run` uses.
  /// Unused if `run` is null.
  std::string scratch = {};
};

/// Partitions the model, executes the partitioned model on simulated ranks, and
/// compares the outputs with those of the unpartitioned model. On success,
/// stores the largest numeric errors in `verdict`, as one line. Errors:
///  - exit code 15: an output of the partitioned model differs from the same
///    output of the unpartitioned model.
///  - exit code 15: an output of the partitioned model is inaccurate. For this
///    check, both models compute in the element types that the model has, such
///    as f16. The error of an output is its difference from the f64 result. An
///    output is inaccurate if its error is much larger in the partitioned model
///    than in the unpartitioned model. The function accuracyOf() defines the
///    limit.
///  - any other exit code: the compilation or another step fails, for example
///    because a file cannot be read.
Status verify(const CompileOptions &options, const VerifyOptions &verifyOptions,
              std::string &verdict, const Listener &listener = {});

/// Options of `pcc explain`, in addition to those of compile.
struct ExplainOptions {
  /// Name or glob of the values to explain. If empty, all collectives and lints
  /// (warnings about suspicious shardings) are explained.
  std::string value;
  /// Whether the explanation is JSON instead of text for the terminal.
  bool json = false;
};

/// Compiles the model `options.model` without writing a bundle, and stores a
/// text in `text` that explains the communication of the compiled model. The
/// text contains:
///  - for each collective: the op that produces its operand, the ops that read
///    its result, its predicted time, and the shardings of these ops that pcc
///    has considered and rejected;
///  - lints (warnings about suspicious shardings).
///
/// The user can also ask for the explanation of single values (tensors). The
/// name or glob `explainOptions.value` selects these values. The explanation of
/// a value states its sharding and the reasons for this sharding. If
/// `explainOptions.value` is not empty, `text` contains:
///  - if `explainOptions.json` is true: the collectives, the lints and the
///    selected values;
///  - if `explainOptions.json` is false: only the selected values.
Status explainModel(const CompileOptions &options,
                    const ExplainOptions &explainOptions, std::string &text,
                    const Listener &listener = {});

} // namespace pcc

#endif // PCC_PASSES_COMPILE_H
