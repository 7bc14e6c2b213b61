//===- RunBundle.cpp - starts all ranks of a bundle (`pcc run`) -----------===//

#include "runtime/launch/RunBundle.h"

#include "runtime/launch/job/BundleFiles.h"
#include "runtime/launch/report/FlightFile.h"
#include "runtime/launch/spawn/SpawnRanks.h"
#include "runtime/launch/thread/RankTeam.h"
#include "runtime/launch/thread/SignalEnd.h"
#include "runtime/program/bundle/BundleFields.h"

#include <nlohmann/json.hpp>

namespace pcc::runtime {

/// Runs the ranks as threads of this process.
static Status runInThisProcess(const std::string &bundle,
                               const RunOptions &options) {
  tellEndBySignal();
  RankTeam team;
  PCC_RETURN_IF_ERROR(team.start(bundle, options));
  return team.call([](Rank &rank) { return rank.run(); });
}

/// The ranks are threads of this process if `options.comm` is "thread". The
/// team of threads checks the bundle. Otherwise the ranks are processes, and
/// start only after two checks:
///
/// - The bundle (directory with one executable per rank) is complete, and the
///   fields of its bundle.json have possible values.
/// - `options.comm` fits the bundle. A bundle for GPUs does not run with "mpi",
///   and a bundle for CPUs does not run with "nccl".
Status runBundle(const std::string &bundle, const RunOptions &options,
                 const std::vector<std::string> &arguments) {
  if (options.comm == "thread")
    return runInThisProcess(bundle, options);
  PCC_RETURN_IF_ERROR(checkBundle(bundle));
  nlohmann::ordered_json description;
  PCC_RETURN_IF_ERROR(readBundleJson(bundle, description));
  const bool onGpus = description.at("target") == "cuda";
  if (options.comm == (onGpus ? "mpi" : "nccl"))
    return Status::error(
        NoDevice,
        "--comm " + options.comm + " does not connect " +
            (onGpus ? "GPUs" : "processors"),
        {onGpus ? "use --comm nccl" : "use --comm mpi or --comm thread"});
  return spawnRanks({.bundle = bundle,
                     .arguments = arguments,
                     .onProgress = options.onProgress,
                     .onTrainingLine = options.onTrainingLine,
                     .flightFile = flightFileOf(options),
                     .loadTimeout = options.loadTimeout,
                     .timeout = options.timeout,
                     .onGpus = onGpus});
}

} // namespace pcc::runtime
