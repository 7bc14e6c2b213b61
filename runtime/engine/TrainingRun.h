//===- TrainingRun.h - step after step, with its metrics and checkpoints --===//

#ifndef PCC_RUNTIME_ENGINE_TRAININGRUN_H
#define PCC_RUNTIME_ENGINE_TRAININGRUN_H

#include "runtime/checkpoint/CheckpointWriter.h"
#include "runtime/engine/ScheduleExecutor.h"
#include "runtime/engine/io/Inputs.h"
#include "runtime/engine/observe/Progress.h"
#include "runtime/engine/observe/RunReport.h"
#include "runtime/engine/observe/Throughput.h"
#include "runtime/engine/weight/HostTrainingState.h"

#include <cstdio>
#include <memory>

namespace pcc::runtime {

/// Whether a step changes weights.
bool trains(const program::ProgramT &program);

/// Why a rank ends that RunOptions::isGivenUp ends.
inline Status givenUp() {
  return Status::error(PeerLost, "the run was given up");
}

/// The steps of a training run on one rank.
class TrainingRun {
public:
  /// All of these must outlive this.
  TrainingRun(const program::ProgramT &program, const Mesh &mesh,
              const Coordinates &at, const RunOptions &options, World &world,
              HostTrainingState &state, HostBuffers &buffers, Inputs &inputs,
              ScheduleExecutor &schedule, StepLog &log, Progress &progress);
  ~TrainingRun();

  /// Takes up a checkpoint, trains, and saves, as the options say; adds what it
  /// took to `report`. Ends early, after a save, where a signal asked all ranks
  /// to.
  Status run(RankReport &report);

  // Its parts, each of which all ranks call.

  /// See loadCheckpoint; adds its notes.
  Status resume(const std::string &directory, std::vector<std::string> &notes);
  /// One step on the inputs that have its number, and, but for the last, reads
  /// the next ones meanwhile. Tells nobody.
  Status step(RankReport &report, bool isLast = true);
  /// Saves where the run stands.
  Status save(const std::string &directory);

private:
  Status resumeAsAsked();
  Status openOutputs();
  Status openWriter(const std::string &directory);
  Status saveIfDue(bool isLast);
  Status agreeToStop(int &signal);
  void tellStop(int signal) const;
  /// Finds out whether rank 0, which tells, knows the loss: a table may have
  /// the stage that does elsewhere.
  Status findLoss();
  Status readNumber(std::string_view name, std::optional<double> &number) const;
  /// Of the step that is done; on rank 0 all that any rank knows.
  Status readMetrics(StepMetrics &metrics) const;
  /// Which stages keep how many forward passes alive is known after one step.
  Status gatherPeakLive();
  void tell(const StepMetrics &metrics, double seconds);
  void writeMetrics(const StepMetrics &metrics, double seconds);

  const program::ProgramT &program;
  const Mesh &mesh;
  const Coordinates &at;
  const RunOptions &options;
  World &world;
  HostTrainingState &state;
  HostBuffers &buffers;
  Inputs &inputs;
  ScheduleExecutor &schedule;
  StepLog &log;
  Progress &progress;
  Throughput speed;
  TrainingPosition position;
  std::unique_ptr<CheckpointWriter> writer;
  std::string writersDirectory;
  std::FILE *metricsFile = nullptr;
  int32_t rankOfLoss = -1; ///< the first that knows it; none: the world's size
  std::vector<int32_t> peakLive; ///< by stage of the model; for metrics
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_TRAININGRUN_H
