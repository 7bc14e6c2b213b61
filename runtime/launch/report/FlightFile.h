//===- FlightFile.h - file for the flight recorders of a failed run -------===//

#ifndef PCC_RUNTIME_LAUNCH_REPORT_FLIGHTFILE_H
#define PCC_RUNTIME_LAUNCH_REPORT_FLIGHTFILE_H

#include "runtime/comm/flight/FlightLog.h"
#include "runtime/engine/options/RunOptions.h"
#include "status/Status.h"

#include <string>
#include <vector>

namespace pcc::runtime {

/// Returns the path for the flight recorders (logs of the latest activities) of
/// a failed run. The first option that is given determines the path:
///
///   --save SAVE             SAVE/flight.json
///   --report REPORT.json    REPORT.flight.json
///   neither                 an empty string
std::string flightFileOf(const RunOptions &options);

/// Writes the flight recorders (logs of the latest activities) of the ranks to
/// `path` as JSON. Adds a note to `failure` with the path, or with the reason
/// why the file cannot be written. Does nothing if `path` or `flights` is
/// empty, or if the folder of `path` does not exist.
void writeFlights(const std::vector<FlightLog> &flights,
                  const std::string &path, Status &failure);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_REPORT_FLIGHTFILE_H
