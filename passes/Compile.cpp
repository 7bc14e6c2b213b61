//===- Compile.cpp - from a model to a bundle -----------------------------===//

#include "passes/Compile.h"
#include "passes/OutputPaths.h"
#include "passes/driver/Compilation.h"
#include "passes/driver/ScheduleTable.h"
#include "passes/options/OptionAttrs.h"

using namespace pcc;

/// The report is written on failure as well: it lists what is unsupported.
static Outcome finish(const CompileOptions &options, CompileReport &report,
                      Outcome outcome) {
  if (options.report.empty())
    return outcome;
  Outcome written = report.write(options.report, outcome);
  return outcome.ok() ? written : outcome;
}

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
