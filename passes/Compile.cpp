//===- Compile.cpp - compilation of a model to a bundle -------------------===//

#include "passes/Compile.h"
#include "passes/OutputPaths.h"
#include "passes/driver/Compilation.h"
#include "passes/driver/ScheduleTable.h"
#include "passes/options/OptionAttrs.h"

using namespace pcc;

/// Writes the report. This is done even if the compilation failed, because the
/// report lists unsupported ops. Returns `outcome` or, if that is a success,
/// the outcome of writing the report.
static Outcome finish(const CompileOptions &options, CompileReport &report,
                      Outcome outcome) {
  if (options.report.empty())
    return outcome;
  Outcome written = report.write(options.report, outcome);
  return outcome.ok() ? written : outcome;
}

/// Checks options and output paths first, so that an error in them is reported
/// before the long compilation.
Outcome pcc::compile(const CompileOptions &asked, const Listener &listener) {
  if (Outcome outcome = checkOptions(asked); !outcome.ok())
    return outcome;
  CompileOptions options = asked;
  if (Outcome outcome = readScheduleTable(options); !outcome.ok())
    return outcome;
  if (Outcome outcome = checkOutputs(options); !outcome.ok())
    return outcome;
  return withCompilation(options, listener, [&](Compilation &compilation) {
    const Phase written = options.emitsOnnx ? Phase::Shard : lastPhase;
    const Phase last = std::min(options.stopAfter.value_or(written), written);
    Outcome outcome = compilation.load();
    if (outcome.ok())
      outcome = compilation.advanceTo(last);
    if (outcome.ok() && last == written)
      outcome = options.emitsOnnx ? compilation.writeOnnx(options.bundle)
                                  : compilation.writeBundle(options.bundle);
    return finish(options, compilation.report, outcome);
  });
}
