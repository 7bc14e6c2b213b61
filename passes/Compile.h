//===- Compile.h - the compiler's entry points ----------------------------===//
//
// Plain C++: what tools and bindings include sees no MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_COMPILE_H
#define PCC_PASSES_COMPILE_H

#include "passes/Options.h"
#include "runtime/program/ElementType.h"
#include "runtime/program/Status.h"

#include <cstddef>
#include <functional>
#include <span>

namespace pcc {

/// How a command ended: an exit code of the interface, and what to tell the
/// user.
struct Outcome {
  int exitCode = 0;
  /// One line that begins in lower case; empty if all went well.
  std::string error;
  std::vector<std::string> notes;

  bool ok() const { return exitCode == 0; }
};

Outcome outcomeOf(const runtime::Status &status);

struct PhaseFacts {
  std::string name;
  double seconds = 0;
  int64_t peakMemoryBytes = 0;
};

/// The exit code of a command that was given up; no command of the tool ends
/// with it.
inline constexpr int givenUpCode = 130;

/// Told, and asked, while a command runs.
struct Listener {
  std::function<void(Phase)> onPhase = [](Phase) {};
  std::function<void(const std::string &)> onNote = [](const std::string &) {};
  /// Whether to end instead of beginning the next phase.
  std::function<bool()> isGivenUp = [] { return false; };
};

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

/// An initializer of a model that gets other elements.
struct ChangedWeight {
  std::string name;
  runtime::ElementType type = runtime::ElementType::F32;
  std::vector<int64_t> shape;
  /// Changes the elements, which are those of the model: dense, little-endian.
  std::function<runtime::Status(std::span<std::byte>)> change;
};

/// What `pcc checkpoint export` needs for a model.
struct ChangedModelOptions {
  std::string model;            ///< an .onnx file
  std::string externalDataRoot; ///< a further directory for its external data
  std::string output;           ///< another .onnx file
};

/// Writes the model with changed weights; nothing else of it changes. If it has
/// external data, or would exceed 2 GiB, all large weights go to one file
/// beside the output, OUTPUT.data. Nothing is left behind on failure.
Outcome writeChangedModel(const ChangedModelOptions &options,
                          const std::vector<ChangedWeight> &weights);

} // namespace pcc

#endif // PCC_PASSES_COMPILE_H
