//===- Rank.cpp - executes one rank of a compiled bundle ------------------===//

#include "runtime/engine/Rank.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/base/StopWatch.h"
#include "runtime/comm/Agree.h"
#include "runtime/engine/FiniteCheck.h"
#include "runtime/engine/OutputPaths.h"
#include "runtime/engine/ScheduleExecutor.h"
#include "runtime/engine/StopRequest.h"
#include "runtime/engine/TrainingRun.h"
#include "runtime/engine/collective/Groups.h"
#include "runtime/engine/io/OutputFiles.h"
#include "runtime/engine/io/OutputParts.h"
#include "runtime/engine/observe/MeasuredStep.h"
#include "runtime/engine/observe/Progress.h"
#include "runtime/engine/observe/RankTable.h"
#include "runtime/engine/options/RunOptionsCheck.h"
#include "runtime/engine/weight/Parameters.h"
#include "runtime/program/StepMemory.h"
#include "runtime/timeline/TimelineFiles.h"
#include "status/Counted.h"

#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <optional>
#include <thread>
#include <unistd.h>

namespace pcc::runtime {

namespace {
/// Implements Rank. open() creates the objects in the std::optional members. It
/// creates `state` and `training` only if the program trains.
class RankRun : public Rank {
public:
  RankRun(const ProgramImage &image, const RunOptions &options, World &world,
          Device &device)
      : image(image), options(options), world(world), device(device),
        progress(options, world.rank()) {}

  int index() const override { return world.rank(); }

  Status run() override {
    return inOrder({&RankRun::open, &RankRun::readFiles, &RankRun::runSteps,
                    &RankRun::write});
  }

  Status open() override {
    world.setDeadline(options.loadTimeout);
    const auto loading = world.recorder().beginAction("load");
    Status status = inOrder({&RankRun::findProgram, &RankRun::checkPeers,
                             &RankRun::allocateArena, &RankRun::load});
    world.recorder().end(loading);
    return status;
  }

  const program::ProgramT &program() const override { return *opened.tables; }

  Status setInputs(const InputArrays &given) override {
    PCC_RETURN_IF_ERROR(inputs->open(given));
    // Inference reads its inputs only once, here.
    return training ? Status::success() : inputs->read(0);
  }

  /// Executes all steps that the options specify: the training run if the
  /// program trains, otherwise the warm-up and timed steps of inference.
  ///
  /// During training, a signal such as SIGTERM requests an orderly stop. If pcc
  /// runs inside another program (the Python module), this function installs no
  /// signal handlers, because the signal handlers belong to that program.
  Status runSteps() override {
    if (training) {
      if (!options.isEmbedded)
        listenForStop();
      return training->run(mine);
    }
    world.setDeadline(options.timeout);
    for (int step = 0; step < options.warmup + options.repeat; ++step) {
      progress.beginStep(step);
      world.recorder().beginStep(step + 1);
      RankReport untimed;
      PCC_RETURN_IF_ERROR(
          inferenceStep(step < options.warmup ? untimed : mine));
    }
    // Clear the progress message before any rank prints its summary line.
    progress.end();
    return Status::success();
  }

  Status step(RankReport &report) override {
    world.setDeadline(options.timeout);
    return training ? training->step(report) : inferenceStep(report);
  }

  Status write() override {
    return inOrder({&RankRun::writeFiles, &RankRun::report});
  }

  Status copyOutputs(std::span<std::byte *const> places) override {
    MemorySink sink(places);
    return OutputParts(*opened.tables, mesh, at, *hostBuffers).write(sink);
  }

  Status copyWeights(GatheredTensors &whole) override {
    return ofTraining([&] {
      PCC_RETURN_IF_ERROR(state->open());
      PCC_RETURN_IF_ERROR(state->fetch());
      return whole.putTrained(state->tensors(), mesh, at, world);
    });
  }

  Status save(const std::string &directory) override {
    return ofTraining([&] { return training->save(directory); });
  }

  Status resume(const std::string &directory,
                std::vector<std::string> &notes) override {
    return ofTraining([&] { return training->resume(directory, notes); });
  }

private:
  /// A member function that executes one phase of a run.
  using Part = Status (RankRun::*)();

  /// Calls the functions in the list `parts` one after another. Each function
  /// executes one phase of a run, such as loading the program. If a function
  /// returns an error, inOrder() returns the error and does not call the
  /// remaining functions.
  Status inOrder(std::initializer_list<Part> parts) {
    for (Part part : parts)
      PCC_RETURN_IF_ERROR((this->*part)());
    return Status::success();
  }

  /// Calls the function `call`, and returns the status that `call` returns.
  /// `call` works only if the program was compiled for training. If the program
  /// was compiled for inference, ofTraining() does not call `call`, and returns
  /// an error with exit code 2 (WrongUsage).
  ///
  /// `call` may wait for other ranks. ofTraining() sets the time limit of each
  /// wait to `options.loadTimeout` seconds.
  template <typename Call> Status ofTraining(Call call) {
    if (!training)
      return Status::error(WrongUsage, "the bundle does not train",
                           {"compile the model with --train"});
    world.setDeadline(options.loadTimeout);
    return call();
  }

  /// Loads the program of this rank. Checks that the run has as many ranks as
  /// the mesh. Also checks that the program was compiled for this rank's
  /// coordinate on the pipeline axis.
  Status findProgram() {
    const std::span<const std::byte> bytes(
        static_cast<const std::byte *>(image.program), image.programBytes);
    PCC_RETURN_IF_ERROR(openProgram(bytes, opened));
    const program::ProgramT &program = *opened.tables;
    mesh = meshOf(program);
    if (world.size() != numRanks(mesh))
      return Status::error(WrongWorld, "the bundle was compiled for " +
                                           counted(numRanks(mesh), "rank") +
                                           ", but the run has " +
                                           std::to_string(world.size()));
    at = coordinatesOf(mesh, world.rank());
    if (at[0] != program.position)
      return Status::error(DamagedBundle,
                           "rank " + std::to_string(world.rank()) +
                               " has the program of position " +
                               std::to_string(program.position) +
                               ", it needs that of " + std::to_string(at[0]));
    PCC_RETURN_IF_ERROR(
        checkRunOptions(options, trains(program), program.target == "cuda"));
    PCC_RETURN_IF_ERROR(checkWeightsOption(options, program));
    return checkOutputPaths(options, program);
  }

  /// Compares a hash of the bundle between all ranks. Ranks with different
  /// bundles would misread each other's messages.
  Status checkPeers() {
    const uint64_t mine = opened.tables->plan_hash;
    std::vector<uint64_t> hashes(size_t(world.size()));
    PCC_RETURN_IF_ERROR(world.all().allGather(&mine, hashes.data(), sizeof mine,
                                              {"load", "plan"}));
    for (size_t rank = 1; rank < hashes.size(); ++rank)
      if (hashes[rank] != hashes[0])
        return Status::error(DamagedBundle,
                             "rank " + std::to_string(rank) +
                                 " has another bundle than rank 0");
    return Status::success();
  }

  /// Allocates the arena (memory for intermediate tensors), and copies the
  /// constants to the device if necessary. Sets the addresses of all buffers in
  /// the arena and of all constants.
  Status allocateArena() {
    const program::ProgramT &program = *opened.tables;
    char *arena = nullptr, *constants = nullptr;
    PCC_RETURN_IF_ERROR(device.allocate(program.arena_bytes, arena));
    PCC_RETURN_IF_ERROR(placeConstants(constants));
    buffers.emplace(program);
    for (size_t i = 0; i < program.buffers.size(); ++i) {
      const program::BufferT &buffer = *program.buffers[i];
      if (buffer.memory == program::Memory::Arena)
        buffers->setBase(int32_t(i), arena + buffer.offset);
      if (buffer.memory == program::Memory::Constant)
        buffers->setBase(int32_t(i), constants + buffer.offset);
    }
    hostBuffers.emplace(program, device, *buffers);
    return hostBuffers->open();
  }

  /// Sets `constants` to the address at which the device can read the constants
  /// of the program. The executable contains the constants. If the device can
  /// read host memory, the address is that of the constants in the executable.
  /// Otherwise, the function copies the constants to the memory of the device.
  /// The address is then that of the copy.
  Status placeConstants(char *&constants) {
    const std::byte *const given = opened.constants.data();
    constants = const_cast<char *>(reinterpret_cast<const char *>(given));
    if (device.sharesHostMemory())
      return Status::success();
    const size_t bytes = opened.constants.size();
    Status status = device.allocate(int64_t(bytes), constants);
    return status.failed() ? status : device.upload(constants, given, bytes);
  }

  /// Prepares everything that a step needs. The function does the following, in
  /// this order:
  ///
  /// - Creates the communicators.
  /// - Creates one object for each instruction of the program. The object
  ///   executes the instruction. The device may convert a weight to another
  ///   memory format at this time, and free the original.
  /// - Loads the weights that the device has not converted.
  /// - Finds the address of the tensor for each message between pipeline
  ///   stages. This phase comes after the weights are loaded, because the
  ///   tensor may be a weight.
  /// - Executes some operations once, so that libraries load their code.
  Status load() {
    progress.say("loading weights");
    const program::ProgramT &program = *opened.tables;
    PCC_RETURN_IF_ERROR(groups.create(program, mesh, world));
    parameters.emplace(program, mesh, at);
    PCC_RETURN_IF_ERROR(parameters->openFiles(options));
    const LoadContext context{program,     image,    mesh,
                              at,          *buffers, hostBuffers->inputs(),
                              *parameters, device};
    PCC_RETURN_IF_ERROR(schedule.load(context, groups, device));
    PCC_RETURN_IF_ERROR(device.finishLoading());
    PCC_RETURN_IF_ERROR(parameters->fillBases(*buffers, device, image));
    schedule.bindMessages(context, groups, world);
    PCC_RETURN_IF_ERROR(schedule.warmUp(at));
    inputs.emplace(program, mesh, at, options, *hostBuffers);
    log.emplace(program, !options.trace.empty()    ? StepDetail::Kernels
                         : options.wantsTimeline() ? StepDetail::Actions
                                                   : StepDetail::Counts);
    // Call keepApart(), which disables CUDA graphs, in three cases. In the
    // first case, the options ask for a timeline of the last step. A timeline
    // shows the time of each action, such as the forward pass of one
    // microbatch. A CUDA graph executes all actions in one launch, so the time
    // of one action is unknown. In the second case, the options disable CUDA
    // graphs. In the third case, the result of each instruction is examined.
    if (options.wantsTimeline() || !options.recordSteps || options.checkFinite)
      schedule.keepApart();
    if (trains(program)) {
      state.emplace(program, device, *buffers);
      training.emplace(program, mesh, at, options, world, *state, *hostBuffers,
                       *parameters, *inputs, schedule, *log, progress);
      if (options.checkFinite)
        checkFinite();
    }
    return Status::success();
  }

  /// Makes each training step search its values for NaNs and infinities.
  void checkFinite() {
    finite.emplace(*opened.tables, *buffers, device, world);
    schedule.observe([this](size_t action, size_t instruction) {
      return finite->see(action, instruction);
    });
    training->checkWith(*finite);
  }

  Status readFiles() {
    PCC_RETURN_IF_ERROR(setInputs({}));
    return world.all().barrier({"load", "inputs"});
  }

  Status inferenceStep(RankReport &report) {
    if (options.isGivenUp && options.isGivenUp())
      return givenUp();
    const StopWatch watch;
    PCC_RETURN_IF_ERROR(schedule.runStep(mesh, at, report.spent, *log));
    PCC_RETURN_IF_ERROR(parameters->checkFiles());
    report.steps.push_back(watch.seconds());
    report.seconds += report.steps.back();
    return Status::success();
  }

  Status writeFiles() {
    world.setDeadline(options.loadTimeout);
    if (options.outputDirectory.empty())
      return world.all().barrier({"write", "outputs"});
    return writeOutputs(*opened.tables, mesh, at, options.outputDirectory,
                        *hostBuffers, world);
  }

  std::string titleOfLastStep() const {
    const int64_t step = mine.metrics.empty() ? options.warmup + options.repeat
                                              : mine.metrics.back().step;
    return "measured step " + std::to_string(step);
  }

  /// Writes timelines of the last step if the options name files for them,
  /// reports of the run if the options name files for them, and the table of
  /// ranks.
  ///
  /// A signal, or a failed write of the metrics, may have stopped the training.
  /// In this case, the function returns TrainingRun::ending(), the status that
  /// explains the stop. Otherwise it returns success.
  Status report() {
    const RowMemory memory = memoryOf(*opened.tables);
    mine.weightBytes = memory.weights;
    mine.stateBytes = memory.state;
    mine.arenaBytes = memory.arena;
    mine.peakMemoryBytes = peakMemoryOfProcess();
    mine.peakLive = log->peakLive();
    std::optional<Timeline> timeline;
    if (options.wantsTimeline())
      PCC_RETURN_IF_ERROR(
          gatherMeasuredStep(*opened.tables, *log, world, timeline));
    if (timeline)
      PCC_RETURN_IF_ERROR(writeTimeline(*timeline, titleOfLastStep(),
                                        {options.scheduleSvg, options.trace}));
    PCC_RETURN_IF_ERROR(writeTimes(timeline));
    if (!training || !training->wasStopped())
      return Status::success();
    // The training was stopped before its last step. Only rank 0 knows the
    // reason if it could not write the metrics. agree() therefore makes all
    // ranks return the reason. Otherwise, rank 0 would end with an error, while
    // the other ranks, which have no error, wait for all ranks to end. The
    // error of rank 0 would interrupt this wait. agree() also makes each rank
    // wait until all ranks have written their files.
    return agree(world, training->ending(), {"write", "report"});
  }

  /// Collects the times and the memory of all ranks on rank 0. Rank 0 writes
  /// them to the file of --report, and as a table. Rank 0 also writes them,
  /// together with `timeline`, to the file of --measurements.
  Status writeTimes(const std::optional<Timeline> &timeline) {
    const bool isShown = !options.quiet || !options.format.empty();
    if (!isShown && options.report.empty() && options.measurements.empty())
      return Status::success();
    std::vector<RankReport> ranks;
    PCC_RETURN_IF_ERROR(gatherReports(mine, world, ranks));
    if (world.rank() != 0)
      return Status::success();
    if (!options.report.empty())
      PCC_RETURN_IF_ERROR(writeReport(options.report, ranks));
    if (!options.measurements.empty())
      PCC_RETURN_IF_ERROR(writeReport(options.measurements, ranks, &*timeline));
    return isShown ? showTable(ranks) : Status::success();
  }

  /// Shows the table of all ranks. Writes the table to stdout if the user asks
  /// for a format. Otherwise passes it to `options.onTable` or, without this
  /// callback, writes it to stderr.
  Status showTable(std::span<const RankReport> ranks) const {
    RankTable table = tabulate(ranks, opened.tables->stage_positions);
    table.samples = opened.tables->samples;
    table.sharesProcess = options.sharesProcess;
    const std::string text = rankTableText(table, options.format);
    if (!options.format.empty())
      return writeAll(STDOUT_FILENO, text, "stdout", options.timeout);
    if (options.onTable)
      options.onTable(text);
    else
      std::fputs(text.c_str(), stderr);
    return Status::success();
  }

  const ProgramImage &image;
  const RunOptions &options;
  World &world;
  Device &device;
  Progress progress;
  OpenedProgram opened;
  Mesh mesh;
  Coordinates at;
  std::optional<BufferTable> buffers;
  std::optional<HostBuffers> hostBuffers;
  Groups groups;
  std::optional<Parameters> parameters;
  std::optional<Inputs> inputs;
  ScheduleExecutor schedule;
  std::optional<StepLog> log;
  // Set only if the program trains.
  std::optional<HostTrainingState> state;
  std::optional<TrainingRun> training;
  std::optional<FiniteCheck> finite; ///< set only with --check-finite
  RankReport mine;
};
} // namespace

std::unique_ptr<Rank> createRank(const ProgramImage &image,
                                 const RunOptions &options, World &world,
                                 Device &device) {
  return std::make_unique<RankRun>(image, options, world, device);
}

int threadsPerRank(const RunOptions &options, int worldSize) {
  if (options.threads > 0)
    return options.threads;
  const int cores = int(std::max(1u, std::thread::hardware_concurrency()));
  const int ranks = options.localRanks > 0 ? options.localRanks : worldSize;
  return std::max(1, cores / std::max(1, ranks));
}

} // namespace pcc::runtime
