//===- Verify.cpp - comparison of a plan with the unpartitioned model -----===//

#include "dialects/graph/GraphDialect.h"
#include "dialects/rank/RankDialect.h"
#include "passes/2-prepare/training/TrainingRequest.h"
#include "passes/Compile.h"
#include "passes/OutputPaths.h"
#include "passes/driver/Compilation.h"
#include "passes/driver/DumpWeights.h"
#include "passes/driver/ScheduleTable.h"
#include "passes/interpret/Verification.h"
#include "passes/interpret/compare/VerdictText.h"
#include "passes/options/OptionAttrs.h"
#include "passes/options/OptionChecks.h"

using namespace pcc;
using interpret::Verification;

/// Compiles the partitioned model `parts` to a bundle and runs the bundle.
/// Compares the outputs with those of the unpartitioned model.
static Status runExecutables(Verification &verification, Compilation &parts,
                             const VerifyOptions &options) {
  BundleRun run{.bundle = options.scratch + "/verified.pcc",
                .inputs = {},
                .outputs = options.scratch + "/outputs",
                .steps = verification.steps(),
                .parameterFolder = options.scratch};
  PCC_RETURN_IF_ERROR(verification.writeInputs(options.scratch, run.inputs));
  PCC_RETURN_IF_ERROR(parts.advanceTo(lastPhase));
  PCC_RETURN_IF_ERROR(parts.writeBundle(run.bundle));
  PCC_RETURN_IF_ERROR(options.run(run));
  return parts.runGuarded([&] {
    return verification.compareExecuted({run.outputs, run.parameters});
  });
}

/// Executes the unpartitioned model `whole`, and the partitioned model `parts`
/// on simulated ranks, and compares the outputs. If they agree and --run is
/// given, also compiles and runs `parts`. Writes all results to
/// `options.report`. Returns an error if outputs differ. Otherwise, stores the
/// largest errors in `verdict`.
static Status verifyParts(Compilation &whole, Compilation &parts,
                          const VerifyOptions &options, std::string &verdict) {
  Verification verification(whole.getModule(), options.modelTypes
                                                   ? graph::Numerics::Model
                                                   : graph::Numerics::Exact);
  PCC_RETURN_IF_ERROR(parts.runGuarded([&] {
    return verification.simulate(parts.getModule(), options.inputs);
  }));
  if (options.run && verification.verdict().ok())
    PCC_RETURN_IF_ERROR(runExecutables(verification, parts, options));
  PCC_RETURN_IF_ERROR(
      interpret::writeReport(options.report, verification.findings()));
  PCC_RETURN_IF_ERROR(verification.verdict());
  verdict = interpret::describeErrors(verification.findings());
  return Status::success();
}

/// Changes `options`, the options for the partitioned model `parts`, to those
/// for the unpartitioned model. If `parts` is a dump of 5-localize or
/// 6-schedule, its tensors have the shapes of one rank. `options.model` then
/// becomes the path of the ONNX model, which the dump records. Returns exit
/// code 2 for a dump of 7-emit.
static Status findWhole(Compilation &parts, CompileOptions &options) {
  options.dumpDirectory.clear();
  Phase passed = phaseOf(parts.getModule());
  if (passed < Phase::Localize)
    return Status::success();
  if (passed > Phase::Schedule)
    return Status::error(WrongUsage,
                         "'" + options.model +
                             "' is a dump of 7-emit, which cannot be "
                             "interpreted; verify the dump of 6-schedule");
  return restoreImportOptions(parts.getModule(), options);
}

/// Adds an attribute to `module` that makes phase 2-prepare add one more tensor
/// per trained weight. This tensor is the sum of the gradients of the weight
/// over all training steps. `pcc verify` can then compare these sums between
/// the partitioned and the unpartitioned model. Does nothing for inference, and
/// if the user gives --memory-limit, because the sums need memory.
static void keepGradients(mlir::ModuleOp module) {
  auto entries =
      module->getAttrOfType<mlir::DictionaryAttr>(graph::trainingName);
  if (!entries || module->hasAttr(rank::memoryLimitName))
    return;
  mlir::NamedAttrList more(entries);
  more.set("sum_gradients", mlir::UnitAttr::get(module.getContext()));
  module->setAttr(graph::trainingName, more.getDictionary(module.getContext()));
}

/// Returns the last phase that `pcc verify` runs on the unpartitioned model
/// `whole`: 2-prepare if this phase adds the training step or changes the
/// precision, otherwise 1-import.
static Phase lastWhole(mlir::ModuleOp whole) {
  const bool isMade = prepare::TrainingRequest::of(whole) ||
                      whole->hasAttr(graph::precisionName);
  return isMade ? Phase::Prepare : Phase::Import;
}

/// Checks that the report of the verification can be written, and replaces no
/// input. `module` names the weight files; null before the model is read.
static Status checkReport(const CompileOptions &options,
                          const VerifyOptions &verifyOptions,
                          mlir::ModuleOp module) {
  if (verifyOptions.report.empty())
    return Status::success();
  runtime::FileClaims claims;
  addInputs(options, claims);
  for (const std::string &input : verifyOptions.inputs)
    claims.keep("--input reads", input.substr(input.find('=') + 1));
  if (module)
    addWeightFiles(module, claims);
  claims.write("--report", verifyOptions.report);
  PCC_RETURN_IF_ERROR(claims.check());
  return checkFile(verifyOptions.report);
}

Status pcc::verify(const CompileOptions &asked,
                   const VerifyOptions &verifyOptions, std::string &verdict,
                   const Listener &listener) {
  PCC_RETURN_IF_ERROR(checkOptions(asked));
  CompileOptions options = asked;
  PCC_RETURN_IF_ERROR(readScheduleTable(options));
  PCC_RETURN_IF_ERROR(checkReport(options, verifyOptions, {}));
  CompileOptions wholeOptions = options;
  Listener silent;
  return withCompilation(options, listener, [&](Compilation &parts) {
    PCC_RETURN_IF_ERROR(parts.load());
    PCC_RETURN_IF_ERROR(checkReport(options, verifyOptions, parts.getModule()));
    PCC_RETURN_IF_ERROR(parts.requireWeights());
    PCC_RETURN_IF_ERROR(findWhole(parts, wholeOptions));
    const bool keeps = phaseOf(parts.getModule()) <= Phase::Import;
    if (keeps)
      keepGradients(parts.getModule());
    return withCompilation(wholeOptions, silent, [&](Compilation &whole) {
      PCC_RETURN_IF_ERROR(whole.load());
      if (keeps)
        keepGradients(whole.getModule());
      PCC_RETURN_IF_ERROR(whole.advanceTo(lastWhole(whole.getModule())));
      PCC_RETURN_IF_ERROR(parts.advanceTo(Phase::Schedule));
      return verifyParts(whole, parts, verifyOptions, verdict);
    });
  });
}
