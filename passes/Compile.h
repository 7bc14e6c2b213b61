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

/// Compiles the model `options.model`. Writes one output to `options.bundle`:
///  - the bundle, which is the directory with the compiled programs;
///  - or, if `options.emitsOnnx`, an annotated copy of the ONNX model;
///  - or nothing, if `options.stopAfter` ends the compilation earlier.
/// Also writes the report and the IR dumps that `options` requests.
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
  /// Number of training steps; 1 for inference. All have the same inputs.
  int steps = 1;
  /// Empty directory for parameters. The callback writes those after the last
  /// training step as .npy files, and adds their paths by name to `parameters`.
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
  /// Whether values are computed in the model's own element types (`--dtype
  /// model`) instead of f64.
  bool modelTypes = false;
  /// Callback for `--run`: runs a bundle on all its ranks and writes the
  /// outputs. If it is set, `pcc verify` compares these outputs with those of
  /// the unpartitioned model.
  std::function<Status(BundleRun &)> run = {};
  /// Existing directory for the bundle, inputs and outputs that `run` uses.
  /// Unused if `run` is null.
  std::string scratch = {};
};

/// Executes the compiled plan on simulated ranks and compares the outputs with
/// those of the unpartitioned model. On success, stores the largest numeric
/// errors in `verdict`, as one line. Errors:
///  - exit code 15: a value differs, or the ranks lose far more accuracy than
///    one rank;
///  - any other exit code: the compilation fails.
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

/// Runs the phases up to 6-schedule, writes no bundle, and stores an
/// explanation in `text`:
///  - for each collective: its cause, its predicted time and the alternatives;
///  - lints (warnings about suspicious shardings).
///
/// If `explainOptions.value` is set, values with matching names are explained,
/// too. The text for the terminal then explains only these values.
Status explainModel(const CompileOptions &options,
                    const ExplainOptions &explainOptions, std::string &text,
                    const Listener &listener = {});

} // namespace pcc

#endif // PCC_PASSES_COMPILE_H
