//===- RankMain.cpp - main() of BUNDLE/rank-NNN, one rank of a run --------===//
//
// Pass 7-emit links this file with a program and its kernels, which it finds by
// the symbol `pcc_program_image`.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Exhaustion.h"
#include "runtime/base/InheritedState.h"
#include "runtime/base/TextTable.h"
#include "runtime/comm/flight/FailureReport.h"
#include "runtime/comm/flight/FlightRecorder.h"
#include "runtime/device/QueuedDevice.h"
#include "runtime/engine/Rank.h"
#include "runtime/engine/options/HelpText.h"
#include "runtime/engine/options/RunOptionsCli.h"
#include "runtime/engine/options/StrictParse.h"
#include "runtime/launch/job/BundleFiles.h"
#include "runtime/launch/rank/RankTarget.h"
#include "runtime/launch/rank/Watchdog.h"
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

// The program that this rank executes, and the kernels that the program calls.
// Pass 7-emit of the compiler generates an object file that defines this
// variable, and links the object file into the executable of the rank. extern
// "C" ensures that the symbol in the object file has the name
// `pcc_program_image`.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" const pcc::runtime::PccProgramImage pcc_program_image;

using namespace pcc;
using namespace pcc::runtime;

/// Parses the command line, and stores the values of the options in `options`.
/// `argv` contains the `argc` words of the command line. If the command line is
/// invalid, returns an error with exit code 2. If the command line contains the
/// option --help, prints the help text and ends the process.
static Status parse(int argc, char **argv, RunOptions &options) {
  CLI::App app("one rank of a compiled model", "run");
  addRunOptions(app, options);
  try {
    parseStrictly(app, argc, argv);
  } catch (const CLI::CallForHelp &) {
    std::fputs(helpText(pageOf(app), textWidth()).c_str(), stdout);
    std::exit(std::fflush(stdout) == 0 ? Done : InputOutput);
  } catch (const CLI::ParseError &problem) {
    return Status::error(WrongUsage, problem.what());
  }
  return Status::success();
}

/// Stores the rank of this process and the number of ranks in `identity`. The
/// function reads these numbers from `environment`, the environment variables
/// of this process. The launcher, such as mpirun, has set these variables. If
/// they are not set, the function does not change `identity`. The initial value
/// of `identity` means rank 0 of 1 rank.
///
/// `bundle` is the directory that contains one executable per rank: rank-000,
/// rank-001 and so on. Returns an error if the number of these executables
/// differs from the number of ranks. If the directory contains no executable
/// with such a name, the function does not compare the numbers.
static Status findRank(const Environment &environment,
                       const std::string &bundle, RankIdentity &identity) {
  std::optional<RankIdentity> found;
  PCC_RETURN_IF_ERROR(findIdentity(environment, found));
  if (found)
    identity = *found;
  const int worldSize = countRanks(bundle);
  return worldSize ? checkWorldSize(identity, worldSize) : Status::success();
}

namespace {
/// Reports the error with which this rank fails. A process reports at most one
/// error. There are two functions:
///
/// - report() reports the error and returns. The thread that runs the rank
///   calls report().
/// - giveUp() reports the error and ends the process. Another thread calls
///   giveUp() if the thread that runs the rank hangs. For example, a call of
///   NCCL does not return.
class RankExit {
public:
  RankExit(const RunOptions &options, const Environment &environment,
           const RankIdentity &identity)
      : options(options), environment(environment), rank(identity.rank),
        folder(sharedFolder(environment)),
        recorder(std::make_shared<FlightRecorder>(
            rank, folder.empty() ? "" : flightFile(folder, rank))) {}

  /// Returns the flight recorder (log of the latest activities) of this rank.
  /// It writes to a file if the ranks of the host share a folder, otherwise to
  /// memory.
  const std::shared_ptr<FlightRecorder> &flights() const { return recorder; }

  /// Returns a copy of the error `status`. If the exit code is PeerLost
  /// (another rank has failed or is late), the copy also describes the last
  /// activities of the ranks on this host. For example: "rank 3: step 12,
  /// action 1B0, for 9.0 s". Action 1B0 is stage 1, backward, microbatch 0.
  /// Adds no text if the ranks share no folder with these activities. `lost` is
  /// the rank whose process has ended too early, if this has caused the error,
  /// and otherwise std::nullopt. If `lost` is std::nullopt, the text names the
  /// rank that blocks this rank.
  Status explain(const Status &status, std::optional<int> lost) const {
    return status.code() == PeerLost && !folder.empty()
               ? explainLoss(status, readFlights(folder),
                             {.lost = lost, .waiter = rank})
               : status;
  }

  /// Reports the error `status` to the user, and returns the exit code of the
  /// error. `lost` is the rank whose process has ended too early (without a
  /// message to the other ranks), if this has caused the error. If another
  /// thread has already called report(), the function reports nothing. The user
  /// should see only one error. If the ranks of this host share a folder, only
  /// the first rank that fails reports its error. If they share no folder,
  /// `onAllRanks` decides: if it is true, all ranks have the same error, and
  /// only rank 0 reports it. If it is false, each rank that fails reports its
  /// error.
  int report(const Status &status, std::optional<int> lost, bool onAllRanks) {
    // If `pcc run` has started the ranks, tell `pcc run` which rank was lost,
    // and report no error here. `pcc run` reports the error, because it knows
    // how the process of the lost rank ended, such as by SIGKILL.
    if (lost && environment.contains(kStatusFolderVariable)) {
      announceLoss(folder, *lost);
      return status.code();
    }
    // Set `isReporting` to true. If `isReporting` was true before, another
    // thread has begun to report an error. Wait for one second, so that the
    // other thread can print its error before this process ends.
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

  /// Reports the error `status` to the user, and ends this process with the
  /// exit code of the error. `lost` is the rank that was lost, if the loss
  /// caused the error; otherwise std::nullopt. A rank is lost if its process
  /// ends too early: before the rank has finished its work, and before the rank
  /// has sent an error to another rank.
  ///
  /// Another thread than the thread that runs the rank calls this function. The
  /// thread that runs the rank may hang, and may hold the lock of stdout. The
  /// function does not wait for this lock. It flushes stdout only if the lock
  /// is free.
  [[noreturn]] void giveUp(const Status &status, std::optional<int> lost) {
    const int code = report(explain(status, lost), lost, false);
    if (ftrylockfile(stdout) == 0)
      std::fflush(stdout);
    _exit(code);
  }

private:
  /// Writes the latest activities of the ranks to a JSON file. An activity is,
  /// for example, the backward of one microbatch. If the ranks of this host
  /// share a folder, the file has the activities of these ranks, and a name
  /// such as "x.flight.json". Otherwise, the file has only the activities of
  /// this rank, and a name such as "x.flight.rank-001.json". The option --save
  /// or --report determines the path. Does nothing without these options. Adds
  /// a line to the error `told`: the path of the file, or the reason why the
  /// file cannot be written.
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
  /// Path of the folder that the ranks of this host share; empty if there is
  /// none. The folder contains the error of the first rank that fails, and the
  /// log of the latest activities of each rank.
  const std::string folder;
  const std::shared_ptr<FlightRecorder> recorder;
  /// Whether a thread of this process has begun to report an error.
  std::atomic<bool> isReporting{false};
};

/// Executes a rank process from start to end: opens the device and the
/// communicator, runs the rank, and reports errors.
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

  /// Executes the rank, and returns the exit code of the process.
  int execute() {
    Status status = openTarget(start, place);
    if (status.ok())
      status = run();
    else if (place.rendezvous)
      place.rendezvous->abort(status);
    if (status.failed())
      return hasLeft ? stop(status) : fail(status);
    close();
    return Done;
  }

private:
  /// Loads the program, executes the steps, and writes the results. If a stop
  /// request, such as SIGTERM, ends the training, returns the error that names
  /// the request. If the rank fails, returns the result of findReason(), which
  /// sends the error to the other ranks. After success or a stop request, sets
  /// `hasLeft` to true. Ranks on GPUs first announce by Rendezvous::leave()
  /// that they have finished. If leave() fails, returns the error of leave()
  /// and does not set `hasLeft`.
  Status run() {
    auto rank =
        createRank(start.image, start.options, *place.world, *place.device);
    Status status = rank->run();
    const bool isStopped = status.code() >= Stopped;
    if (status.failed() && !isStopped) {
      status = findReason(status);
      // On a GPU, do not call the destructor of `*rank`. The destructor would
      // wait until the GPU has finished its queued work. After an error, the
      // GPU may never finish this work. For example, the work may wait for data
      // of a rank that has failed.
      if (!place.device->sharesHostMemory())
        (void)rank.release();
      return status;
    }
    start.recorder->leave();
    if (place.rendezvous)
      PCC_RETURN_IF_ERROR(place.rendezvous->leave());
    hasLeft = true;
    return status;
  }

  /// Reports to the user that a signal, such as SIGTERM, has stopped the
  /// training. The end of the process that reads stdout counts as the signal
  /// SIGPIPE. `status` is the error that names the signal. All ranks have
  /// stopped after the same step, and have the same error.
  ///
  /// The function then closes the communicator, and returns the exit code of
  /// `status`. The exit code is 16 with the option --save, otherwise 128 plus
  /// the number of the signal.
  int stop(const Status &status) {
    const int code = end.report(status, {}, /*onAllRanks=*/true);
    close();
    return code;
  }

  /// Returns the error with which the run has failed. `mine` is the error of
  /// this rank. place.rendezvous connects several ranks on GPUs, and is null
  /// otherwise. If another rank has sent its error, returns this error
  /// unchanged. If the process of a rank has ended without an error message,
  /// returns an error that names that rank. Otherwise, returns `mine`. In the
  /// last two cases, explain() may add text to the error, and the function
  /// sends the error to the other ranks.
  Status findReason(const Status &mine) {
    if (!place.rendezvous) {
      const Status told = end.explain(mine, {});
      // Report the error before the call of abort(). A rank that has finished
      // its work waits for the other ranks. abort() ends this wait, and the
      // waiting rank then ends without a call of MPI_Finalize. mpirun therefore
      // kills all other ranks, which includes the rank of this process.
      reported = reportError(told);
      place.world->abort(told);
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

  /// Reports the error `status` to the user, and returns its exit code.
  int reportError(const Status &status) {
    // If the ranks share no folder, `onAllRanks` decides which ranks print the
    // error: only rank 0 (true), or each rank that fails (false). On CPUs,
    // WrongWorld normally means that the number of ranks is wrong. NoDevice
    // normally means that MPI is not available. All ranks then have the same
    // error. On GPUs, a single rank may have an error with one of these exit
    // codes. For example, only rank 3 finds no GPU.
    const bool onAllRanks = !start.image.gpu && (status.code() == WrongWorld ||
                                                 status.code() == NoDevice);
    return end.report(status, lost, onAllRanks);
  }

  /// Returns the first error that place.rendezvous has recorded, or success.
  /// place.rendezvous connects the ranks. This object records an error if
  /// another rank sends an error, or if the process of another rank ends. The
  /// function uses only the exit code of `mine`, the error of this rank. If
  /// this code is PeerLost (another rank has failed or is late) or Defect (NCCL
  /// reports some lost ranks as an internal error), place.rendezvous may record
  /// an error soon. The function then waits for an error, but at most for 0.2
  /// s.
  Status awaitVerdict(const Status &mine) const {
    Status status = place.rendezvous->poll();
    const bool isUndecided = mine.code() == PeerLost || mine.code() == Defect;
    for (int i = 0; i < 20 && status.ok() && isUndecided; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      status = place.rendezvous->poll();
    }
    return status;
  }

  /// Reports an error to the user unless findReason() has already done so,
  /// closes the communicator, and returns the exit code of the process.
  int fail(const Status &status) {
    // If `wasTold` is true, another rank has found the error, and has sent a
    // copy of the error to this rank. Both ranks call report(). The user
    // normally sees only the error of the rank that calls report() first. The
    // other rank has the complete error message. The copy has at most the first
    // 8192 bytes of the message. The other rank should therefore call report()
    // first. This rank waits for 0.1 s, so that the other rank has time to call
    // report().
    if (wasTold)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const int code = reported ? *reported : reportError(status);
    if (place.rendezvous && place.world)
      abort(status);
    else if (!place.rendezvous)
      close();
    return code;
  }

  /// Aborts the communicators of this rank because of the error `why`. Destroys
  /// the recorded step before: NCCL does not end a communicator as long as a
  /// CUDA graph holds its calls.
  void abort(const Status &why) {
    if (QueuedDevice *queued = place.device ? place.device->queued() : nullptr)
      queued->dropRecording();
    place.world->abort(why);
  }

  /// Destroys the communicator and the device. The destructor of the
  /// communicator may wait for the other ranks, and has no time limit. The
  /// function therefore creates a Watchdog, an object with a thread and a time
  /// limit. The time limit is `start.options.loadTimeout` seconds. If the
  /// function has not returned by then, the thread reports an error and ends
  /// the process.
  void close() {
    const Watchdog watchdog(start.options.loadTimeout, [this] {
      start.giveUp(Status::error(PeerLost,
                                 "rank " + std::to_string(start.identity.rank) +
                                     " waited too long for all ranks to end"),
                   {});
    });
    place.world.reset();
    place.device.reset();
  }

  RankExit end;
  const RankStart start;
  RankBackend place;
  /// Rank that was lost, if the loss caused the failure of the run; otherwise
  /// std::nullopt. A rank is lost if its process ends too early: before the
  /// rank has finished its work, and before the rank has sent an error to
  /// another rank. For example, SIGKILL ends the process.
  std::optional<int> lost;
  /// Whether this rank has finished its work. The work is finished if all steps
  /// are done, or if a stop request, such as the signal SIGTERM, has ended the
  /// training. If there are several ranks on GPUs, this rank must also have
  /// announced to the other ranks that its work is finished.
  ///
  /// If `hasLeft` is true, the only possible error is the stop of the training.
  bool hasLeft = false;
  /// Whether another rank has sent an error to this rank.
  bool wasTold = false;
  /// Exit code of the error that findReason() has reported, if it has.
  std::optional<int> reported;
};
} // namespace

/// Flushes output, and ends the process without running destructors.
[[noreturn]] static void leave(int exitCode) {
  std::fflush(nullptr);
  _exit(exitCode);
}

/// Runs one rank, from the start to the end of this process. First finds the
/// number of the rank in the environment variables of the launcher, then parses
/// the command line. If the command line is invalid, each rank detects the same
/// error. reportFailure() uses the number of the rank to ensure that only one
/// rank reports the error.
///
/// The function catches no exceptions, but reportExhaustion() installs a
/// handler for them. If an exception occurs, such as std::bad_alloc, the
/// handler reports an error and ends the process.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char **argv) {
  repairInheritedState();
  reportExhaustion([](const Status &status) {
    const Environment environment = currentEnvironment();
    std::optional<RankIdentity> identity;
    (void)findIdentity(environment, identity);
    reportFailure(status, environment, identity ? identity->rank : 0, false);
  });
  const Environment environment = currentEnvironment();
  std::error_code problem;
  RunOptions options;
  options.bundle =
      std::filesystem::read_symlink("/proc/self/exe", problem).parent_path();
  RankIdentity identity;
  Status status = raiseLimits();
  if (status.ok())
    status = findRank(environment, options.bundle, identity);
  if (status.ok())
    status = parse(argc, argv, options);
  if (status.failed())
    leave(reportFailure(status, environment, identity.rank, true));
  options.localRanks = identity.localSize;
  if (environment.contains(kProgressVariable))
    options.onProgress = [](const std::string &what) {
      std::fputs(progressLine(what).c_str(), stderr);
    };
  if (environment.contains(kTrainingLineVariable))
    options.onTrainingLine = [](const TrainingLine &line) {
      std::fputs(trainingStepLine(line).c_str(), stderr);
    };
  if (environment.contains(kStatusFolderVariable))
    options.onTable = [](const std::string &table) {
      std::fputs(tableLines(table).c_str(), stderr);
    };
  RankLifecycle life(options, environment, identity);
  // End the process without the destructor of `life`. After an error, `life`
  // may still contain the communicator of this rank. The destructor of the
  // communicator could wait for other ranks that have failed.
  leave(life.execute());
}
