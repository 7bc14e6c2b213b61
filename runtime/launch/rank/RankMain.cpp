//===- RankMain.cpp - BUNDLE/rank-NNN: one rank of a run ------------------===//
//
// Linked by 7-emit with a program and its kernels, which it finds by symbol.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/flight/FailureReport.h"
#include "runtime/comm/flight/FlightRecorder.h"
#include "runtime/engine/Rank.h"
#include "runtime/engine/options/RunOptionsCli.h"
#include "runtime/launch/job/BundleFiles.h"
#include "runtime/launch/rank/RankTarget.h"
#include "runtime/launch/report/FirstFailure.h"
#include "runtime/launch/report/FlightFile.h"
#include "runtime/launch/report/LauncherOutput.h"
#include "runtime/launch/report/RankWatch.h"

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <thread>
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
                       const std::string &bundle, RankIdentity &identity) {
  std::optional<RankIdentity> found;
  if (Status status = findIdentity(environment, found); status.failed())
    return status;
  if (found)
    identity = *found;
  const int worldSize = countRanks(bundle);
  return worldSize ? checkWorldSize(identity, worldSize) : Status::success();
}

namespace {
/// How a rank that fails ends its process: with one message. Its own thread
/// does so, or the monitor's where that does not come back.
class RankExit {
public:
  RankExit(const RunOptions &options, const Environment &environment,
           const RankIdentity &identity)
      : options(options), environment(environment), rank(identity.rank),
        folder(sharedFolder(environment)),
        recorder(std::make_shared<FlightRecorder>(
            rank, folder.empty() ? "" : flightFile(folder, rank))) {}

  const std::shared_ptr<FlightRecorder> &flights() const { return recorder; }

  /// Where ranks do not come, their recorders say why.
  Status explain(const Status &status, std::optional<int> lost) const {
    return status.code() == PeerLost && !folder.empty()
               ? explainLoss(status, readFlights(folder),
                             {.lost = lost, .waiter = rank})
               : status;
  }

  /// Says why, once for both threads; returns the exit code. `onAllRanks` is as
  /// in reportFailure().
  int report(const Status &status, std::optional<int> lost, bool onAllRanks) {
    // `pcc run` sees itself how the rank that was lost has ended.
    if (lost && environment.contains(kStatusFolderVariable)) {
      announceLoss(folder, *lost);
      return status.code();
    }
    // Who comes second leaves the first a second for its sentence.
    if (isReporting.exchange(true)) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      return status.code();
    }
    return reportFailure(status, environment, rank, onAllRanks,
                         [&](Status &told) {
                           if (told.code() == PeerLost)
                             keep(told);
                         });
  }

  /// On another thread than the rank's, which does not come back, and which may
  /// have locked what it prints to.
  [[noreturn]] void giveUp(const Status &status, std::optional<int> lost) {
    const int code = report(explain(status, lost), lost, false);
    if (ftrylockfile(stdout) == 0)
      std::fflush(stdout);
    _exit(code);
  }

private:
  /// Ranks that share no folder have a file each: "x.flight.rank-001.json".
  void keep(Status &told) const {
    const std::string path = flightFileOf(options);
    if (!folder.empty())
      return writeFlights(readFlights(folder), path, told);
    if (!path.empty())
      writeFlights({recorder->log()},
                   std::filesystem::path(path).replace_extension(
                       rankFileName(rank) + ".json"),
                   told);
  }

  const RunOptions &options;
  const Environment &environment;
  const int rank;
  const std::string folder; ///< of the ranks of this host; may be empty
  const std::shared_ptr<FlightRecorder> recorder;
  std::atomic<bool> isReporting{false};
};

/// The life of a rank.
class RankLifecycle {
public:
  RankLifecycle(const RunOptions &options, const Environment &environment,
                const RankIdentity &identity)
      : end(options, environment, identity),
        start{pcc_program_image,
              options,
              environment,
              identity,
              end.flights(),
              [this](const Status &why, std::optional<int> lost) {
                end.giveUp(why, lost);
              }} {}

  /// The process's exit code.
  int execute() {
    Status status = openTarget(start, place);
    if (status.ok())
      status = run();
    else if (place.rendezvous)
      place.rendezvous->abort(status);
    if (status.failed())
      return fail(status);
    close();
    return Done;
  }

private:
  Status run() {
    auto rank =
        createRank(start.image, start.options, *place.world, *place.device);
    Status status = rank->run();
    if (status.failed()) {
      status = findReason(status);
      // What a queue has not done may never be: nothing waits for it.
      if (!place.device->sharesHostMemory())
        (void)rank.release();
      return status;
    }
    start.recorder->leave();
    return place.rendezvous ? place.rendezvous->leave() : status;
  }

  /// Tells all ranks why this one leaves, unless one of them has told it.
  Status findReason(const Status &mine) {
    if (!place.rendezvous) {
      const Status told = end.explain(mine, {});
      place.world->abort(told.message(), told.code());
      return told;
    }
    Status status = awaitVerdict(mine);
    lost = place.rendezvous->lost();
    wasTold = status.failed() && !lost;
    if (wasTold)
      return status;
    status = end.explain(lost ? status : mine, lost);
    place.rendezvous->abort(status);
    return status;
  }

  /// NCCL may notice first that a peer is gone, and does not know which.
  Status awaitVerdict(const Status &mine) const {
    Status status = place.rendezvous->poll();
    for (int i = 0; i < 20 && status.ok() && mine.code() == PeerLost; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      status = place.rendezvous->poll();
    }
    return status;
  }

  int fail(const Status &status) {
    // The rank that knows more speaks first.
    if (wasTold)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    // Without MPI, or with another's, no rank gets anywhere.
    const bool onAllRanks = !start.image.gpu && (status.code() == WrongWorld ||
                                                 status.code() == NoDevice);
    const int code = end.report(status, lost, onAllRanks);
    if (place.rendezvous && place.world)
      place.world->abort(status.message(), status.code());
    else if (!place.rendezvous)
      close();
    return code;
  }

  void close() {
    place.world.reset();
    place.device.reset();
  }

  RankExit end;
  const RankStart start;
  RankBackend place;
  std::optional<int> lost;
  bool wasTold = false; ///< why the run has ended, by another rank
};
} // namespace

[[noreturn]] static void leave(int exitCode) {
  std::fflush(nullptr);
  _exit(exitCode);
}

int main(int argc, char **argv) {
  const Environment environment = currentEnvironment();
  std::error_code problem;
  RunOptions options;
  options.bundle =
      std::filesystem::read_symlink("/proc/self/exe", problem).parent_path();
  RankIdentity identity;
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
  RankLifecycle life(options, environment, identity);
  // Nothing of a rank that fails waits for its peers any more.
  leave(life.execute());
}
