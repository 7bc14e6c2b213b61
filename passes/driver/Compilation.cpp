//===- Compilation.cpp - one model on its way through the phases ----------===//

#include "passes/driver/Compilation.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "passes/1-import/Import.h"
#include "passes/7-emit/Emit.h"
#include "passes/7-emit/link/InstructionSets.h"
#include "passes/Pipeline.h"
#include "passes/Register.h"
#include "passes/annotate/AnnotatedModel.h"
#include "passes/driver/CrashGuard.h"
#include "passes/driver/FitMemory.h"
#include "passes/driver/FitRecompute.h"
#include "passes/driver/InternalError.h"
#include "passes/driver/ReadModule.h"
#include "passes/options/OptionAttrs.h"
#include "runtime/base/ScopedFolder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace pcc;

namespace {
/// Records the name of the first pass that fails, and whether the pass left
/// invalid IR. Invalid IR is a defect of pcc: no input may cause it.
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

} // namespace

/// Returns a registry that contains all dialects of pcc.
static DialectRegistry registry() {
  DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

Compilation::Compilation(const CompileOptions &options, const Listener &outside)
    : options(options), listener(keepNotes(outside)),
      context(registry(), MLIRContext::Threading::DISABLED),
      diagnostics(&context, listener) {
  context.loadAllAvailableDialects();
  // Error messages must be one line, so diagnostics must not print ops.
  context.printOpOnDiagnostic(false);
}

Outcome Compilation::load() {
  bool isText = llvm::sys::path::extension(options.model) == ".mlir";
  current = Phase::Import;
  report.begin(current);
  Outcome outcome =
      runGuarded([&] { return isText ? loadText() : loadOnnx(); });
  return outcome.ok() ? checkInstructionSets() : outcome;
}

Outcome Compilation::advanceTo(Phase last) {
  for (Phase phase = after(phaseOf(*module)); phase <= last;
       phase = after(phase)) {
    if (listener.isGivenUp())
      return {givenUpCode, "given up", {}};
    if (phase == Phase::Shard)
      if (Outcome outcome = runGuarded([&] { return fitMemory(); });
          !outcome.ok())
        return outcome;
    if (phase == Phase::Schedule)
      if (Outcome outcome = runGuarded([&] { return fitRecompute(); });
          !outcome.ok())
        return outcome;
    if (Outcome outcome = runPhase(phase); !outcome.ok())
      return outcome;
  }
  return {};
}

/// Diagnostics of the trial are dropped: if a phase fails here, it fails again
/// in the real run, which reports the error.
bool Compilation::canRunRest(ModuleOp copy, Phase first) {
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) {});
  PassManager manager(&context);
  for (Phase phase = first; phase <= lastPhase; phase = after(phase))
    addPhase(manager, phase);
  return succeeded(manager.run(copy));
}

Outcome Compilation::fitMemory() {
  return pcc::fitMemory(
      *module, [&](ModuleOp copy) { return canRunRest(copy, Phase::Shard); },
      listener);
}

Outcome Compilation::fitRecompute() {
  return pcc::fitRecompute(
      *module, [&](ModuleOp copy) { return canRunRest(copy, Phase::Schedule); },
      listener);
}

Outcome Compilation::writeBundle(const std::string &bundle) {
  return runGuarded([&]() -> Outcome {
    runtime::Status status =
        emit::writeBundle(*module, {bundle, options.packWeights,
                                    options.scheduleSvg, options.trace});
    if (status.code() == runtime::Defect)
      return internalError(status.message());
    return outcomeOf(status);
  });
}

Outcome Compilation::writeOnnx(const std::string &path) {
  if (phaseOf(*module) > Phase::Shard)
    return {2,
            "--emit onnx needs a model, or a dump of no later phase than "
            "4-shard",
            {}};
  return runGuarded(
      [&] { return writeAnnotatedModel(*module, path, listener); });
}

/// Passes may emit the same note for several ops or in several trial runs, but
/// users see it once.
Listener Compilation::keepNotes(const Listener &outside) {
  Listener both = outside;
  both.onNote = [this, &outside](const std::string &note) {
    if (llvm::is_contained(report.notes, note))
      return;
    report.notes.push_back(note);
    outside.onNote(note);
  };
  return both;
}

Outcome Compilation::runGuarded(llvm::function_ref<Outcome()> body) {
  Outcome outcome;
  std::string why;
  if (runsWithoutCrash([&] { outcome = body(); }, why))
    return outcome;
  crashed = true;
  runtime::ScopedFolder::removeAll();
  return internalError("pcc crashed: " + why);
}

/// The module at the start of the current phase becomes the reproducer. While
/// the model is being loaded, there is none.
Outcome Compilation::internalError(const std::string &what) {
  return reportInternalError(current, what, options,
                             before ? *before : ModuleOp());
}

/// Returns the mesh axes that the user gives, with their sizes, major to minor.
/// Returns nullopt if the user gives none, so that the model's annotations
/// decide.
static std::optional<std::vector<std::pair<std::string, int64_t>>>
axesOf(const CompileOptions &options) {
  if (!options.mesh.empty())
    return options.mesh;
  std::vector<std::pair<std::string, int64_t>> axes;
  bool isGiven = false;
  for (const char *name : {"dp", "cp", "tp"}) {
    axes.push_back({name, options.axis(name)});
    isGiven |= options.axes.count(name) != 0;
  }
  return isGiven ? std::optional(axes) : std::nullopt;
}

/// Returns how the import treats Dropout nodes, as --train and --dropout
/// require.
static ImportOptions::Dropout dropoutOf(const TrainingOptions &training) {
  using Dropout = ImportOptions::Dropout;
  if (!training.train)
    return Dropout::Inference;
  if (training.dropout.empty())
    return Dropout::AsSaid;
  return training.dropout == "on" ? Dropout::Always : Dropout::Never;
}

Outcome Compilation::loadOnnx() {
  if (options.startAt.value_or(Phase::Import) != Phase::Import)
    return {2,
            "--start-at " + std::string(folderOf(*options.startAt)) +
                " needs the dump of the phase before it, not an .onnx file",
            {}};
  ImportOptions import;
  import.dims = options.dims;
  import.shapes = options.shapes;
  import.externalDataRoot = options.externalDataRoot;
  import.dropout = dropoutOf(options.training);
  import.trainingInfo = options.training.train && options.training.loss.empty();
  (void)StringRef(options.training.seed).getAsInteger(10, import.seed);
  import.allowAbsentWeights = options.randomWeights.has_value();
  import.mesh = axesOf(options);
  if (options.axes.count("pp"))
    import.pipeline = options.axis("pp");
  import.virtualStages = options.virtualStages.value_or(1);
  import.configuration = options.configuration;
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

/// Loads a .mlir file: the dump of a phase, or a model in the graph dialect. A
/// model must pass the verification gate of phase 1-import, as an imported one
/// does.
Outcome Compilation::loadText() {
  if (!llvm::sys::fs::exists(options.model))
    return {3, "cannot read '" + options.model + "': no such file", {}};
  module = readModule(options.model, &context);
  if (!module)
    return diagnostics.outcome(3);
  return resumeFromDump(*module, options);
}

/// Reports an unknown --cpu right after the model is loaded, because kernels
/// are compiled only at the end.
Outcome Compilation::checkInstructionSets() {
  std::vector<std::string> cpus;
  runtime::Status known = emit::instructionSetsOf(*module, cpus);
  if (known.ok())
    return {};
  return {known.code(), "--cpu: " + known.message(), known.notes()};
}

Outcome Compilation::runPhase(Phase phase) {
  current = phase;
  listener.onPhase(phase);
  report.begin(phase);
  before = cast<ModuleOp>((*module)->clone());
  if (Outcome outcome = runGuarded([&] { return runPasses(phase); });
      !outcome.ok())
    return outcome;
  setPhase(*module, phase);
  report.end();
  return dump(phase);
}

/// A failed verification gate or a pass that leaves invalid IR is a defect of
/// pcc: the result is an internal error (exit code 1) with a reproducer.
Outcome Compilation::runPasses(Phase phase) {
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
  return outcome.exitCode == 1 ? internalError(outcome.error) : outcome;
}

Outcome Compilation::dump(Phase phase) {
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

Outcome pcc::withCompilation(const CompileOptions &options,
                             const Listener &listener,
                             llvm::function_ref<Outcome(Compilation &)> use) {
  auto compilation = std::make_unique<Compilation>(options, listener);
  Outcome outcome = use(*compilation);
  if (compilation->hasCrashed())
    (void)compilation.release();
  return outcome;
}
