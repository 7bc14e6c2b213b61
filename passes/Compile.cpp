//===- Compile.cpp - compilation of a model to a bundle -------------------===//

#include "passes/Compile.h"
#include "dialects/dist/DistDialect.h"
#include "passes/OutputPaths.h"
#include "passes/PlanPage.h"
#include "passes/driver/Compilation.h"
#include "passes/driver/ReadModule.h"
#include "passes/driver/ScheduleTable.h"
#include "passes/explain/Explanation.h"
#include "passes/options/OptionAttrs.h"
#include "passes/options/OptionChecks.h"

using namespace pcc;

/// Writes the file of --report, also if `status` is an error, unless the report
/// is withheld. Returns `status` if it is an error. Otherwise, returns the
/// error of writing the file.
static Status finish(const CompileOptions &options, CompileReport &report,
                     Status status) {
  if (options.report.empty() || report.isWithheld)
    return status;
  Status written = report.write(options.report, status);
  return status.ok() ? written : status;
}

/// Runs the phases up to 6-schedule. Stores in `explanation` the JSON that
/// tells why the collectives of the plan are there; 7-emit discards the
/// reasons. Leaves `explanation` empty if the model is a dump of 7-emit, or if
/// the module lacks an attribute: 7-emit reads the same attributes, and says
/// where one is missing.
static Status explainPlan(const CompileOptions &options,
                          Compilation &compilation, std::string &explanation) {
  PCC_RETURN_IF_ERROR(compilation.advanceTo(Phase::Schedule));
  if (phaseOf(compilation.getModule()) > Phase::Schedule)
    return Status::success();
  return compilation.runGuarded([&]() -> Status {
    const plan::Cluster cluster = plan::clusterOf(
        dist::clusterOf(compilation.getModule()), options.target);
    if (const auto found =
            explain::explainModule(compilation.getModule(), cluster))
      explanation = explain::toJson(*found, cluster);
    return Status::success();
  });
}

/// Runs the phases that are left, and writes the bundle, and the page of --html
/// if the user asks for it.
static Status compileToBundle(const CompileOptions &options,
                              Compilation &compilation) {
  std::string explanation;
  PCC_RETURN_IF_ERROR(explainPlan(options, compilation, explanation));
  PCC_RETURN_IF_ERROR(compilation.advanceTo(lastPhase));
  PCC_RETURN_IF_ERROR(compilation.writeBundle(options.bundle, explanation));
  if (options.html.empty())
    return Status::success();
  PlanPage page(options);
  PCC_RETURN_IF_ERROR(page.addBundle(options.bundle));
  return page.write();
}

/// Runs the phases up to `last`, and writes the module or the annotated model.
static Status compileToFile(const CompileOptions &options,
                            Compilation &compilation, Phase last) {
  PCC_RETURN_IF_ERROR(compilation.advanceTo(last));
  return options.stopsEarly() ? compilation.writeText(options.bundle)
                              : compilation.writeOnnx(options.bundle);
}

/// Checks the options, and checks whether the output files can be written. Then
/// compiles the model. The checks come first, because a compilation can take a
/// long time. For example, the user learns at once that the directory of the
/// bundle does not exist.
Status pcc::compile(const CompileOptions &asked, const Listener &listener) {
  PCC_RETURN_IF_ERROR(checkOptions(asked));
  CompileOptions options = asked;
  PCC_RETURN_IF_ERROR(readScheduleTable(options));
  PCC_RETURN_IF_ERROR(checkIsNoBundle(options.model));
  PCC_RETURN_IF_ERROR(checkOutputs(options));
  return withCompilation(options, listener, [&](Compilation &compilation) {
    const Phase last =
        options.stopsEarly() ? *options.stopAfter : options.resultPhase();
    Status status = compilation.load();
    if (status.ok() && last == lastPhase)
      status = compilation.requireWeights();
    if (status.ok())
      status = options.stopsEarly() || options.emitsOnnx
                   ? compileToFile(options, compilation, last)
                   : compileToBundle(options, compilation);
    return finish(options, compilation.report, status);
  });
}
