//===- SpawnRanks.cpp - starts a bundle's ranks as processes --------------===//

#include "runtime/launch/spawn/SpawnRanks.h"

#include "runtime/comm/flight/FailureReport.h"
#include "runtime/launch/job/BundleFiles.h"
#include "runtime/launch/job/CrashCleanup.h"
#include "runtime/launch/job/PrivateFolder.h"
#include "runtime/launch/job/RandomToken.h"
#include "runtime/launch/rendezvous/Address.h"
#include "runtime/launch/report/FirstFailure.h"
#include "runtime/launch/report/FlightFile.h"
#include "runtime/launch/report/LauncherOutcome.h"
#include "runtime/launch/report/LauncherOutput.h"
#include "runtime/launch/report/RankWatch.h"
#include "runtime/launch/spawn/ChildProcess.h"
#include "runtime/launch/spawn/LauncherResources.h"
#include "runtime/launch/spawn/LocalLauncher.h"
#include "runtime/launch/spawn/OutputRelay.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <unistd.h>
#include <utility>

namespace pcc::runtime {

/// Returns the path of the executable with the name `name`. Searches the
/// directories in the environment variable PATH, and returns the first match.
/// For example, "mpirun" gives "/usr/bin/mpirun". If PATH is not set, searches
/// /usr/local/bin, /usr/bin and /bin. If `name` contains a slash, `name` is a
/// path already, and the function does not search. Returns an empty string if
/// the executable does not exist.
static std::string findInPath(const std::string &name) {
  if (name.find('/') != std::string::npos)
    return access(name.c_str(), X_OK) == 0 ? name : "";
  const char *path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/local/bin:/usr/bin:/bin");
  std::string folder;
  while (std::getline(folders, folder, ':')) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0)
      return candidate;
  }
  return "";
}

/// Returns whether all ranks are certainly on this host. Returns false if this
/// process belongs to a job of the batch schedulers Slurm, PBS or LSF, because
/// a job of a batch scheduler can have several hosts.
static bool isOnOneHost() {
  return !std::getenv("SLURM_JOB_ID") && !std::getenv("PBS_JOBID") &&
         !std::getenv("LSB_JOBID");
}

/// Returns a command line for mpirun of Open MPI 4.1. The caller appends the
/// executable that mpirun starts once per rank. The parameters are:
///
/// - `launcher`: the path of mpirun.
/// - `worldSize`: the number of ranks. There may be more ranks than cores, and
///   no rank is bound to a core.
/// - `folder`: the directory in which mpirun stores its own files.
/// - `memory`: the directory in which MPI stores the messages between the
///   ranks, if all ranks are on one host.
///
/// An option "--mca NAME VALUE" sets the parameter NAME of Open MPI to VALUE.
std::vector<std::string> launchCommand(const std::string &launcher,
                                       int worldSize, const std::string &folder,
                                       const std::string &memory) {
  std::vector<std::string> command = {launcher, "--allow-run-as-root",
                                      "--oversubscribe", "--bind-to", "none"};
  auto set = [&](const char *name, const std::string &value) {
    command.insert(command.end(), {"--mca", name, value});
  };
  // Makes mpirun keep its own files in `folder`, which pcc always removes.
  set("orte_tmpdir_base", folder);
  set("mpi_yield_when_idle", "1");
  // By default, a rank copies a large message directly from the memory of
  // another rank by the system call process_vm_readv(). Containers forbid this
  // system call. The value "none" makes MPI copy all messages through memory
  // that the ranks share.
  set("btl_vader_single_copy_mechanism", "none");
  if (isOnOneHost())
    set("btl", "self,vader");
  if (isOnOneHost())
    set("btl_vader_backing_directory", memory);
  command.insert(command.end(), {"-np", std::to_string(worldSize)});
  return command;
}

/// Returns environment variables for the process of a run with only one rank.
/// The variables say that the process is rank 0, and that there is 1 rank. If
/// there are several ranks on CPUs, the launcher mpirun sets similar variables.
/// A run with one rank has no launcher.
static Variables identityOfOnlyRank() {
  return {{"PCC_RANK", "0"}, {"PCC_WORLD_SIZE", "1"}};
}

/// Writes `lines` to stderr by a single write. Errors are ignored.
static void passOn(const std::string &lines) {
  if (!lines.empty() && write(STDERR_FILENO, lines.data(), lines.size()) < 0)
    return;
}

/// Passes new output of the ranks to the user: first training steps, then
/// `lines`, then the progress message.
///
/// - Passes the training steps in `output` to `request.onTrainingLine`. They
///   come before `lines`, because the table of ranks in `lines` follows the
///   last step.
/// - Prints `lines`, which the ranks wrote for the user, to stderr. Before
///   that, passes an empty text to `request.onProgress`, which then removes the
///   displayed progress message from the terminal. Otherwise the first of the
///   `lines` would be printed behind this message.
/// - Passes the latest progress message in `output` to `request.onProgress`, if
///   a new message has arrived. onProgress displays the message on the
///   terminal.
static void handOn(LauncherOutput &output, const std::string &lines,
                   const SpawnRequest &request) {
  for (const TrainingLine &step : output.takeSteps())
    if (request.onTrainingLine)
      request.onTrainingLine(step);
  const auto progress = output.takeProgress();
  if (request.onProgress && !lines.empty())
    request.onProgress("");
  passOn(lines);
  if (request.onProgress && progress)
    request.onProgress(*progress);
}

namespace {
/// Description of the process that starts the ranks: its command line,
/// additional environment variables, and whether it gets a Linux network
/// namespace of its own.
struct Launcher {
  std::vector<std::string> command;
  Variables variables;
  bool hasPrivateNetwork = false;
};

/// One execution of a launcher, with the ranks that it starts and their output.
class Launch {
public:
  Launch(const std::string &folder, const SpawnRequest &request)
      : request(request), ranks(folder), relay(request.timeout) {}

  /// Executes `launcher`, blocks until it has ended, and stores in `outcome`
  /// how it ended.
  Status run(const Launcher &launcher, LauncherOutcome &outcome) {
    PCC_RETURN_IF_ERROR(child.start(launcher.command, launcher.variables,
                                    launcher.hasPrivateNetwork));
    latest = Clock::now();
    outcome.waitStatus = child.wait(
        {.onStderr =
             [this](std::string_view text) {
               handOn(output, output.take(text), request);
             },
         .onStdout = [this](std::string_view text) { passOnStdout(text); },
         .takesStdout = [this] { return !relay.isFull(); },
         .fd = ranks.fd(),
         .onReadable = [this] { ranks.poll(); },
         .onSignal = [this](int signal) { return ranks.signalAll(signal); },
         .isOver = [this] { return advance(); }});
    handOn(output, output.takeRest(), request);
    relay.finish();
    outcome.interruptedBy = child.interruptedBy();
    outcome.askedBy = child.takenSignal();
    outcome.noise = output.noise();
    outcome.started = ranks.started();
    outcome.firstEnded = ranks.firstEnded();
    outcome.exceeded = exceeded;
    outcome.isReaderGone = relay.isReaderGone();
    outcome.stdoutFailure = relay.isReaderGone() ? Status() : relay.failure();
    return Status::success();
  }

private:
  using Clock = std::chrono::steady_clock;
  /// Longest time from a signal to the end of the launcher. The launcher is the
  /// process that starts the ranks, such as mpirun. The signal is one that this
  /// process receives, such as SIGINT. If a rank ends after the signal, the
  /// time counts from the end of the last rank. A launcher that takes longer is
  /// killed.
  static constexpr std::chrono::seconds kGrace{4};

  /// Passes text of the ranks on to stdout. A progress message is removed
  /// first, so that the two never share a line of a terminal.
  void passOnStdout(std::string_view text) {
    if (request.onProgress)
      request.onProgress("");
    relay.add(text);
  }

  /// Copies the ranks' output to the stdout of this process. If the write
  /// fails, asks the ranks to stop. Returns whether the launcher, which starts
  /// the ranks, must be killed for one of these reasons:
  ///
  /// - No rank has started within request.loadTimeout seconds.
  /// - The launcher has not ended within request.loadTimeout seconds after the
  ///   end of the last rank.
  /// - No rank is running, and the launcher has not ended within kGrace (4 s)
  ///   after a signal to this process (see isStuckAfterSignal()).
  ///
  /// Always returns false if the ranks may be on several hosts.
  bool advance() {
    relay.advance();
    if (relay.failure().failed() && !std::exchange(wasStopped, true) &&
        !ranks.signalAll(SIGPIPE))
      child.send(SIGTERM);
    const bool isStarting = !ranks.started();
    // The launcher has a deadline only while no rank is running: before the
    // first rank starts, and after all started ranks have ended. Ranks on other
    // hosts cannot be detected. If there may be such ranks, the launcher has no
    // deadline.
    if (!isOnOneHost() || ranks.anyRuns()) {
      latest = Clock::now();
      return false;
    }
    const std::chrono::duration<double> limit(request.loadTimeout);
    if (exceeded.empty() && Clock::now() - latest > limit)
      describeDeadline(isStarting);
    return !exceeded.empty() || isStuckAfterSignal();
  }

  /// Returns whether the launcher must be killed, because it does not end after
  /// a signal to this process, such as SIGINT. Must be called only while no
  /// rank is running.
  ///
  /// The result is true if two events were both more than kGrace (4 s) ago: the
  /// signal, and the end of the last rank. If no rank has started, the second
  /// event is the start of the launcher.
  bool isStuckAfterSignal() {
    if (!child.interruptedBy() && !child.takenSignal())
      return false;
    if (!signalled)
      signalled = Clock::now();
    return Clock::now() - std::max(*signalled, latest) > kGrace;
  }

  void describeDeadline(bool isStarting) {
    std::ostringstream text;
    text << "did not " << (isStarting ? "start a rank" : "end after its ranks")
         << " within " << request.loadTimeout << " s";
    exceeded = text.str();
  }

  const SpawnRequest &request;
  RankWatch ranks;
  ChildProcess child;
  OutputRelay relay;
  LauncherOutput output;
  /// Time from which the launcher's current deadline counts. The launcher has
  /// two deadlines, each of request.loadTimeout seconds:
  ///
  /// - The launcher must start the first rank. This deadline counts from the
  ///   start of the launcher.
  /// - The launcher must end after all ranks have ended. This deadline counts
  ///   from the end of the last rank.
  ///
  /// While a rank is running, there is no deadline. If the ranks may be on
  /// several hosts, there is never a deadline. Without a deadline, each call of
  /// advance() sets this variable to the current time.
  Clock::time_point latest;
  /// Time at which isStuckAfterSignal() first noticed that this process had
  /// received a signal, such as SIGINT. The value is std::nullopt before this
  /// time.
  std::optional<Clock::time_point> signalled;
  bool wasStopped = false; ///< whether the ranks were asked to stop for stdout
  /// Text about a deadline that the launcher has missed, such as "did not start
  /// a rank within 600 s". The launcher is the process that starts the ranks,
  /// such as mpirun. The text is empty if the launcher has missed no deadline.
  std::string exceeded;
};
} // namespace

/// Executes `launcher`, blocks until it has ended, and stores in `outcome` how
/// the run ended. `launcher` starts the ranks. The ranks write their
/// error reports into the directory `folder`.
///
/// Passes on the output of the ranks: all of stdout, and some lines of stderr.
/// These lines begin with "pcc:", "note:" or "pcc-table: ".
static Status runLauncher(Launcher launcher, LauncherOutcome &outcome,
                          const std::string &folder,
                          const SpawnRequest &request) {
  Variables &variables = launcher.variables;
  variables.emplace_back(kStatusFolderVariable, folder);
  // Keeps hwloc, a library in mpirun, from searching X displays for GPUs, which
  // may take seconds.
  if (!std::getenv("HWLOC_COMPONENTS"))
    variables.emplace_back("HWLOC_COMPONENTS", "-gl");
  if (request.onProgress)
    variables.emplace_back(kProgressVariable, "1");
  if (request.onTrainingLine)
    variables.emplace_back(kTrainingLineVariable, "1");
  PCC_RETURN_IF_ERROR(Launch(folder, request).run(launcher, outcome));
  outcome.reported = readReport(folder);
  return Status::success();
}

/// Returns the error of the run, or success. `folder` contains the flight
/// recorder of each rank: a log of the rank's latest activities. Also fills in
/// the fields of `outcome` that tell whether the ranks have started and
/// finished.
///
/// If the error has exit code 14 (PeerLost), and no signal to this process
/// ended the run, writes the flight recorders to the file request.flightFile.
/// Also adds the last activity of each rank to the error, unless a rank
/// reported the error: a reported error already contains these activities.
static Status explainOutcome(LauncherOutcome &outcome, int worldSize,
                             const std::string &folder,
                             const SpawnRequest &request) {
  const std::vector<FlightLog> flights = readFlights(folder);
  const bool allKnown = int(flights.size()) == worldSize;
  const auto left =
      std::count_if(flights.begin(), flights.end(),
                    [](const FlightLog &log) { return log.hasLeft; });
  outcome.allLeft = allKnown && left == worldSize;
  outcome.someStay = allKnown && left < worldSize;
  outcome.isStarting =
      std::all_of(flights.begin(), flights.end(), [](const FlightLog &log) {
        return std::all_of(log.entries.begin(), log.entries.end(),
                           [](const FlightEntry &entry) {
                             return entry.action == kStartAction;
                           });
      });
  outcome.isOnOneHost = isOnOneHost();
  Status status = translateOutcome(outcome);
  if (status.code() != PeerLost || outcome.interruptedBy || outcome.askedBy)
    return status;
  // If a rank has reported the error, the error already lists the last
  // activities of the ranks. Otherwise add the last activities here.
  const auto lost = lostRank(outcome);
  if (!outcome.reported && !flights.empty())
    status = explainLoss(status, flights,
                         {lost ? std::optional(lost->rank) : std::nullopt});
  writeFlights(flights, request.flightFile, status);
  return status;
}

/// Starts BUNDLE/run, the executable in the bundle directory, in one of three
/// ways:
///
/// - One rank: this process starts BUNDLE/run, which becomes the rank.
/// - Several GPU ranks: this process starts BUNDLE/run with the environment
///   variable PCC_LAUNCH, the number of ranks. BUNDLE/run then starts the ranks
///   as child processes.
/// - Several CPU ranks: this process starts mpirun, and mpirun starts
///   BUNDLE/run once per rank.
Status spawnRanks(const SpawnRequest &request) {
  const int worldSize = countRanks(request.bundle);
  std::error_code problem;
  const std::string program =
      std::filesystem::absolute(request.bundle, problem) / "run";
  if (worldSize == 0 || access(program.c_str(), X_OK) != 0)
    return Status::error(DamagedBundle, request.bundle +
                                            " is not a bundle: it has no " +
                                            (worldSize ? "run" : "rank-000"));
  // Helper process that deletes `folder` and `memory` if this process is
  // killed. C++ destroys variables in reverse order of declaration. `cleanup`
  // is declared first, so the helper process still runs while `folder` and
  // `memory` are destroyed.
  std::optional<CrashCleanup> cleanup;
  PrivateFolder folder;
  PCC_RETURN_IF_ERROR(folder.create());
  // Directory in which MPI stores the messages between the ranks. The directory
  // is created in /dev/shm, a file system in memory. If /dev/shm is missing or
  // too small, `memory` is not created, and MPI stores the messages in
  // `folder`.
  PrivateFolder memory;
  if (holdsMessages("/dev/shm", worldSize))
    (void)memory.create("/dev/shm");
  cleanup.emplace(std::vector{folder.path(), memory.path()});

  LauncherOutcome outcome;
  Launcher launcher;
  if (worldSize == 1) {
    outcome.launcher = "rank 0";
    launcher.variables = identityOfOnlyRank();
  } else if (request.onGpus) {
    outcome.launcher = program;
    launcher.variables = {
        {kLaunchVariable, std::to_string(worldSize)},
        {kRendezvousVariable, "unix:" + folder.path() + "/meet"},
        {kTokenVariable, randomToken()}};
  } else {
    const std::string path = findInPath(request.launcher);
    if (path.empty())
      return Status::error(
          NoDevice, "the launcher " + request.launcher + " was not found",
          {"install Open MPI 4.1, or run all ranks in one process with "
           "--comm thread"});
    const bool inFolder = memory.path().empty();
    PCC_RETURN_IF_ERROR(allowOpenFiles(request.launcher, worldSize));
    PCC_RETURN_IF_ERROR(checkFileSizeLimit(request.launcher));
    if (isOnOneHost())
      PCC_RETURN_IF_ERROR(
          checkSpace(request.launcher, folder.path(), worldSize, inFolder));
    launcher.command = launchCommand(path, worldSize, folder.path(),
                                     inFolder ? folder.path() : memory.path());
    launcher.hasPrivateNetwork = isOnOneHost();
  }
  launcher.command.push_back(program);
  launcher.command.insert(launcher.command.end(), request.arguments.begin(),
                          request.arguments.end());
  PCC_RETURN_IF_ERROR(
      runLauncher(std::move(launcher), outcome, folder.path(), request));
  return explainOutcome(outcome, worldSize, folder.path(), request);
}

} // namespace pcc::runtime
