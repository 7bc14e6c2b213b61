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

/// Writes `flights`, the flight recorders of a failed run, to the file `path`
/// as JSON. A flight recorder is a log of the latest activities of one rank.
/// `failure` is the error of the run. Adds a note to `failure`. The note says
/// that the file `path` contains the activities, or it gives the reason why the
/// file could not be written. Does nothing if `path` or `flights` is empty, or
/// if the folder of `path` does not exist.
void writeFlights(const std::vector<FlightLog> &flights,
                  const std::string &path, Status &failure);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_REPORT_FLIGHTFILE_H
