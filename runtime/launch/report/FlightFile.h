//===- FlightFile.h - where the recorders of a failed run go --------------===//

#ifndef PCC_RUNTIME_LAUNCH_REPORT_FLIGHTFILE_H
#define PCC_RUNTIME_LAUNCH_REPORT_FLIGHTFILE_H

#include "runtime/base/Status.h"
#include "runtime/comm/flight/FlightLog.h"
#include "runtime/engine/options/RunOptions.h"

#include <string>
#include <vector>

namespace pcc::runtime {

/// "SAVE/flight.json", or "REPORT.flight.json" beside --report REPORT.json;
/// empty without either.
std::string flightFileOf(const RunOptions &options);

/// Writes what every rank did last to `path`, if its folder is there, and notes
/// that in the error, or why it cannot be written.
void writeFlights(const std::vector<FlightLog> &flights,
                  const std::string &path, Status &failure);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_REPORT_FLIGHTFILE_H
