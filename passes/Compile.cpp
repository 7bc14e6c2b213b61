//===- Compile.cpp - from a model to a bundle -----------------------------===//

#include "passes/Compile.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "passes/1-import/Import.h"
#include "passes/7-emit/Emit.h"
#include "passes/7-emit/link/InstructionSets.h"
#include "passes/CompileReport.h"
#include "passes/CrashGuard.h"
#include "passes/Defect.h"
#include "passes/Diagnostics.h"
#include "passes/Outputs.h"
#include "passes/Pipeline.h"
#include "passes/Record.h"
#include "passes/Register.h"
#include "passes/interpret/Verify.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace pcc;

namespace {
/// Remembers which pass failed, and whether it left IR that is not valid: the
/// user cannot cause that.
struct FailedPass : PassInstrumentation {
  FailedPass(std::string &argument, bool &leftInvalid)
      : argument(argument), leftInvalid(leftInvalid) {}
  void runAfterPassFailed(Pass *pass, Operation *op) override {
    if (!argument.empty())
      return;
    argument = pass->getArgument().str();
    leftInvalid = failed(verify(op));
  }
  std::string &argument;
  bool &leftInvalid;
};

/// One model on its way through the phases.
class Compilation {
public:
  Compilation(const CompileOptions &options, const Listener &outside)
      : options(options), listener(keepNotes(outside)),
        context(registry(), MLIRContext::Threading::DISABLED),
        diagnostics(&context, listener) {
    context.loadAllAvailableDialects();
    // A message is one line, not a module.
    context.printOpOnDiagnostic(false);
  }

  /// Loads the model and runs all phases up to `last`, the writing of the
  /// bundle not included.
  Outcome runTo(Phase last) {
    bool isText = llvm::sys::path::extension(options.model) == ".mlir";
    current = Phase::Import;
    report.begin(current);
    if (Outcome outcome =
            guarded([&] { return isText ? loadText() : loadOnnx(); });
        !outcome.ok())
      return outcome;
    if (Outcome outcome = checkInstructionSets(); !outcome.ok())
      return outcome;
    for (Phase phase = after(phaseOf(*module)); phase <= last;
         phase = after(phase))
      if (Outcome outcome = runPhase(phase); !outcome.ok())
        return outcome;
    return {};
  }

  Outcome writeBundle() {
    return guarded([&]() -> Outcome {
      runtime::Status status =
          emit::writeBundle(*module, {options.bundle, options.packWeights});
      if (status.code() == runtime::Defect)
        return defect(status.message());
      return {status.code(), status.message(), status.notes()};
    });
  }

  /// After a crash nothing here may be destroyed.
  bool hasCrashed() const { return crashed; }
  ModuleOp getModule() { return *module; }
  CompileReport report;

private:
  static DialectRegistry registry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  /// A listener that hears each note once, and writes them into the report.
  Listener keepNotes(const Listener &outside) {
    Listener both = outside;
    both.onNote = [this, &outside](const std::string &note) {
      if (llvm::is_contained(report.notes, note))
        return;
      report.notes.push_back(note);
      outside.onNote(note);
    };
    return both;
  }

  Outcome guarded(llvm::function_ref<Outcome()> body) {
    Outcome outcome;
    std::string why;
    if (survives([&] { outcome = body(); }, why))
      return outcome;
    crashed = true;
    return defect("pcc crashed: " + why);
  }

  /// A mistake of pcc in the current phase: the input of the phase is kept as a
  /// reproducer.
  Outcome defect(const std::string &what) {
    return reportDefect(current, what, options, before ? *before : ModuleOp());
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
    return resume(*module, options);
  }

  /// Kernels come last; that nothing is called so is said first.
  Outcome checkInstructionSets() {
    std::vector<std::string> cpus;
    runtime::Status known = emit::instructionSetsOf(*module, cpus);
    if (known.ok())
      return {};
    return {known.code(), "--cpu: " + known.message(), known.notes()};
  }

  Outcome runPhase(Phase phase) {
    current = phase;
    listener.onPhase(phase);
    report.begin(phase);
    before = cast<ModuleOp>((*module)->clone());
    if (Outcome outcome = guarded([&] { return runPasses(phase); });
        !outcome.ok())
      return outcome;
    setPhase(*module, phase);
    report.end();
    return dump(phase);
  }

  Outcome runPasses(Phase phase) {
    std::string failedPass;
    bool leftInvalid = false;
    PassManager manager(&context);
    manager.addInstrumentation(
        std::make_unique<FailedPass>(failedPass, leftInvalid));
    addPhase(manager, phase);
    if (succeeded(manager.run(*module)))
      return {};
    int exitCode = leftInvalid ? 1 : exitCodeOf(phase, failedPass);
    Outcome outcome = diagnostics.outcome(exitCode);
    return outcome.exitCode == 1 ? defect(outcome.error) : outcome;
  }

  Outcome dump(Phase phase) {
    if (options.dumpDirectory.empty())
      return {};
    llvm::SmallString<128> path(options.dumpDirectory);
    std::error_code error = llvm::sys::fs::create_directories(path);
    llvm::sys::path::append(path, std::string(folderOf(phase)) + ".mlir");
    if (error)
      return {
          7, "cannot write '" + path.str().str() + "': " + error.message(), {}};
    return writeModule(*module, path.str().str());
  }

  const CompileOptions &options;
  Listener listener;
  MLIRContext context;
  Diagnostics diagnostics;
  OwningOpRef<ModuleOp> module;
  /// What the current phase began with.
  OwningOpRef<ModuleOp> before;
  Phase current = Phase::Import;
  bool crashed = false;
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

/// `use` gets a compilation of `options`, which is not destroyed after a crash.
static Outcome withCompilation(const CompileOptions &options,
                               const Listener &listener,
                               llvm::function_ref<Outcome(Compilation &)> use) {
  auto compilation = std::make_unique<Compilation>(options, listener);
  Outcome outcome = use(*compilation);
  if (compilation->hasCrashed())
    (void)compilation.release();
  return outcome;
}

Outcome pcc::compile(const CompileOptions &options, const Listener &listener) {
  if (Outcome outcome = checkOptions(options); !outcome.ok())
    return outcome;
  if (Outcome outcome = checkOutputs(options); !outcome.ok())
    return outcome;
  return withCompilation(options, listener, [&](Compilation &compilation) {
    Phase last = options.stopAfter.value_or(lastPhase);
    Outcome outcome = compilation.runTo(last);
    if (outcome.ok() && last == lastPhase)
      outcome = compilation.writeBundle();
    return finish(options, compilation.report, outcome);
  });
}

Outcome pcc::verify(const CompileOptions &options,
                    const VerifyOptions &verifyOptions,
                    const Listener &listener) {
  if (Outcome outcome = checkOptions(options); !outcome.ok())
    return outcome;
  // The model as imported is what the user wrote; everything behind it is what
  // is checked.
  CompileOptions importOnly = options;
  importOnly.dumpDirectory.clear();
  return withCompilation(importOnly, Listener(), [&](Compilation &whole) {
    if (Outcome outcome = whole.runTo(Phase::Import); !outcome.ok())
      return outcome;
    return withCompilation(options, listener, [&](Compilation &parts) {
      if (Outcome outcome = parts.runTo(Phase::Schedule); !outcome.ok())
        return outcome;
      interpret::Verdict verdict;
      std::string why;
      auto compare = [&] {
        verdict =
            interpret::compare(whole.getModule(), parts.getModule(),
                               {verifyOptions.inputs, verifyOptions.report,
                                verifyOptions.modelTypes});
      };
      if (!survives(compare, why))
        return reportDefect(Phase::Schedule, "the interpreter crashed: " + why,
                            options, parts.getModule());
      return Outcome{verdict.exitCode, verdict.error, verdict.notes};
    });
  });
}
