//===- TrainingRun.cpp - step after step, with metrics and checkpoints ---===//

#include "runtime/engine/TrainingRun.h"
#include "runtime/checkpoint/LoadCheckpoint.h"
#include "runtime/engine/StopRequest.h"
#include "runtime/engine/StopWatch.h"
#include "runtime/program/ElementDispatch.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

namespace pcc::runtime {

bool trains(const program::ProgramT &program) {
  return std::any_of(program.actions.begin(), program.actions.end(),
                     [](const auto &action) {
                       return action->kind == program::ActionKind::Update;
                     });
}

/// What a checkpoint holds of this rank: weights that change, and what the
/// optimizer keeps.
static std::vector<StateTensor> stateOf(const program::ProgramT &program,
                                        const BufferTable &buffers) {
  std::vector<StateTensor> state;
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const program::BufferT &buffer = *program.buffers[i];
    if (buffer.memory != program::Memory::Parameter)
      continue;
    const program::ParameterT &parameter =
        *program.parameters[size_t(buffer.index)];
    const bool isKnown =
        std::any_of(state.begin(), state.end(), [&](const StateTensor &other) {
          return other.name == parameter.name;
        });
    if (!parameter.trainable || isKnown)
      continue;
    state.push_back(stateTensorOf(
        parameter,
        static_cast<char *>(buffers.at(int32_t(i), 0)) - buffer.offset));
  }
  return state;
}

TrainingRun::TrainingRun(const program::ProgramT &program, const Mesh &mesh,
                         const Coordinates &at, const RunOptions &options,
                         World &world, const BufferTable &buffers,
                         const Inputs &inputs, Schedule &schedule, StepLog &log)
    : program(program), mesh(mesh), at(at), options(options), world(world),
      buffers(buffers), inputs(inputs), schedule(schedule), log(log),
      state(stateOf(program, buffers)) {}

TrainingRun::~TrainingRun() {
  if (metricsFile)
    std::fclose(metricsFile);
}

Status TrainingRun::resume(const std::string &directory,
                           std::vector<std::string> &notes) {
  LoadedCheckpoint loaded;
  if (Status status = loadCheckpoint(directory, state, mesh, at, world, loaded);
      status.failed())
    return status;
  position = loaded.position;
  notes.insert(notes.end(), loaded.notes.begin(), loaded.notes.end());
  return Status::success();
}

Status TrainingRun::resumeAsAsked() {
  if (options.resume.empty())
    return Status::success();
  std::vector<std::string> notes;
  Status status = resume(options.resume, notes);
  for (const std::string &note : notes)
    if (world.rank() == 0 && !options.quiet)
      std::fprintf(stderr, "note: %s\n", note.c_str());
  return status;
}

Status TrainingRun::openOutputs() {
  if (!options.metrics.empty() && world.rank() == 0) {
    metricsFile = std::fopen(options.metrics.c_str(), "a");
    if (!metricsFile)
      return Status::error(InputOutput, "cannot write \"" + options.metrics +
                                            "\": " + std::strerror(errno));
  }
  return options.save.empty() ? Status::success() : openWriter(options.save);
}

Status TrainingRun::openWriter(const std::string &directory) {
  writersDirectory = directory;
  writer = std::make_unique<CheckpointWriter>();
  CheckpointOptions saving;
  saving.directory = directory;
  saving.timeout = options.loadTimeout;
  saving.model = program.model;
  saving.weightsRoot = program.weights_root;
  saving.planHash = program.plan_hash;
  return writer->open(saving, state, mesh, at, world);
}

/// The one element of an output; nothing if this rank does not have it.
static std::optional<double> numberOf(const program::ProgramT &program,
                                      const BufferTable &buffers,
                                      const std::string &name) {
  for (const auto &output : program.outputs)
    if (output->name == name && output->buffer >= 0) {
      double number = 0;
      convertElements(typeOf(output->type), buffers.at(output->buffer, 0), 1,
                      ElementType::F64, &number);
      return number;
    }
  return std::nullopt;
}

StepMetrics TrainingRun::readMetrics() const {
  return {position.step, numberOf(program, buffers, "loss"),
          numberOf(program, buffers, "grad_norm"),
          numberOf(program, buffers, "lr")};
}

void TrainingRun::tell(const StepMetrics &metrics, double seconds) {
  if (world.rank() != 0 || !metrics.loss)
    return;
  if (!options.isEmbedded) {
    std::printf("step %lld loss %.6g grad_norm %.6g lr %.6g\n",
                static_cast<long long>(metrics.step), *metrics.loss,
                metrics.gradNorm.value_or(0), metrics.learningRate.value_or(0));
    std::fflush(stdout);
  }
  if (!metricsFile)
    return;
  const nlohmann::ordered_json line = {
      {"step", metrics.step},
      {"loss", *metrics.loss},
      {"grad_norm", metrics.gradNorm.value_or(0)},
      {"lr", metrics.learningRate.value_or(0)},
      {"seconds", seconds}};
  std::fprintf(metricsFile, "%s\n", line.dump().c_str());
  std::fflush(metricsFile);
}

Status TrainingRun::step(RankReport &report) {
  if (options.isGivenUp && options.isGivenUp())
    return givenUp();
  inputs.read(position.step);
  const StopWatch watch;
  if (Status status = schedule.runStep(mesh, at, report.spent, log);
      status.failed())
    return status;
  report.steps.push_back(watch.seconds());
  report.seconds += report.steps.back();
  ++position.step;
  ++position.samples;
  report.metrics.push_back(readMetrics());
  return Status::success();
}

Status TrainingRun::save(const std::string &directory) {
  if (!writer || writersDirectory != directory)
    if (Status status = openWriter(directory); status.failed())
      return status;
  return writer->save(position);
}

Status TrainingRun::saveIfDue(bool isLast) {
  const bool isDue = isLast || (options.saveEvery > 0 &&
                                position.step % options.saveEvery == 0);
  if (!writer || !isDue)
    return Status::success();
  return writer->save(position);
}

/// A signal reaches ranks at different times: they stop after the same step.
Status TrainingRun::agreeToStop(bool &stops) {
  if (world.size() == 1) {
    stops = stopRequested();
    return Status::success();
  }
  const uint8_t mine = stopRequested();
  std::vector<uint8_t> all(size_t(world.size()));
  Status status = world.all().allGather(&mine, all.data(), 1, {"step", "stop"});
  stops = std::any_of(all.begin(), all.end(), [](uint8_t one) { return one; });
  return status;
}

Status TrainingRun::run(RankReport &report) {
  if (Status status = resumeAsAsked(); status.failed())
    return status;
  if (Status status = openOutputs(); status.failed())
    return status;
  if (Status status = world.all().barrier({"load", "training"});
      status.failed())
    return status;
  world.setDeadline(options.timeout);
  bool stops = false;
  for (int64_t done = 0; done < options.steps && !stops; ++done) {
    if (Status status = step(report); status.failed())
      return status;
    tell(report.metrics.back(), report.steps.back());
    if (Status status = agreeToStop(stops); status.failed())
      return status;
    if (Status status = saveIfDue(stops || done + 1 == options.steps);
        status.failed())
      return status;
  }
  world.setDeadline(options.loadTimeout);
  return writer ? writer->finish() : Status::success();
}

} // namespace pcc::runtime
