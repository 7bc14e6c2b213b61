//===- CompileReport.h - statistics of a compilation (--report) -----------===//

#ifndef PCC_PASSES_DRIVER_COMPILEREPORT_H
#define PCC_PASSES_DRIVER_COMPILEREPORT_H

#include "passes/1-import/build/ImportError.h"
#include "passes/Outcome.h"

#include <chrono>

namespace pcc {

/// Time and memory of one phase.
struct PhaseStats {
  /// Folder of the phase, such as "4-shard".
  std::string name;
  /// Wall-clock seconds of the phase.
  double seconds = 0;
  /// Peak resident memory of the process up to the end of the phase, in bytes.
  int64_t peakMemoryBytes = 0;
};

/// Collector of the data for `compile --report`: times and peak memory of the
/// phases, notes, and ops that could not be imported.
class CompileReport {
public:
  /// Starts the clock of `phase`. A second call for the current phase has no
  /// effect, so loading counts for 1-import.
  void begin(Phase phase);
  /// Adds the entry of the current phase.
  void end();
  /// Writes the report as JSON to `path`, with the error of `outcome` if it is
  /// no success. Returns exit code 7 if the file cannot be written.
  Outcome write(const std::string &path, const Outcome &outcome) const;

  /// Ops that the import does not support; empty if the import succeeded.
  std::vector<UnsupportedOp> unsupported;
  /// Notes for the user, each once.
  std::vector<std::string> notes;

private:
  using Clock = std::chrono::steady_clock;
  /// Entries of the phases that have ended.
  std::vector<PhaseStats> phases;
  /// Start of the compilation and of the current phase.
  Clock::time_point started = Clock::now(), phaseStarted = started;
  /// The phase whose clock is running.
  Phase current = Phase::None;
};

} // namespace pcc

#endif // PCC_PASSES_DRIVER_COMPILEREPORT_H
