//===- FlightFile.cpp - file for the flight recorders of a failed run -----===//

#include "runtime/launch/report/FlightFile.h"

#include "runtime/base/AtomicFile.h"

#include <filesystem>

namespace pcc::runtime {

std::string flightFileOf(const RunOptions &options) {
  if (!options.save.empty())
    return options.save + "/flight.json";
  if (options.report.empty() || isWrittenInPlace(options.report))
    return ""; // A report to /dev/stdout has no folder for another file.
  return std::filesystem::path(options.report).replace_extension().string() +
         ".flight.json";
}

void writeFlights(const std::vector<FlightLog> &flights,
                  const std::string &path, Status &failure) {
  std::error_code problem;
  const auto folder = std::filesystem::path(path).parent_path();
  if (path.empty() || flights.empty() ||
      (!folder.empty() && !std::filesystem::is_directory(folder, problem)))
    return;
  const Status written =
      writeFileAtomically(path, flightsToJson(flights, failure.message()));
  failure.addNote(
      written.ok() ? "the last actions of every rank are in " + path
                   : "the last actions of every rank could not be written: " +
                         written.message());
}

} // namespace pcc::runtime
