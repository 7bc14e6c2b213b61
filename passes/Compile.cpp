//===- Compile.cpp - from a model to a bundle -----------------------------===//

#include "passes/Compile.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "passes/1-import/Import.h"
#include "passes/7-emit/Emit.h"
#include "passes/CompileReport.h"
#include "passes/Diagnostics.h"
#include "passes/Pipeline.h"
#include "passes/Record.h"
#include "passes/Register.h"
#include "passes/interpret/Verify.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <limits>

using namespace mlir;
using namespace pcc;

namespace {
/// Remembers which pass failed.
struct FailedPass : PassInstrumentation {
  explicit FailedPass(std::string &argument) : argument(argument) {}
  void runAfterPassFailed(Pass *pass, Operation *) override {
    if (argument.empty())
      argument = pass->getArgument().str();
  }
  std::string &argument;
};

/// One model on its way through the phases.
class Compilation {
public:
  Compilation(const CompileOptions &options, const Listener &listener)
      : options(options), listener(listener),
        context(registry(), MLIRContext::Threading::DISABLED),
        diagnostics(&context, listener) {
    context.loadAllAvailableDialects();
  }

  /// Loads the model and runs all phases up to `last`, the writing of the
  /// bundle not included.
  Outcome runTo(Phase last) {
    if (Outcome outcome = checkOptions(options); !outcome.ok())
      return outcome;
    bool isText = llvm::sys::path::extension(options.model) == ".mlir";
    report.begin(Phase::Import);
    Outcome loaded = isText ? loadText() : loadOnnx();
    if (!loaded.ok())
      return loaded;
    for (Phase phase = after(phaseOf(*module)); phase <= last;
         phase = after(phase))
      if (Outcome outcome = runPhase(phase); !outcome.ok())
        return outcome;
    return {};
  }

  ModuleOp getModule() { return *module; }
  CompileReport report;

private:
  static DialectRegistry registry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  Outcome loadOnnx() {
    if (options.startAt.value_or(Phase::Import) != Phase::Import)
      return {2,
              "--start-at " + std::string(folderOf(*options.startAt)) +
                  " needs the dump of the phase before it, not an .onnx file",
              {}};
    ImportOptions import;
    import.dims = options.dims;
    import.shapes = options.shapes;
    import.externalDataRoot = options.externalDataRoot;
    import.allowAbsentWeights = options.randomWeights.has_value();
    import.command = options.command;
    ImportError error;
    auto imported = importOnnx(options.model, import, &context, error);
    if (failed(imported)) {
      report.unsupported = error.unsupported;
      return {error.exitCode, error.message, error.notes};
    }
    module = std::move(*imported);
    return recordOptions(*module, options);
  }

  /// A dump of any phase, or a model in the graph dialect, which passes through
  /// the import's gate as well.
  Outcome loadText() {
    if (!llvm::sys::fs::exists(options.model))
      return {3, "cannot read '" + options.model + "': no such file", {}};
    module = parseSourceFile<ModuleOp>(options.model, ParserConfig(&context));
    if (!module)
      return diagnostics.outcome(3);
    Phase passed = phaseOf(*module);
    if (options.startAt && *options.startAt != after(passed))
      return {2,
              "--start-at " + std::string(folderOf(*options.startAt)) +
                  " does not fit: '" + options.model + "' is a dump of " +
                  (passed == Phase::None ? "no phase"
                                         : std::string(folderOf(passed))),
              {}};
    if (passed != Phase::None)
      return checkRepeated(*module, options);
    return recordOptions(*module, options);
  }

  Outcome runPhase(Phase phase) {
    listener.onPhase(phase);
    report.begin(phase);
    std::string failedPass;
    PassManager manager(&context);
    manager.enableVerifier(true);
    manager.addInstrumentation(std::make_unique<FailedPass>(failedPass));
    addPhase(manager, phase);
    if (failed(manager.run(*module)))
      return diagnostics.outcome(exitCodeOf(phase, failedPass));
    setPhase(*module, phase);
    report.end();
    return dump(phase);
  }

  Outcome dump(Phase phase) {
    if (options.dumpDirectory.empty())
      return {};
    llvm::SmallString<128> path(options.dumpDirectory);
    std::error_code error = llvm::sys::fs::create_directories(path);
    llvm::sys::path::append(path, std::string(folderOf(phase)) + ".mlir");
    if (!error) {
      llvm::raw_fd_ostream file(path, error);
      module->print(file,
                    OpPrintingFlags().enableDebugInfo().useLocalScope(false));
      file.flush();
      if (file.has_error())
        error = file.error(), file.clear_error();
    }
    if (error)
      return {
          7, "cannot write '" + path.str().str() + "': " + error.message(), {}};
    return {};
  }

  /// What no model could meet.
  static Outcome checkOptions(const CompileOptions &options) {
    double world = options.axis("pp");
    for (const char *axis : {"tp", "dp", "cp"})
      world *= options.mesh.empty() ? options.axis(axis) : 1;
    for (auto &[name, size] : options.mesh)
      world *= size;
    if (world > 65536)
      return {2,
              "a world of " + std::to_string(static_cast<int64_t>(world)) +
                  " ranks is more than 65536",
              {}};
    return {};
  }

  const CompileOptions &options;
  const Listener &listener;
  MLIRContext context;
  Diagnostics diagnostics;
  OwningOpRef<ModuleOp> module;
};
} // namespace

/// The report is written on failure as well: it lists what is unsupported.
static Outcome finish(const CompileOptions &options, CompileReport &report,
                      Outcome outcome) {
  if (options.report.empty())
    return outcome;
  Outcome written = report.write(options.report, outcome);
  return outcome.ok() ? written : outcome;
}

Outcome pcc::compile(const CompileOptions &options, const Listener &listener) {
  Compilation compilation(options, listener);
  Phase last = options.stopAfter.value_or(lastPhase);
  Outcome outcome = compilation.runTo(last);
  if (outcome.ok() && last == lastPhase) {
    runtime::Status written = emit::writeBundle(
        compilation.getModule(), {options.bundle, options.packWeights});
    outcome = {written.code(), written.message(), written.notes()};
  }
  return finish(options, compilation.report, outcome);
}

Outcome pcc::verify(const CompileOptions &options,
                    const VerifyOptions &verifyOptions,
                    const Listener &listener) {
  // The model as imported is what the user wrote; everything behind it is what
  // is checked.
  Compilation whole(options, listener), parts(options, listener);
  if (Outcome outcome = whole.runTo(Phase::Import); !outcome.ok())
    return outcome;
  if (Outcome outcome = parts.runTo(Phase::Schedule); !outcome.ok())
    return outcome;
  interpret::Verdict verdict = interpret::compare(
      whole.getModule(), parts.getModule(),
      {verifyOptions.inputs, verifyOptions.report, verifyOptions.modelTypes});
  return {verdict.exitCode, verdict.error, verdict.notes};
}
