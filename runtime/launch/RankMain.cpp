//===- RankMain.cpp - BUNDLE/rank-NNN: one rank of a run ------------------===//
//
// Linked by 7-emit with a program and its kernels, which it finds by symbol.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/flight/FlightRecorder.h"
#include "runtime/comm/flight/FlightStory.h"
#include "runtime/engine/Engine.h"
#include "runtime/engine/RunOptionsCli.h"
#include "runtime/launch/Bundle.h"
#include "runtime/launch/FlightFile.h"
#include "runtime/launch/LauncherOutput.h"
#include "runtime/launch/RankTarget.h"
#include "runtime/launch/Report.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <unistd.h>

extern "C" const pcc::runtime::PccProgramImage pcc_program_image;

using namespace pcc::runtime;

static Status parse(int argc, char **argv, RunOptions &options) {
  CLI::App app("one rank of a compiled model");
  addRunOptions(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    std::fputs(app.help().c_str(), stdout);
    std::exit(0);
  } catch (const CLI::ParseError &problem) {
    return Status::error(WrongUsage, problem.what());
  }
  return Status::success();
}

/// Who started this executable without a launcher means a world of one.
static Status findRank(const Environment &environment,
                       const std::string &bundle, Identity &identity) {
  std::optional<Identity> found;
  if (Status status = findIdentity(environment, found); status.failed())
    return status;
  if (found)
    identity = *found;
  const int worldSize = countRanks(bundle);
  return worldSize ? checkWorldSize(identity, worldSize) : Status::success();
}

/// Tells all ranks why this one leaves. Where ranks do not come, their
/// recorders say why.
static Status fail(Status status, const std::string &folder, World &world) {
  if (status.code() == PeerLost && !folder.empty())
    status = explainLoss(status, readFlights(folder), {.waiter = world.rank()});
  world.abort(status.message(), status.code());
  return status;
}

static Status run(const RunOptions &options, const Identity &identity,
                  const std::string &folder) {
  const auto recorder = std::make_shared<FlightRecorder>(
      identity.rank, folder.empty() ? "" : flightFile(folder, identity.rank));
  std::unique_ptr<Device> device;
  std::unique_ptr<World> world; ///< may use the device
  if (Status status =
          openTarget(options, identity, folder, recorder, world, device);
      status.failed())
    return status;
  auto rank = createRank(pcc_program_image, options, *world, *device);
  Status status = rank->run();
  if (status.failed()) {
    status = fail(std::move(status), folder, *world);
    // What a queue has not done may never be: nothing waits for it.
    if (!device->sharesHostMemory()) {
      (void)rank.release();
      (void)world.release();
      (void)device.release();
    }
    return status;
  }
  recorder->leave();
  return status;
}

void pcc::runtime::leave(int exitCode) {
  std::fflush(nullptr);
  _exit(exitCode);
}

int main(int argc, char **argv) {
  const Environment environment = currentEnvironment();
  std::error_code problem;
  RunOptions options;
  options.bundle =
      std::filesystem::read_symlink("/proc/self/exe", problem).parent_path();
  Identity identity;
  Status status = findRank(environment, options.bundle, identity);
  if (status.ok())
    status = parse(argc, argv, options);
  if (status.failed())
    leave(reportFailure(status, environment, identity.rank, true));
  options.localRanks = identity.localSize;
  if (environment.contains(kProgressVariable))
    options.onProgress = [](const std::string &what) {
      std::fputs(progressLine(what).c_str(), stderr);
    };
  const std::string folder = sharedFolder(environment);
  status = run(options, identity, folder);
  // Without MPI, or with another's, no rank gets anywhere.
  const bool onAllRanks =
      status.code() == WrongWorld || status.code() == NoDevice;
  if (status.failed())
    leave(reportFailure(
        status, environment, identity.rank, onAllRanks, [&](Status &told) {
          if (told.code() == PeerLost)
            keepFlights(readFlights(folder), flightFileOf(options), told);
        }));
  leave(0);
}
