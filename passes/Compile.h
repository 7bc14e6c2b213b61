//===- Compile.h - the compiler's entry points ----------------------------===//
//
// Plain C++: what tools and bindings include sees no MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_COMPILE_H
#define PCC_PASSES_COMPILE_H

#include "passes/Options.h"
#include "passes/Outcome.h"
#include "passes/annotate/ModelWithWeights.h"

namespace pcc {

/// Compiles `options.model` and writes the bundle, or the annotated model if
/// that was asked for, unless `stopAfter` ends it
/// earlier. Nothing is left behind on failure.
Outcome compile(const CompileOptions &options, const Listener &listener = {});

/// A run of a bundle on all its ranks.
struct BundleRun {
  std::string bundle;
  std::map<std::string, std::string> inputs; ///< .npy files by name
  std::string outputs;                       ///< the folder for them
};

/// What `pcc verify` needs beyond the options of compile.
struct VerifyOptions {
  /// NAME=FILE.npy.
  std::vector<std::string> inputs;
  std::string report;
  /// `--dtype model`: the model's own types in place of f64.
  bool modelTypes = false;
  /// `--run`: executables are compiled as well, run by this and compared.
  std::function<Outcome(const BundleRun &)> run = {};
  /// Where `run` has its bundle, inputs and outputs: a folder that is there.
  std::string scratch = {};
};

/// Executes the action tables of all ranks on simulated ranks and compares with
/// the unpartitioned model.
Outcome verify(const CompileOptions &options,
               const VerifyOptions &verifyOptions,
               const Listener &listener = {});

/// What `pcc explain` needs beyond the options of compile.
struct ExplainOptions {
  /// Only this value, by name or glob; empty: all collectives and lints.
  std::string value;
  bool json = false;
};

/// Decides everything that a compilation would, emits nothing, and writes to
/// `text` why each collective is there, what it costs, what else could have
/// been, and what looks wrong.
Outcome explainModel(const CompileOptions &options,
                     const ExplainOptions &explainOptions, std::string &text,
                     const Listener &listener = {});

} // namespace pcc

#endif // PCC_PASSES_COMPILE_H
