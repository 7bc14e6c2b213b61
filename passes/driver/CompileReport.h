//===- CompileReport.h - statistics of a compilation (--report) -----------===//

#ifndef PCC_PASSES_DRIVER_COMPILEREPORT_H
#define PCC_PASSES_DRIVER_COMPILEREPORT_H

#include "passes/1-import/build/UnsupportedOp.h"
#include "passes/Phase.h"
#include "status/Status.h"

#include <chrono>
#include <optional>

namespace pcc {

/// Time and memory of one phase.
struct PhaseStats {
  /// Name of the phase, such as "4-shard".
  std::string name;
  /// Wall-clock seconds that a phase took.
  double seconds = 0;
  /// Processor seconds of all threads. Other processes do not add to them.
  double cpuSeconds = 0;
  /// Largest resident memory of the process, in bytes. The number covers the
  /// time from the start of the process to the end of the phase `name`.
  int64_t peakMemoryBytes = 0;
};

/// Collects the data that --report writes: time and peak memory of each phase,
/// notes, and ops that could not be imported.
class CompileReport {
public:
  /// Starts the clock of `phase`. Has no effect if this clock is already
  /// running.
  void begin(Phase phase);
  /// Stops the clock of the current phase and adds the phase to the report.
  void end();
  /// Starts the clock of the work after the phases: optimising and linking
  /// machine code, and writing the bundle.
  void beginBundle();
  /// Stops the clock of beginBundle() and adds its time to the report.
  void endBundle();
  /// Writes the report as JSON to the file `path`. If `status` is an error,
  /// the report contains its message. Returns exit code 7 if the file cannot be
  /// written.
  Status write(const std::string &path, const Status &status) const;

  /// Ops of the model that the import does not support; empty if the import
  /// succeeded.
  std::vector<UnsupportedOp> unsupported;
  /// Notes that the compilation has shown to the user. A repeated note occurs
  /// once in the list.
  std::vector<std::string> notes;
  /// Whether the report must not be written, because its file holds weights of
  /// the model.
  bool isWithheld = false;

private:
  using Clock = std::chrono::steady_clock;
  /// Returns the time and memory of the phase `name`, which has just ended.
  PhaseStats statsOf(std::string name) const;

  /// Time and memory of each phase that has ended.
  std::vector<PhaseStats> phases;
  /// Time and memory of the bundle, if it has been written.
  std::optional<PhaseStats> bundle;
  /// Start of the compilation, and start of the current phase.
  Clock::time_point started = Clock::now(), phaseStarted = started;
  /// Processor time of the process at the start of the current phase.
  std::chrono::nanoseconds phaseStartedCpu{0};
  /// Phase for which begin() was called last. Phase::None before the first
  /// call.
  Phase current = Phase::None;
};

} // namespace pcc

#endif // PCC_PASSES_DRIVER_COMPILEREPORT_H
