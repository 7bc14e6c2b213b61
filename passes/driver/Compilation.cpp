//===- Compilation.cpp - one model on its way through the phases ----------===//

#include "passes/driver/Compilation.h"
#include "dialects/dist/NamePattern.h"
#include "dialects/pcc/PccDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "passes/1-import/Import.h"
#include "passes/1-import/transformer/TransformerGraph.h"
#include "passes/7-emit/Emit.h"
#include "passes/7-emit/link/InstructionSets.h"
#include "passes/OutputPaths.h"
#include "passes/Pipeline.h"
#include "passes/Register.h"
#include "passes/annotate/AnnotatedModel.h"
#include "passes/driver/CrashGuard.h"
#include "passes/driver/DumpRules.h"
#include "passes/driver/DumpSeal.h"
#include "passes/driver/DumpWeights.h"
#include "passes/driver/FitMemory.h"
#include "passes/driver/FitRecompute.h"
#include "passes/driver/InternalError.h"
#include "passes/driver/ReadModule.h"
#include "passes/options/OptionAttrs.h"
#include "passes/options/SettledOptions.h"
#include "passes/options/TrainingOptionAttrs.h"
#include "runtime/base/Exhaustion.h"
#include "runtime/base/ScopedFolder.h"
#include "status/ShellWord.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace pcc;

namespace {
/// Observes the passes of a pass manager. When a pass fails, the object stores
/// the name of the pass in the string `argument`. If a name is already stored,
/// the object keeps it. The name is the name of the pass on the command line,
/// such as "cut-stages".
struct FailedPass : PassInstrumentation {
  explicit FailedPass(std::string &argument) : argument(argument) {}
  void runAfterPassFailed(Pass *pass, Operation *) override {
    if (argument.empty())
      argument = pass->getArgument().str();
  }
  std::string &argument;
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

Status Compilation::load() {
  current = Phase::Import;
  report.begin(current);
  Status status = runGuarded(
      [&] { return options.transformer.empty() ? loadFile() : makeModel(); });
  return status.ok() ? checkInstructionSets() : placed(status, Phase::None);
}

Status Compilation::loadFile() {
  PCC_RETURN_IF_ERROR(checkIsNoBundle(options.model));
  bool isText = llvm::sys::path::extension(options.model) == ".mlir";
  return isText ? loadText() : loadOnnx();
}

Status Compilation::loadWithPlaces() {
  hasPlaces = true;
  return load();
}

Status Compilation::advanceTo(Phase last) {
  return placed(runPhases(last), last);
}

/// Returns whether `status` is an error that the text of a dump can cause.
static bool isMistake(const Status &status) {
  return status.code() == CannotRead || status.code() == CannotMeet;
}

Status Compilation::placed(const Status &status, Phase last) {
  const bool isEdited = isUnsealed && isDump && !hasPlaces && !crashed;
  if (!isEdited || !isMistake(status))
    return status;
  return located(findPlace(status, last));
}

Status Compilation::located(Status status) const {
  if (!isMistake(status) || !isUnsealed || !isDump ||
      StringRef(status.message()).starts_with(source.path + ":"))
    return status;
  return status.prefixed(diagnostics.placeOf((*module)->getLoc()));
}

Status Compilation::findPlace(const Status &unplaced, Phase last) {
  CompileOptions again = options;
  again.dumpDirectory.clear();
  const Listener silent;
  return withCompilation(again, silent, [&](Compilation &placed) {
    Status status = placed.loadWithPlaces();
    if (status.ok())
      status = placed.runPhases(last);
    return status.code() == unplaced.code() ? placed.located(status) : unplaced;
  });
}

Status Compilation::runPhases(Phase last) {
  for (Phase phase = after(phaseOf(*module)); phase <= last;
       phase = after(phase)) {
    if (listener.isGivenUp())
      return Status::error(givenUpCode, "given up");
    if (phase == Phase::Shard)
      PCC_RETURN_IF_ERROR(runGuarded([&] { return fitMemory(); }));
    if (phase == Phase::Schedule)
      PCC_RETURN_IF_ERROR(runGuarded([&] { return fitRecompute(); }));
    PCC_RETURN_IF_ERROR(runPhase(phase));
  }
  return Status::success();
}

/// Runs phase `first` and all later phases on `copy`. Does not show their
/// diagnostics to the user. If a phase also fails later, when advanceTo() runs
/// it on the module itself, advanceTo() reports the error.
bool Compilation::canRunRest(ModuleOp copy, Phase first) {
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) {});
  PassManager manager(&context);
  manager.enableVerifier(false);
  for (Phase phase = first; phase <= lastPhase; phase = after(phase))
    addPhase(manager, phase);
  return succeeded(manager.run(copy));
}

Status Compilation::fitMemory() {
  return pcc::fitMemory(
      *module, [&](ModuleOp copy) { return canRunRest(copy, Phase::Shard); },
      listener);
}

Status Compilation::fitRecompute() {
  return pcc::fitRecompute(
      *module, [&](ModuleOp copy) { return canRunRest(copy, Phase::Schedule); },
      listener);
}

std::string Compilation::dumpsText() const {
  return options.dumpDirectory.empty()
             ? ""
             : "\n  dumps: " + options.dumpDirectory + ", up to " +
                   std::string(folderOf(phaseOf(*module))) + ".mlir";
}

Status Compilation::writeBundle(const std::string &bundle,
                                const std::string &explanation) {
  std::string summary;
  report.beginBundle();
  PCC_RETURN_IF_ERROR(located(runGuarded([&] {
    return emit::writeBundle(*module,
                             {bundle, options.packWeights, options.scheduleSvg,
                              options.trace, explanation, &summary});
  })));
  report.endBundle();
  listener.onResult(bundle + ": " + summary + dumpsText() +
                    "\n  next: pcc run " + shellWord(bundle) +
                    ((*module)->hasAttr(graph::trainingName)
                         ? " --data DIR --steps 100 --save checkpoints"
                         : " --random-inputs 1"));
  return Status::success();
}

Status Compilation::writeText(const std::string &path) {
  const std::string phase(folderOf(phaseOf(*module)));
  if (path.empty()) {
    if (!options.dumpDirectory.empty())
      listener.onResult(options.dumpDirectory + ": the modules up to " + phase);
    else if (options.report.empty())
      listener.onNote("nothing is written; -o FILE.mlir writes the module "
                      "after " +
                      phase + ", -o - prints it");
    return Status::success();
  }
  PCC_RETURN_IF_ERROR(writeModule(*module, path, /*isOwn=*/!isUnsealed));
  const bool isNamedAsText = llvm::sys::path::extension(path) == ".mlir";
  const std::string next =
      isNamedAsText ? "pcc " + shellWord(path) + " --start-at " +
                          std::to_string(int(after(phaseOf(*module))))
                    : "name it FILE.mlir, which pcc takes as a model";
  if (path != "-")
    listener.onResult(path + ": the module after " + phase + dumpsText() +
                      "\n  next: " + next);
  return Status::success();
}

Status Compilation::writeOnnx(const std::string &path) {
  if (phaseOf(*module) > Phase::Shard)
    return Status::error(
        WrongUsage,
        "--emit onnx needs a model, or a dump of phase 4-shard or earlier");
  PCC_RETURN_IF_ERROR(
      runGuarded([&] { return writeAnnotatedModel(*module, path, listener); }));
  listener.onResult(path + ": the model with its shardings and stages" +
                    dumpsText() + "\n  next: pcc " + shellWord(path));
  return Status::success();
}

/// Returns a listener for the notes of the passes. The listener passes each
/// note to `outside`, the user's listener, and adds the note to the report. A
/// pass may emit an equal note for several ops. The listener ignores a note
/// that the report already contains.
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

Status Compilation::runGuarded(llvm::function_ref<Status()> body) {
  Status status;
  std::string why;
  const GuardedEnd end = runsWithoutCrash([&] { status = body(); }, why);
  if (end == GuardedEnd::Returned)
    return status.code() == Defect ? internalError(status.message()) : status;
  crashed = true;
  runtime::ScopedFolder::removeAll();
  if (end == GuardedEnd::Exhausted)
    return Status::error(NoDevice, why, {runtime::describeMemory()});
  return internalError("pcc crashed: " + why);
}

/// Returns an error that names a file with which a developer can reproduce the
/// defect. If the input is an edited or handwritten .mlir file, the error names
/// the input. Otherwise, the function writes the module `before` (the state
/// before the current phase) to a new file, and the error names this new file.
/// If no phase has started, the error names the file of the model.
Status Compilation::internalError(const std::string &what) {
  if (isUnsealed)
    return reportUnfitText(current, what, options, crashed)
        .prefixed(module ? diagnostics.placeOf((*module)->getLoc()) : "");
  return reportInternalError(current, what, options,
                             before ? *before : ModuleOp());
}

/// Returns the mesh axes of the user's options, major axis first: the axes of
/// --mesh, or dp, cp and tp if at least one of them is given. Otherwise,
/// returns nullopt, and annotations of the ONNX model define the mesh.
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

/// Returns the rule that decides which Dropout nodes drop elements. In
/// inference, no node drops elements. In training, all nodes do so with
/// --dropout on, and no node with --dropout off. In training without --dropout,
/// the input `training_mode` of each node decides.
static ImportOptions::Dropout dropoutOf(const TrainingOptions &training) {
  using Dropout = ImportOptions::Dropout;
  if (!training.train)
    return Dropout::Inference;
  if (training.dropout.empty())
    return Dropout::AsSaid;
  return training.dropout == "on" ? Dropout::Always : Dropout::Never;
}

/// Returns a function that tells, for the name of a weight, whether
/// --train-only and --freeze let pcc train the weight. Returns an empty
/// function for inference. Also returns an empty function without --loss,
/// because the ONNX model then defines the training step. The returned function
/// appends each name with which it is called to `asked`. It holds references to
/// `training` and `asked`, which must outlive it.
static std::function<bool(StringRef)>
trainedNames(const TrainingOptions &training, std::vector<std::string> &asked) {
  if (!training.train || training.loss.empty())
    return {};
  return [&](StringRef name) {
    const auto matches = [&](const std::string &pattern) {
      return dist::matchesName(pattern, name);
    };
    asked.push_back(name.str());
    return (training.trainOnly.empty() ||
            llvm::any_of(training.trainOnly, matches)) &&
           llvm::none_of(training.freeze, matches);
  };
}

Status Compilation::makeModel() {
  PCC_ASSIGN_OR_RETURN(const TransformerSpec spec,
                       parseTransformer(options.transformer));
  int64_t batch = 1;
  for (const auto &[name, size] : options.dims) {
    if (name != "batch" || size < 1)
      return Status::error(WrongUsage,
                           "--dim " + name + "=" + std::to_string(size) +
                               " does not fit; the only dynamic dim of a "
                               "--transformer is 'batch'");
    batch = size;
  }
  if (!options.shapes.empty())
    return Status::error(WrongUsage, "--shape needs a MODEL; --dim batch=N is "
                                     "the batch of a --transformer");
  if (const std::string why = describeTooLarge(spec, batch); !why.empty())
    return Status::error(WrongUsage, "--transformer: " + why);
  module = makeTransformer(spec, batch, &context);
  CompileOptions completed = options;
  if (options.training.train && options.training.loss.empty())
    completed.training.loss = "cross_entropy(logits, labels)";
  PCC_RETURN_IF_ERROR(
      checkWeightNames(*module, /*others=*/{}, completed.training));
  return recordOptions(*module, completed);
}

Status Compilation::loadOnnx() {
  if (options.startAt.value_or(Phase::Import) != Phase::Import)
    return Status::error(
        WrongUsage,
        "--start-at " + std::string(folderOf(*options.startAt)) +
            " needs the dump of the phase before it, not an .onnx file");
  ImportOptions import;
  import.dims = options.dims;
  import.shapes = options.shapes;
  import.externalDataRoot = options.externalDataRoot;
  import.dropout = dropoutOf(options.training);
  import.trainingInfo = options.training.train && options.training.loss.empty();
  std::vector<std::string> weights;
  import.trains = trainedNames(options.training, weights);
  (void)StringRef(options.training.seed).getAsInteger(10, import.seed);
  import.allowAbsentWeights = options.randomWeights.has_value();
  import.mesh = axesOf(options);
  if (options.axes.count("pp"))
    import.pipeline = options.axis("pp");
  import.virtualStages = options.virtualStages.value_or(1);
  import.configuration = options.configuration;
  import.command = options.command;
  PCC_ASSIGN_OR_RETURN(
      module, importOnnx(options.model, import, &context, &report.unsupported));
  PCC_RETURN_IF_ERROR(keepInputs());
  PCC_RETURN_IF_ERROR(recordWeightFiles(*module));
  PCC_RETURN_IF_ERROR(checkWeightNames(*module, weights, options.training));
  return recordOptions(*module, options);
}

/// Reads a dump, or a model in pcc's graph dialect. A model has passed no
/// phase. Phase 1-import later checks it, and imports nothing.
Status Compilation::loadText() {
  PCC_RETURN_IF_ERROR(readModuleText(options.model, source));
  isUnsealed = !isSealedDump(source.text);
  diagnostics.locateIn(source, FileLineColLoc::get(&context, source.path,
                                                   /*line=*/1,
                                                   /*column=*/1));
  module = readModule(source, &context);
  if (!module)
    return diagnostics.status(CannotRead);
  if (hasPlaces)
    module = readPlaced();
  isDump = phaseOf(*module) != Phase::None;
  if (Status status = resumeFromDump(*module, options); status.failed()) {
    if (status.code() != CannotRead)
      return status;
    module = readPlaced();
    return status.prefixed(diagnostics.placeOf((*module)->getLoc()));
  }
  PCC_RETURN_IF_ERROR(checkWeightFiles(*module, options));
  PCC_RETURN_IF_ERROR(keepInputs());
  if (!options.randomWeights && failed(checkWeightRanges(*module)))
    return diagnostics.status(CannotRead);
  if (!isDump)
    PCC_RETURN_IF_ERROR(recordWeightFiles(*module));
  PCC_RETURN_IF_ERROR(checkDump());
  // In a model (unlike a dump), an error of a later phase usually concerns the
  // options of the user, and not the text of the file. Errors of later phases
  // therefore name no place in the file.
  if (!isDump)
    diagnostics.locateNowhere();
  return Status::success();
}

Status Compilation::keepInputs() {
  runtime::FileClaims claims = claimsOf(options);
  addWeightFiles(*module, claims);
  if (!options.dumpDirectory.empty())
    for (int phase = int(phaseOf(*module)) + 1; phase <= int(lastPhase);
         ++phase)
      claims.write("--dump-ir", dumpPath(Phase(phase)));
  Status status = claims.check();
  report.isWithheld = status.failed();
  return status;
}

Status Compilation::requireWeights() {
  // The recorded options of a dump tell that its model was made so, too.
  auto recorded = (*module)->getAttrOfType<DictionaryAttr>(optionsName);
  if (recorded && recorded.contains("--transformer") &&
      !(*module)->hasAttr(rank::randomWeightsName) && !options.randomWeights)
    return Status::error(WrongUsage, "a --transformer has no file with weights",
                         {"--random-weights SEED gives it random ones"});
  if (!isDump || options.randomWeights || fulfils(checkWeightsExist))
    return Status::success();
  return diagnostics.status(CannotRead);
}

OwningOpRef<ModuleOp> Compilation::readPlaced() {
  OwningOpRef<ModuleOp> file = readPositions(source, &context);
  auto nested = file->getOps<ModuleOp>();
  if (nested.empty())
    return file;
  ModuleOp inner = *nested.begin();
  inner->remove();
  diagnostics.locateIn(source, inner.getLoc());
  return OwningOpRef<ModuleOp>(inner);
}

/// Returns the earlier phase whose gate (verification pass) must still accept
/// the module after `phase`; Phase::None if there is none.
static Phase basisOf(Phase phase) {
  switch (phase) {
  case Phase::Prepare:
    return Phase::Import;
  case Phase::Shard:
  case Phase::Localize:
    return Phase::Place;
  case Phase::Schedule:
    return Phase::Localize;
  case Phase::Emit:
    return Phase::Schedule;
  default:
    return Phase::None;
  }
}

/// Returns whether `module` is a valid result of `phase`. Runs
/// checkDumpRules(), the gate (verification pass) of `phase`, the gate of
/// basisOf(phase), an earlier phase whose gate must still accept the module,
/// and checkSettled().
static bool obeysRules(ModuleOp module, Phase phase) {
  if (failed(checkDumpRules(module, phase)))
    return false;
  PassManager manager(module.getContext());
  if (basisOf(phase) != Phase::None)
    addGate(manager, basisOf(phase));
  if (phase != Phase::None)
    addGate(manager, phase);
  return succeeded(manager.run(module)) &&
         succeeded(checkSettled(module, phase));
}

bool Compilation::fulfils(llvm::function_ref<LogicalResult(ModuleOp)> check) {
  {
    ScopedDiagnosticHandler silent(&context, [](Diagnostic &) {});
    if (succeeded(check(*module)))
      return true;
  }
  OwningOpRef<ModuleOp> withPlaces = readPlaced();
  (void)check(*withPlaces);
  return false;
}

/// Returns the note on an edited dump of 4-shard at the path `dump` that breaks
/// a rule: a pin of --shard has the same aim, and the search of 4-shard decides
/// all that must follow from it.
static std::string adviceToSearch(StringRef dump) {
  const std::string name = std::string(folderOf(Phase::Place)) + ".mlir";
  llvm::SmallString<128> placed(llvm::sys::path::parent_path(dump));
  llvm::sys::path::append(placed, name);
  if (!llvm::sys::fs::exists(placed))
    placed = name;
  return "to let the search do what follows from a sharding: pcc " +
         shellWord(placed.str().str()) + " --start-at 4 --shard NAME=SHARDING";
}

/// Checks that the module, read from an .mlir file, is a valid result of the
/// last phase that it has passed. An error has exit code 3 and names a line of
/// the .mlir file.
Status Compilation::checkDump() {
  const Phase passed = phaseOf(*module);
  if (fulfils([&](ModuleOp read) { return success(obeysRules(read, passed)); }))
    return Status::success();
  const std::string rule =
      passed == Phase::None ? "models" : std::string(folderOf(passed));
  Status broken =
      diagnostics.status(CannotRead, "breaks a rule of " + rule + ": ");
  if (passed == Phase::Shard)
    broken.addNote(adviceToSearch(options.model));
  return broken;
}

/// Checks that pcc knows each instruction set that the user names by --cpu,
/// such as x86-64-v3. The CPU kernels are compiled for these instruction sets.
/// An unknown name is an error with exit code 2. Phase 7-emit, the last phase,
/// compiles the kernels. load() calls this function, so that the error is found
/// early.
Status Compilation::checkInstructionSets() {
  std::vector<std::string> cpus;
  Status known = emit::instructionSetsOf(*module, cpus);
  if (known.ok())
    return Status::success();
  return known.prefixed("--cpu: ");
}

Status Compilation::runPhase(Phase phase) {
  current = phase;
  listener.onPhase(phase);
  report.begin(phase);
  before = cast<ModuleOp>((*module)->clone());
  PCC_RETURN_IF_ERROR(runGuarded([&] { return runPasses(phase); }));
  setPhase(*module, phase);
  settleOptions(*module, phase);
  report.end();
  return dump(phase);
}

/// Runs the passes of `phase`, the MLIR verifier, and the gate (verification
/// pass) of the phase. Returns exit code 1 if the verifier fails. Returns the
/// code of exitCodeOf() if a pass or the gate fails. A code of 1 becomes 3 if
/// the module comes from an edited or handwritten .mlir file.
Status Compilation::runPasses(Phase phase) {
  std::string failedPass;
  // The gate of the phase is a pass that checks the result of the phase. The
  // MLIR verifier checks the module only once per phase, before the gate. The
  // pass manager must not run the verifier after each pass: for a graph of
  // 16,000 nodes, this would take two fifths of the compilation time.
  auto run = [&](void (*add)(OpPassManager &, Phase)) {
    PassManager manager(&context);
    manager.enableVerifier(false);
    manager.addInstrumentation(std::make_unique<FailedPass>(failedPass));
    add(manager, phase);
    return manager.run(*module);
  };
  const LogicalResult ran = run(addPasses);
  const LogicalResult isValid = verify(*module);
  if (succeeded(isValid) && succeeded(ran) && succeeded(run(addGate)))
    return Status::success();
  const ExitCode code =
      failed(isValid) ? Defect : exitCodeOf(phase, failedPass);
  if (code == Defect && isUnsealed)
    return diagnostics.status(CannotRead, "phase '" +
                                              std::string(folderOf(phase)) +
                                              "' cannot process this: ");
  return diagnostics.status(code);
}

std::string Compilation::dumpPath(Phase phase) const {
  llvm::SmallString<128> path(options.dumpDirectory);
  llvm::sys::path::append(path, std::string(folderOf(phase)) + ".mlir");
  return path.str().str();
}

Status Compilation::dump(Phase phase) {
  if (options.dumpDirectory.empty())
    return Status::success();
  const std::string path = dumpPath(phase);
  if (std::error_code error =
          llvm::sys::fs::create_directories(options.dumpDirectory))
    return Status::error(InputOutput,
                         "cannot write '" + path + "': " + error.message());
  return writeModule(*module, path, /*isOwn=*/!isUnsealed);
}

Status pcc::withCompilation(const CompileOptions &options,
                            const Listener &listener,
                            llvm::function_ref<Status(Compilation &)> use) {
  auto compilation = std::make_unique<Compilation>(options, listener);
  Status status = use(*compilation);
  if (compilation->hasCrashed())
    (void)compilation.release();
  return status;
}
