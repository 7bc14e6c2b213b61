//===- Compile.cpp - compilation of a model to a bundle -------------------===//

#include "passes/Compile.h"
#include "passes/OutputPaths.h"
#include "passes/driver/Compilation.h"
#include "passes/driver/ScheduleTable.h"
#include "passes/options/OptionAttrs.h"

using namespace pcc;

/// Writes the report if --report is given, also after a failed compilation.
/// Returns `status` if it is an error, otherwise the status of writing the
/// report.
static Status finish(const CompileOptions &options, CompileReport &report,
                     Status status) {
  if (options.report.empty())
    return status;
  Status written = report.write(options.report, status);
  return status.ok() ? written : status;
}

/// Checks options and output paths first, so that an error in them is reported
/// before the long compilation starts.
Status pcc::compile(const CompileOptions &asked, const Listener &listener) {
  PCC_RETURN_IF_ERROR(checkOptions(asked));
  CompileOptions options = asked;
  PCC_RETURN_IF_ERROR(readScheduleTable(options));
  PCC_RETURN_IF_ERROR(checkOutputs(options));
  return withCompilation(options, listener, [&](Compilation &compilation) {
    const Phase written = options.emitsOnnx ? Phase::Shard : lastPhase;
    const Phase last = std::min(options.stopAfter.value_or(written), written);
    Status status = compilation.load();
    if (status.ok())
      status = compilation.advanceTo(last);
    if (status.ok() && last == written)
      status = options.emitsOnnx ? compilation.writeOnnx(options.bundle)
                                 : compilation.writeBundle(options.bundle);
    return finish(options, compilation.report, status);
  });
}
