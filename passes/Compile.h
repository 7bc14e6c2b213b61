//===- Compile.h - entry points: compile, verify and explain --------------===//
//
// Plain C++: this header and all headers that it includes are free of MLIR, so
// that tools and bindings need no MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_COMPILE_H
#define PCC_PASSES_COMPILE_H

#include "passes/Options.h"
#include "passes/Outcome.h"
#include "passes/annotate/ModelWithWeights.h"

namespace pcc {

/// Compiles `options.model` and writes the bundle to `options.bundle`; with
/// `emitsOnnx`, writes the annotated model there instead. Ends without either
/// if `options.stopAfter` names an earlier phase. Writes the report and the
/// dumps that `options` asks for. Returns the first error; no bundle or model
/// is left behind then.
Outcome compile(const CompileOptions &options, const Listener &listener = {});

/// Request to run a bundle on all its ranks.
struct BundleRun {
  /// Path of the bundle.
  std::string bundle;
  /// Paths of .npy files, by the names of the inputs.
  std::map<std::string, std::string> inputs;
  /// Folder that the outputs are written to.
  std::string outputs;
};

/// Options of `pcc verify` in addition to those of compile.
struct VerifyOptions {
  /// Inputs as NAME=FILE.npy. Inputs that are not given get seeded random
  /// values.
  std::vector<std::string> inputs;
  /// Path of the JSON report; empty for none.
  std::string report;
  /// Whether values are computed in the model's own types (`--dtype model`)
  /// instead of f64.
  bool modelTypes = false;
  /// Function that runs a bundle and writes its outputs (`--run`). If it is
  /// set, executables are compiled, too, and their outputs are compared.
  std::function<Outcome(const BundleRun &)> run = {};
  /// Existing folder for the bundle, inputs and outputs of `run`. Unused if
  /// `run` is not set.
  std::string scratch = {};
};

/// Executes the action tables of all ranks on simulated ranks and compares the
/// outputs with those of the unpartitioned model. Returns exit code 15 if a
/// value differs, or the exit code of the compilation if that fails.
Outcome verify(const CompileOptions &options,
               const VerifyOptions &verifyOptions,
               const Listener &listener = {});

/// Options of `pcc explain` in addition to those of compile.
struct ExplainOptions {
  /// Name or glob of the values to explain. If it is empty, all collectives and
  /// lints are explained.
  std::string value;
  /// Whether the text is JSON instead of prose.
  bool json = false;
};

/// Runs the phases up to 6-schedule, emits nothing, and writes an explanation
/// to `text`: the cause of each collective, its price, the alternatives, and
/// lints. If `explainOptions.value` is set, prose explains only the values that
/// match it, and JSON lists them in addition.
Outcome explainModel(const CompileOptions &options,
                     const ExplainOptions &explainOptions, std::string &text,
                     const Listener &listener = {});

} // namespace pcc

#endif // PCC_PASSES_COMPILE_H
