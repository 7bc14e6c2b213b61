//===- CompileReport.h - compile --report ---------------------------------===//

#ifndef PCC_PASSES_DRIVER_COMPILEREPORT_H
#define PCC_PASSES_DRIVER_COMPILEREPORT_H

#include "passes/1-import/build/ImportError.h"
#include "passes/Outcome.h"

#include <chrono>

namespace pcc {

struct PhaseStats {
  std::string name;
  double seconds = 0;
  int64_t peakMemoryBytes = 0;
};

/// Times and peaks of the phases, and what could not be imported.
class CompileReport {
public:
  void begin(Phase phase);
  void end();
  /// JSON as fixed by the interface.
  Outcome write(const std::string &path, const Outcome &outcome) const;

  std::vector<UnsupportedOp> unsupported;
  std::vector<std::string> notes;

private:
  using Clock = std::chrono::steady_clock;
  std::vector<PhaseStats> phases;
  Clock::time_point started = Clock::now(), phaseStarted = started;
  Phase current = Phase::None;
};

} // namespace pcc

#endif // PCC_PASSES_DRIVER_COMPILEREPORT_H
