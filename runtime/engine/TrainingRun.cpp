//===- TrainingRun.cpp - training loop of a rank, with checkpoints --------===//

#include "runtime/engine/TrainingRun.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/base/InheritedState.h"
#include "runtime/base/StopWatch.h"
#include "runtime/checkpoint/CheckpointFolder.h"
#include "runtime/checkpoint/LoadCheckpoint.h"
#include "runtime/engine/StopRequest.h"
#include "runtime/tensor/ElementDispatch.h"
#include "runtime/tensor/JsonNumbers.h"
#include "runtime/tensor/NonFinite.h"
#include "status/PrintableText.h"
#include "status/ShellWord.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace pcc::runtime {

bool trains(const program::ProgramT &program) {
  // The program trains if its schedule contains an optimizer update or a
  // backward pass. A search for the update alone is not sufficient: the program
  // of a rank without trained weights contains a backward pass, but no update.
  // A zero-bubble schedule splits a backward pass into InputGradient and
  // WeightGradient. InputGradient therefore counts as a backward pass.
  return std::any_of(
      program.actions.begin(), program.actions.end(), [](const auto &action) {
        return action->kind == program::ActionKind::Update ||
               action->kind == program::ActionKind::Backward ||
               action->kind == program::ActionKind::InputGradient;
      });
}

TrainingRun::TrainingRun(const program::ProgramT &program, const Mesh &mesh,
                         const Coordinates &at, const RunOptions &options,
                         World &world, HostTrainingState &state,
                         HostBuffers &buffers, const Parameters &parameters,
                         Inputs &inputs, ScheduleExecutor &schedule,
                         StepLog &log, Progress &progress)
    : program(program), mesh(mesh), at(at), options(options), world(world),
      state(state), buffers(buffers), parameters(parameters), inputs(inputs),
      schedule(schedule), log(log), progress(progress), speed(program) {}

TrainingRun::~TrainingRun() {
  if (metricsFile < 0)
    return;
  struct stat info = {};
  if (madeMetricsFile && fstat(metricsFile, &info) == 0 && info.st_size == 0)
    unlink(options.metrics.c_str());
  close(metricsFile);
}

/// Reads this rank's shards of weights and optimizer state into host memory,
/// then copies them to the device.
Status TrainingRun::resume(const std::string &directory,
                           std::vector<std::string> &notes) {
  LoadedCheckpoint loaded;
  PCC_RETURN_IF_ERROR(state.open());
  PCC_RETURN_IF_ERROR(
      loadCheckpoint(directory, state.all(), mesh, at, world, loaded));
  PCC_RETURN_IF_ERROR(state.store());
  position = loaded.position;
  notes.insert(notes.end(), loaded.notes.begin(), loaded.notes.end());
  return inputs.checkPosition(position.samples);
}

Status TrainingRun::resumeAsAsked() {
  if (options.resume.empty())
    return Status::success();
  std::vector<std::string> notes;
  Status status = resume(options.resume, notes);
  for (const std::string &note : notes)
    tell(note);
  return status;
}

void TrainingRun::tell(const std::string &note) const {
  if (world.rank() == 0 && !options.quiet)
    std::fprintf(stderr, "note: %s\n", printable(note).c_str());
}

void TrainingRun::tellOfOthers(const std::string &directory) const {
  std::error_code error;
  std::vector<std::string> names;
  if (std::filesystem::equivalent(options.resume, directory, error) ||
      std::filesystem::equivalent(options.resume + "/..", directory, error) ||
      listCheckpoints(directory, names).failed() || names.empty())
    return;
  tell("'" + directory + "' holds " + names.front() +
       " of another training, and this training replaces checkpoints of equal "
       "steps; --resume " +
       shellWord(directory) + " continues the other");
}

Status TrainingRun::openOutputs() {
  if (!options.metrics.empty() && world.rank() == 0) {
    madeMetricsFile = access(options.metrics.c_str(), F_OK) != 0;
    PCC_RETURN_IF_ERROR(
        openOutput(options.metrics, O_CREAT | O_APPEND, metricsFile));
    // Lock the metrics file as long as training runs. A program that follows
    // the file, such as pcc report, sees by this lock that more lines may come.
    // If the lock fails, training continues without it.
    (void)flock(metricsFile, LOCK_SH | LOCK_NB);
  }
  if (options.save.empty())
    return Status::success();
  tellOfOthers(options.save);
  return openWriter(options.save);
}

/// Creates and opens a writer of checkpoints in `directory`. It replaces the
/// previous writer, if there is one.
Status TrainingRun::openWriter(const std::string &directory) {
  PCC_RETURN_IF_ERROR(state.open());
  writersDirectory = directory;
  writer = std::make_unique<CheckpointWriter>();
  CheckpointOptions saving;
  saving.directory = directory;
  saving.inBackground = options.saveInBackground;
  saving.timeout = options.loadTimeout;
  saving.model = program.model;
  saving.weightsRoot = program.weights_root;
  saving.planHash = program.plan_hash;
  return writer->open(saving, state.tensors(), mesh, at, world);
}

/// Returns whether this rank's program computes the output `name`.
static bool hasOutput(const program::ProgramT &program, std::string_view name) {
  return std::any_of(program.outputs.begin(), program.outputs.end(),
                     [&](const auto &output) {
                       return output->name == name && output->buffer >= 0;
                     });
}

/// Finds the output `name`, and converts its single element, of any
/// floating-point type, to double.
Status TrainingRun::readNumber(std::string_view name,
                               std::optional<double> &number) const {
  for (const auto &output : program.outputs)
    if (output->name == name && output->buffer >= 0) {
      const void *data = nullptr;
      PCC_RETURN_IF_ERROR(buffers.read(output->buffer, 0, data));
      convertElements(typeOf(output->type), data, 1, ElementType::F64,
                      &number.emplace());
      break;
    }
  return Status::success();
}

Status TrainingRun::findLoss() {
  rankOfLoss = hasOutput(program, "loss") ? world.rank() : world.size();
  return world.all().allReduce(&rankOfLoss, &rankOfLoss, 1, ElementType::I32,
                               dist::ReductionKind::Min, {"load", "training"});
}

/// Sets `metrics` to the loss, the gradient norm, the learning rate and the
/// loss scale of the latest step. Numbers that this rank does not compute stay
/// empty.
///
/// Rank 0 prints the numbers. If rank 0 does not compute the loss, the lowest
/// rank that does, `rankOfLoss`, broadcasts its four numbers to all ranks. All
/// ranks must therefore call this function together. If `rankOfLoss` lacks the
/// loss scale, this number stays empty on all ranks. Any other number that
/// `rankOfLoss` lacks becomes 0.
Status TrainingRun::readMetrics(StepMetrics &metrics) const {
  metrics.step = position.step;
  const std::pair<std::string_view, std::optional<double> &> wanted[] = {
      {"loss", metrics.loss},
      {"grad_norm", metrics.gradNorm},
      {"lr", metrics.learningRate},
      {"loss_scale", metrics.lossScale}};
  for (const auto &[name, number] : wanted)
    PCC_RETURN_IF_ERROR(readNumber(name, number));
  if (rankOfLoss == 0 || rankOfLoss == world.size())
    return Status::success();
  const double none = std::numeric_limits<double>::quiet_NaN();
  std::array<double, 4> numbers = {
      metrics.loss.value_or(0), metrics.gradNorm.value_or(0),
      metrics.learningRate.value_or(0), metrics.lossScale.value_or(none)};
  Status status = world.all().broadcast(numbers.data(), sizeof numbers,
                                        rankOfLoss, {"step", "metrics"});
  metrics = {position.step, numbers[0], numbers[1], numbers[2], {}};
  if (!std::isnan(numbers[3]))
    metrics.lossScale = numbers[3];
  return status;
}

Status TrainingRun::gatherPeakLive() {
  if (options.metrics.empty() || !peakLive.empty())
    return Status::success();
  peakLive = log.peakLive();
  return world.all().allReduce(peakLive.data(), peakLive.data(),
                               peakLive.size(), ElementType::I32,
                               dist::ReductionKind::Max, {"step", "metrics"});
}

/// Returns `number`. Replaces a NaN with a minus sign by a NaN without it,
/// because the sign has no meaning, and snprintf() would print "-nan".
static double unsignedNan(double number) {
  return std::isnan(number) ? std::numeric_limits<double>::quiet_NaN() : number;
}

double TrainingRun::longestWrite() const { return options.timeout / 2; }

/// Writes the metrics of one step as a line to stdout, where scripts read it.
/// Requests a stop if stdout is a pipe without a reader.
void TrainingRun::printStep(const StepMetrics &metrics) {
  char line[160];
  std::snprintf(
      line, sizeof line, "step %lld loss %.6g grad_norm %.6g lr %.6g\n",
      static_cast<long long>(metrics.step), unsignedNan(*metrics.loss),
      unsignedNan(metrics.gradNorm.value_or(0)),
      metrics.learningRate.value_or(0));
  Status status = writeAll(STDOUT_FILENO, line, "stdout", longestWrite());
  if (status.failed() && errno == EPIPE)
    requestStop(SIGPIPE);
  else if (logFailure.ok())
    logFailure = std::move(status);
}

bool TrainingRun::isDue(bool isLast) const {
  const bool saves = !options.save.empty() && options.saveEvery > 0 &&
                     position.step % options.saveEvery == 0;
  return isLast || saves || position.step % options.logEvery == 0;
}

Status TrainingRun::gatherPeakBytes(bool isLast) {
  if (!showsPeak || !isDue(isLast))
    return Status::success();
  peakBytes = peakMemoryOfProcess();
  return world.all().allReduce(&peakBytes, &peakBytes, 1, ElementType::I64,
                               dist::ReductionKind::Max, {"step", "metrics"});
}

TrainingLine TrainingRun::lineOf(const StepMetrics &metrics,
                                 double seconds) const {
  const double perStep = stepsSinceFirst > 0
                             ? sinceFirst.seconds() / double(stepsSinceFirst)
                             : seconds;
  const auto tokens = speed.tokensPerSecond(seconds);
  TrainingLine line;
  line.step = metrics.step;
  line.lastStep = lastStep;
  line.loss = *metrics.loss;
  line.gradNorm = metrics.gradNorm;
  line.learningRate = metrics.learningRate;
  line.rate = tokens.value_or(speed.samplesPerSecond(seconds));
  line.countsTokens = tokens.has_value();
  line.mfu = speed.mfu(seconds);
  if (peakBytes > 0)
    line.peakBytes = double(peakBytes);
  line.isPeakOfAll = options.sharesProcess;
  line.secondsLeft = perStep * double(lastStep - metrics.step);
  return line;
}

/// On a terminal (`options.onTrainingLine`), shows every step with `isKept` =
/// true. Shows other steps at most ten times per second, because the next step
/// replaces their metrics on the terminal.
void TrainingRun::show(const StepMetrics &metrics, double seconds,
                       bool isKept) {
  wasKept = isKept;
  if (!options.onTrainingLine) {
    if (isKept) {
      progress.end();
      printStep(metrics);
    }
    progress.say("step " + std::to_string(metrics.step) + ": " +
                 speed.describe(seconds));
  } else if (isKept || sinceShown.seconds() > 0.1) {
    TrainingLine line = lineOf(metrics, seconds);
    line.isKept = isKept;
    options.onTrainingLine(line);
    sinceShown = StopWatch();
  }
}

/// Returns "nan", "inf" or "-inf"; an empty text for a finite number.
static std::string faultOf(std::optional<double> number) {
  return number ? nonFiniteText(nonFiniteIn(ElementType::F64, &*number, 1))
                : "";
}

std::string TrainingRun::warningOf(const StepMetrics &metrics) {
  const std::string ofLoss = faultOf(metrics.loss),
                    ofNorm = faultOf(metrics.gradNorm);
  const std::string step = " of step " + std::to_string(metrics.step) + " is ";
  if (!ofLoss.empty())
    return std::exchange(warnedOfLoss, true) ? "" : "loss" + step + ofLoss;
  if (ofNorm.empty() || metrics.lossScale)
    return "";
  return std::exchange(warnedOfNorm, true) ? ""
                                           : "gradient norm" + step + ofNorm;
}

/// Only rank 0 reports, and only if the program computes a loss. With
/// --check-finite, a value that is not finite ends the step with an error, so
/// tell() prints no warning.
void TrainingRun::tell(const StepMetrics &metrics, double seconds,
                       bool isLast) {
  if (world.rank() != 0 || !metrics.loss)
    return;
  const std::string warning = finite ? "" : warningOf(metrics);
  if (!options.isEmbedded)
    show(metrics, seconds, !warning.empty() || isDue(isLast));
  if (!warning.empty()) {
    progress.end();
    std::fprintf(stderr,
                 "pcc: warning: the %s\n"
                 "note: --check-finite names the op that makes it\n",
                 warning.c_str());
  }
  if (metricsFile >= 0)
    writeMetrics(metrics, seconds);
}

/// Appends a complete line of JSON after each step, so that other programs can
/// read the file during training.
void TrainingRun::writeMetrics(const StepMetrics &metrics, double seconds) {
  nlohmann::ordered_json line = {
      {"step", metrics.step},
      {"loss", *metrics.loss},
      {"grad_norm", metrics.gradNorm.value_or(0)},
      {"lr", metrics.learningRate.value_or(0)},
      {"seconds", seconds},
      {"samples", position.samples},
      {"samples_per_second", speed.samplesPerSecond(seconds)}};
  if (auto tokens = speed.tokensPerSecond(seconds))
    line["tokens_per_second"] = *tokens;
  if (auto mfu = speed.mfu(seconds))
    line["mfu"] = *mfu;
  line["peak_memory_bytes"] = peakMemoryOfProcess();
  line["peak_live_activations"] = peakLive;
  if (metrics.lossScale)
    line["loss_scale"] = *metrics.lossScale;
  roundNumbers(line);
  const off_t before = lseek(metricsFile, 0, SEEK_END);
  Status status = writeAll(metricsFile, line.dump() + "\n", options.metrics,
                           longestWrite());
  // If the write has failed, the metrics file may end with a part of the line.
  // Remove this part: cut the file to `before`, its size before the write. If
  // the file is a device such as /dev/full, ftruncate() fails with EINVAL. A
  // device stores no lines, so there is no part to remove.
  if (status.failed() && before >= 0 && ftruncate(metricsFile, before) != 0 &&
      errno != EINVAL)
    status.addNote("its last line is incomplete");
  if (logFailure.ok())
    logFailure = std::move(status);
}

/// Executes one training step, and adds its duration and metrics to `report`.
/// On a GPU, the host reads the inputs of the following step while the GPU
/// computes this step. If `isLast` is true, the host does not read the inputs
/// of the following step.
Status TrainingRun::step(RankReport &report, bool isLast) {
  if (options.isGivenUp && options.isGivenUp())
    return givenUp();
  if (rankOfLoss < 0)
    PCC_RETURN_IF_ERROR(findLoss());
  world.recorder().beginStep(position.step + 1);
  PCC_RETURN_IF_ERROR(inputs.read(position.samples));
  if (finite)
    PCC_RETURN_IF_ERROR(finite->beginStep(position.step + 1));
  const StopWatch watch;
  const auto readAhead = [&] {
    return isLast ? Status::success()
                  : inputs.readAhead(position.samples + program.samples);
  };
  PCC_RETURN_IF_ERROR(schedule.runStep(mesh, at, report.spent, log, readAhead));
  PCC_RETURN_IF_ERROR(parameters.checkFiles());
  report.steps.push_back(watch.seconds());
  report.seconds += report.steps.back();
  ++position.step;
  position.samples += program.samples;
  StepMetrics &metrics = report.metrics.emplace_back();
  PCC_RETURN_IF_ERROR(readMetrics(metrics));
  return finite ? finite->endStep(metrics) : Status::success();
}

Status TrainingRun::save(const std::string &directory) {
  if (!writer || writersDirectory != directory)
    PCC_RETURN_IF_ERROR(openWriter(directory));
  const auto saving = world.recorder().beginAction("save");
  Status status = state.fetch();
  if (status.ok())
    status = writer->save(position);
  world.recorder().end(saving);
  return status;
}

Status TrainingRun::saveIfDue(bool isLast) {
  const bool isDue = isLast || (options.saveEvery > 0 &&
                                position.step % options.saveEvery == 0);
  if (!writer || !isDue)
    return Status::success();
  // A rank may wait longer for other ranks during a save than during a step.
  // The limit for one wait is `options.timeout` seconds in a step, and
  // `options.loadTimeout` seconds in a save.
  world.setDeadline(options.loadTimeout);
  Status status = save(writersDirectory);
  if (status.ok())
    status = world.all().barrier({"save", "checkpoint"});
  world.setDeadline(options.timeout);
  return status;
}

/// Number that stands for the failure of rank 0 to write the metrics.
/// agreeToStop() computes the maximum of one number per rank. A rank
/// contributes the number of the signal that requests a stop, or 0 if there is
/// no such signal. If rank 0 cannot write the metrics, rank 0 contributes
/// `kLogFailed` instead. `kLogFailed` is greater than every signal number, and
/// is thus the maximum. For example, rank 0 contributes 1000, and rank 1
/// contributes 15 (SIGTERM). The maximum is 1000. All ranks then know that rank
/// 0 cannot write the metrics.
static constexpr int kLogFailed = 1000;

/// Sets `signal` on all ranks to the maximum of one number per rank. The number
/// of a rank is one of these:
///
/// - the number of the signal that has requested a stop on this rank;
/// - 0 if no signal has requested a stop on this rank;
/// - `kLogFailed` on rank 0 if rank 0 cannot write the metrics.
///
/// For example, SIGTERM (15) reaches rank 0 during step 7, and reaches rank 1
/// during step 8. After step 7, rank 0 has the number 15, and rank 1 has the
/// number 0. The maximum is 15. Both ranks thus stop after step 7.
Status TrainingRun::agreeToStop(int &signal) {
  int32_t any = logFailure.failed() ? kLogFailed : stopRequested();
  Status status = Status::success();
  if (world.size() > 1)
    status = world.all().allReduce(&any, &any, 1, ElementType::I32,
                                   dist::ReductionKind::Max, {"step", "stop"});
  signal = any;
  return status;
}

Status TrainingRun::describeStop(int signal) const {
  const std::string after =
      "after step " + std::to_string(position.step) +
      (options.save.empty() ? "; nothing is saved without --save" : "");
  const std::string remedy =
      "--resume " + options.save + " continues from there";
  std::vector<std::string> notes;
  if (!options.save.empty())
    notes.push_back(remedy);
  if (signal == kLogFailed) {
    if (logFailure.ok())
      return Status::success(); // Rank 0 reports its error.
    Status status = logFailure;
    status.addNote("training was stopped " + after);
    for (std::string &note : notes)
      status.addNote(std::move(note));
    return status;
  }
  const std::string why =
      signal == SIGPIPE ? "the reader of stdout is gone" : signalText(signal);
  return Status::error(options.save.empty() ? endedBySignal(signal) : Stopped,
                       "training was stopped by a request (" + why + ") " +
                           after,
                       std::move(notes));
}

Status TrainingRun::prepare() {
  PCC_RETURN_IF_ERROR(resumeAsAsked());
  PCC_RETURN_IF_ERROR(openOutputs());
  PCC_RETURN_IF_ERROR(findLoss());
  PCC_RETURN_IF_ERROR(speed.open(options, world));
  lastStep = position.step + options.steps;
  // If rank 0 shows the steps on a terminal, all ranks must exchange their peak
  // memory. Other ranks may lack the callback `onTrainingLine`, so an
  // all-reduce tells all ranks whether any rank has it.
  showsPeak = options.onTrainingLine ? 1 : 0;
  return world.all().allReduce(&showsPeak, &showsPeak, 1, ElementType::I32,
                               dist::ReductionKind::Max, {"load", "training"});
}

/// Executes a step, shows its metrics, agrees with the other ranks whether to
/// stop, and saves a checkpoint if one is due. If --check-finite finds a value
/// that is not finite, still shows the step. Training then ends without a
/// checkpoint.
Status TrainingRun::runOne(RankReport &report, int64_t done, int &signal) {
  const bool isLast = done + 1 == options.steps;
  Status status = step(report, isLast);
  const bool hasDiverged = status.code() == Diverged;
  if (status.failed() && !hasDiverged)
    return status;
  if (++stepsSinceFirst == 0)
    sinceFirst = StopWatch();
  PCC_RETURN_IF_ERROR(gatherPeakLive());
  PCC_RETURN_IF_ERROR(gatherPeakBytes(isLast));
  tell(report.metrics.back(), report.steps.back(), isLast || hasDiverged);
  if (hasDiverged) {
    isStopped = true;
    reasonOfEnd = std::move(status);
    return Status::success();
  }
  PCC_RETURN_IF_ERROR(writer ? writer->check() : Status::success());
  PCC_RETURN_IF_ERROR(agreeToStop(signal));
  return saveIfDue(signal != 0 || isLast);
}

/// A request to stop can make any step the last one. If runOne() has not shown
/// this step for good (`wasKept`), run() shows it again after the loop. The
/// metrics then stay on the terminal, or are written to stdout.
Status TrainingRun::run(RankReport &report) {
  PCC_RETURN_IF_ERROR(prepare());
  world.setDeadline(options.timeout);
  int signal = 0;
  for (int64_t done = 0; done < options.steps && signal == 0 && !isStopped;
       ++done)
    PCC_RETURN_IF_ERROR(runOne(report, done, signal));
  if (!wasKept)
    show(report.metrics.back(), report.steps.back(), /*isKept=*/true);
  world.setDeadline(options.loadTimeout);
  PCC_RETURN_IF_ERROR(writer ? writer->finish() : Status::success());
  if (signal != 0) {
    isStopped = true;
    reasonOfEnd = describeStop(signal);
  }
  return Status::success();
}

} // namespace pcc::runtime
