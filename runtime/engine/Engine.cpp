//===- Engine.cpp - one rank of a run -------------------------------------===//

#include "runtime/engine/Engine.h"
#include "runtime/engine/Arena.h"
#include "runtime/engine/Groups.h"
#include "runtime/engine/Inputs.h"
#include "runtime/engine/Outputs.h"
#include "runtime/engine/Parameters.h"
#include "runtime/engine/Progress.h"
#include "runtime/engine/Report.h"
#include "runtime/engine/Schedule.h"
#include "runtime/engine/StopRequest.h"
#include "runtime/engine/StopWatch.h"
#include "runtime/engine/TrainingRun.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <thread>

namespace pcc::runtime {

namespace {
/// A rank from its program to its outputs. The methods run in the order in
/// which they stand; each ends the run if it fails.
class RankRun {
public:
  RankRun(const ProgramImage &image, const RunOptions &options, World &world,
          Device &device)
      : image(image), options(options), world(world), device(device),
        progress(options, world.rank()) {}

  Status run() {
    using Part = Status (RankRun::*)();
    static constexpr Part parts[] = {
        &RankRun::open,  &RankRun::checkPeers, &RankRun::allocateArena,
        &RankRun::load,  &RankRun::read,       &RankRun::runSteps,
        &RankRun::write, &RankRun::report};
    world.setDeadline(options.loadTimeout);
    for (Part part : parts)
      if (Status status = (this->*part)(); status.failed())
        return status;
    return Status::success();
  }

private:
  Status open() {
    const std::span<const std::byte> bytes(
        static_cast<const std::byte *>(image.program), image.programBytes);
    if (Status status = openProgram(bytes, opened); status.failed())
      return status;
    const program::ProgramT &program = *opened.tables;
    mesh = meshOf(program);
    if (world.size() != mesh.numRanks())
      return Status::error(WrongWorld, "the bundle was compiled for " +
                                           std::to_string(mesh.numRanks()) +
                                           " ranks, but the run has " +
                                           std::to_string(world.size()));
    at = coordinatesOf(mesh, world.rank());
    if (at[0] != program.position)
      return Status::error(DamagedBundle,
                           "rank " + std::to_string(world.rank()) +
                               " has the program of position " +
                               std::to_string(program.position) +
                               ", it needs that of " + std::to_string(at[0]));
    return Status::success();
  }

  /// Refuses ranks of another bundle before anything is sent that could not be
  /// understood.
  Status checkPeers() {
    const uint64_t mine = opened.tables->plan_hash;
    std::vector<uint64_t> hashes(size_t(world.size()));
    if (Status status = world.all().allGather(&mine, hashes.data(), sizeof mine,
                                              {"load", "plan"});
        status.failed())
      return status;
    for (size_t rank = 1; rank < hashes.size(); ++rank)
      if (hashes[rank] != hashes[0])
        return Status::error(DamagedBundle,
                             "rank " + std::to_string(rank) +
                                 " is of another bundle than rank 0");
    return Status::success();
  }

  Status allocateArena() {
    const program::ProgramT &program = *opened.tables;
    if (Status status = arena.allocate(program.arena_bytes); status.failed())
      return status;
    buffers.emplace(program);
    char *const constantBase = const_cast<char *>(
        reinterpret_cast<const char *>(opened.constants.data()));
    for (size_t i = 0; i < program.buffers.size(); ++i) {
      const program::BufferT &buffer = *program.buffers[i];
      if (buffer.memory == program::Memory::Arena)
        buffers->setBase(int32_t(i), arena.data() + buffer.offset);
      if (buffer.memory == program::Memory::Constant)
        buffers->setBase(int32_t(i), constantBase + buffer.offset);
    }
    return Status::success();
  }

  Status load() {
    progress.say("loading weights");
    const program::ProgramT &program = *opened.tables;
    if (Status status = groups.create(program, mesh, at, world);
        status.failed())
      return status;
    parameters.emplace(program, mesh, at);
    if (Status status = parameters->openFiles(options); status.failed())
      return status;
    const LoadContext context{program, image, mesh, at, *buffers, *parameters};
    if (Status status = schedule.load(context, groups, device); status.failed())
      return status;
    if (Status status = device.finishLoading(); status.failed())
      return status;
    if (Status status = parameters->fillBases(*buffers); status.failed())
      return status;
    schedule.bindMessages(context, groups);
    return Status::success();
  }

  Status read() {
    inputs.emplace(*opened.tables, mesh, at, options, *buffers);
    if (Status status = inputs->open(); status.failed())
      return status;
    // A training run reads them step by step.
    if (!trains(*opened.tables))
      inputs->read(0);
    return world.all().barrier({"load", "inputs"});
  }

  Status train() {
    listenForStop();
    return TrainingRun(*opened.tables, mesh, at, options, world, *buffers,
                       *inputs, schedule)
        .run(mine);
  }

  Status runSteps() {
    if (trains(*opened.tables))
      return train();
    world.setDeadline(options.timeout);
    for (int step = 0; step < options.warmup + options.repeat; ++step) {
      progress.beginStep(step);
      const StopWatch watch;
      TimeSpent spent;
      if (Status status = schedule.runStep(mesh, at, spent); status.failed())
        return status;
      if (step < options.warmup)
        continue;
      mine.steps.push_back(watch.seconds());
      mine.seconds += mine.steps.back();
      mine.spent.compute += spent.compute;
      mine.spent.wait += spent.wait;
      mine.spent.idle += spent.idle;
    }
    // All ranks meet before any of them prints its summary.
    progress.end();
    return Status::success();
  }

  Status write() {
    world.setDeadline(options.loadTimeout);
    if (options.outputDirectory.empty())
      return world.all().barrier({"write", "outputs"});
    return writeOutputs(*opened.tables, mesh, at, options.outputDirectory,
                        *buffers, world);
  }

  Status report() {
    mine.arenaBytes = arena.bytes();
    mine.peakMemoryBytes = peakMemoryOfProcess();
    if (!options.report.empty())
      if (Status status = writeReport(options.report, mine, world);
          status.failed())
        return status;
    if (!options.quiet)
      std::fprintf(stderr, "%s\n", summaryLine(world.rank(), mine).c_str());
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
  Arena arena;
  std::optional<BufferTable> buffers;
  Groups groups;
  std::optional<Parameters> parameters;
  std::optional<Inputs> inputs;
  Schedule schedule;
  RankReport mine;
};
} // namespace

Status runRank(const ProgramImage &image, const RunOptions &options,
               World &world, Device &device) {
  return RankRun(image, options, world, device).run();
}

int threadsPerRank(const RunOptions &options, int worldSize) {
  if (options.threads > 0)
    return options.threads;
  const int cores = int(std::max(1u, std::thread::hardware_concurrency()));
  const int ranks = options.localRanks > 0 ? options.localRanks : worldSize;
  return std::max(1, cores / std::max(1, ranks));
}

} // namespace pcc::runtime
