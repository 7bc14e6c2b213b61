//===- Compile.cpp - compilation of a model to a bundle -------------------===//

#include "passes/Compile.h"
#include "passes/OutputPaths.h"
#include "passes/PlanPage.h"
#include "passes/driver/Compilation.h"
#include "passes/driver/ScheduleTable.h"
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

/// Runs the phases up to `last`. If the user gives --html, also adds the reason
/// of each collective to `page`. The reasons are read directly after
/// 6-schedule, because 7-emit discards them.
static Status advance(const CompileOptions &options, Compilation &compilation,
                      Phase last, PlanPage &page) {
  if (!options.html.empty()) {
    PCC_RETURN_IF_ERROR(compilation.advanceTo(Phase::Schedule));
    if (phaseOf(compilation.getModule()) == Phase::Schedule)
      PCC_RETURN_IF_ERROR(page.addReasons(compilation));
  }
  return compilation.advanceTo(last);
}

/// Writes the bundle, and the page of --html if the user asks for it.
static Status writeResult(const CompileOptions &options,
                          Compilation &compilation, PlanPage &page) {
  PCC_RETURN_IF_ERROR(compilation.writeBundle(options.bundle));
  if (options.html.empty())
    return Status::success();
  PCC_RETURN_IF_ERROR(page.addBundle(options.bundle));
  return page.write();
}

/// Checks the options, and checks whether the output files can be written. Then
/// compiles the model. The checks come first, because a compilation can take a
/// long time. For example, the user learns at once that the directory of the
/// bundle does not exist.
Status pcc::compile(const CompileOptions &asked, const Listener &listener) {
  PCC_RETURN_IF_ERROR(checkOptions(asked));
  CompileOptions options = asked;
  PCC_RETURN_IF_ERROR(readScheduleTable(options));
  PCC_RETURN_IF_ERROR(checkOutputs(options));
  return withCompilation(options, listener, [&](Compilation &compilation) {
    const Phase last =
        options.stopsEarly() ? *options.stopAfter : options.resultPhase();
    PlanPage page(options);
    Status status = compilation.load();
    if (status.ok() && last == lastPhase)
      status = compilation.requireWeights();
    if (status.ok())
      status = advance(options, compilation, last, page);
    if (status.ok() && options.stopsEarly())
      status = compilation.writeText(options.bundle);
    else if (status.ok())
      status = options.emitsOnnx ? compilation.writeOnnx(options.bundle)
                                 : writeResult(options, compilation, page);
    return finish(options, compilation.report, status);
  });
}
