//===- TrainingRun.cpp - training loop of a rank, with checkpoints --------===//

#include "runtime/engine/TrainingRun.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/base/StopWatch.h"
#include "runtime/checkpoint/LoadCheckpoint.h"
#include "runtime/engine/StopRequest.h"
#include "runtime/tensor/ElementDispatch.h"
#include "status/PrintableText.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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
    if (world.rank() == 0 && !options.quiet)
      std::fprintf(stderr, "note: %s\n", printable(note).c_str());
  return status;
}

Status TrainingRun::openOutputs() {
  if (!options.metrics.empty() && world.rank() == 0) {
    madeMetricsFile = access(options.metrics.c_str(), F_OK) != 0;
    PCC_RETURN_IF_ERROR(
        openOutput(options.metrics, O_CREAT | O_APPEND, metricsFile));
    // A program that follows the file, such as pcc report, can tell by this
    // lock that lines may still come. A lock that fails stops no training.
    (void)flock(metricsFile, LOCK_SH | LOCK_NB);
  }
  return options.save.empty() ? Status::success() : openWriter(options.save);
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

/// Writes the metrics of one step as a line to stdout, where scripts read it.
/// Requests a stop if stdout is a pipe without a reader.
void TrainingRun::printStep(const StepMetrics &metrics) {
  char line[160];
  std::snprintf(line, sizeof line,
                "step %lld loss %.6g grad_norm %.6g lr %.6g\n",
                static_cast<long long>(metrics.step), *metrics.loss,
                metrics.gradNorm.value_or(0), metrics.learningRate.value_or(0));
  Status status = writeAll(STDOUT_FILENO, line, "stdout", options.timeout);
  if (status.failed() && errno == EPIPE)
    requestStop(SIGPIPE);
  else if (logFailure.ok())
    logFailure = std::move(status);
}

/// Reports the metrics and the duration (`seconds`) of one step. Only rank 0
/// reports, and only if the program computes a loss. The report has three
/// parts:
///
/// - a line with the metrics on stdout, which scripts can read;
/// - a progress message with the speed, which is displayed to the user;
/// - a line in the metrics file, if the option --metrics names one.
///
/// If pcc runs inside another program (the Python module), the function writes
/// only the line in the metrics file.
void TrainingRun::tell(const StepMetrics &metrics, double seconds) {
  if (world.rank() != 0 || !metrics.loss)
    return;
  if (!options.isEmbedded) {
    progress.end();
    printStep(metrics);
    progress.say("step " + std::to_string(metrics.step) + ": " +
                 speed.describe(seconds));
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
  line["peak_live_activations"] = peakLive;
  if (metrics.lossScale)
    line["loss_scale"] = *metrics.lossScale;
  const off_t before = lseek(metricsFile, 0, SEEK_END);
  Status status = writeAll(metricsFile, line.dump() + "\n", options.metrics,
                           options.timeout);
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
  return readMetrics(report.metrics.emplace_back());
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
      signal == SIGPIPE
          ? "the reader of stdout is gone"
          : "signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
  return Status::error(options.save.empty() ? endedBySignal(signal) : Stopped,
                       "training was stopped by a request (" + why + ") " +
                           after,
                       std::move(notes));
}

/// In each iteration, the ranks execute a step, print metrics, agree whether to
/// stop, and save a checkpoint if one is due.
Status TrainingRun::run(RankReport &report) {
  PCC_RETURN_IF_ERROR(resumeAsAsked());
  PCC_RETURN_IF_ERROR(openOutputs());
  PCC_RETURN_IF_ERROR(findLoss());
  PCC_RETURN_IF_ERROR(speed.open(options, world));
  world.setDeadline(options.timeout);
  int signal = 0;
  for (int64_t done = 0; done < options.steps && signal == 0; ++done) {
    PCC_RETURN_IF_ERROR(step(report, done + 1 == options.steps));
    PCC_RETURN_IF_ERROR(gatherPeakLive());
    tell(report.metrics.back(), report.steps.back());
    PCC_RETURN_IF_ERROR(writer ? writer->check() : Status::success());
    PCC_RETURN_IF_ERROR(agreeToStop(signal));
    PCC_RETURN_IF_ERROR(saveIfDue(signal != 0 || done + 1 == options.steps));
  }
  world.setDeadline(options.loadTimeout);
  PCC_RETURN_IF_ERROR(writer ? writer->finish() : Status::success());
  isStopped = signal != 0;
  if (isStopped)
    reasonOfEnd = describeStop(signal);
  return Status::success();
}

} // namespace pcc::runtime
