//===- TrainingRun.h - training loop of a rank, with checkpoints ----------===//

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

/// Returns whether `program` belongs to a training run: it has backward or
/// update actions. A rank whose weights are all frozen has no update, but takes
/// part in the backward pass.
bool trains(const program::ProgramT &program);

/// Returns the error of a rank that ends because RunOptions::isGivenUp returned
/// true.
inline Status givenUp() {
  return Status::error(PeerLost, "the run was given up");
}

/// The training loop of one rank: executes steps on consecutive samples, and
/// keeps the position (step number, next sample) that a checkpoint records. All
/// ranks make the same calls: either run(), or its parts.
class TrainingRun {
public:
  /// Borrows all arguments; they must outlive this object.
  TrainingRun(const program::ProgramT &program, const Mesh &mesh,
              const Coordinates &at, const RunOptions &options, World &world,
              HostTrainingState &state, HostBuffers &buffers, Inputs &inputs,
              ScheduleExecutor &schedule, StepLog &log, Progress &progress);
  ~TrainingRun();

  /// Executes the whole training run: resumes from a checkpoint, trains, saves,
  /// and prints, as the options say. Adds times and metrics to `report`. A
  /// signal that any rank receives (StopRequest.h) ends all ranks after the
  /// same step, with a last checkpoint if --save is given.
  Status run(RankReport &report);

  // The parts of run(). All ranks must call them together.

  /// Restores weights, optimizer state and position from a checkpoint, and
  /// appends its warnings to `notes` (see loadCheckpoint). Exit code 10 if the
  /// inputs cannot be continued at that sample.
  Status resume(const std::string &directory, std::vector<std::string> &notes);
  /// Executes one step on the inputs at the current position, and advances the
  /// position. Unless `isLast`, the inputs of the following step are read while
  /// the device computes. Prints nothing.
  Status step(RankReport &report, bool isLast = true);
  /// Writes a checkpoint of the current position into `directory`.
  Status save(const std::string &directory);

private:
  /// Resumes if --resume was given; rank 0 prints the notes.
  Status resumeAsAsked();
  /// Opens the metrics file (on rank 0) and the checkpoint writer, as asked
  /// for.
  Status openOutputs();
  /// Creates the checkpoint writer for `directory`.
  Status openWriter(const std::string &directory);
  /// Saves after the last step and after every --save-every steps.
  Status saveIfDue(bool isLast);
  /// Sets `signal` to the stop signal of any rank, or to 0, on all ranks alike.
  Status agreeToStop(int &signal);
  /// Prints on rank 0 that a signal has ended the run, and how to resume it.
  void tellStop(int signal) const;
  /// Finds the lowest rank that holds the loss, and sets `rankOfLoss` on all
  /// ranks. Rank 0, which prints the metrics, holds it only if its stage
  /// computes it.
  Status findLoss();
  /// Reads the scalar output `name`; leaves `number` empty on ranks without it.
  Status readNumber(std::string_view name, std::optional<double> &number) const;
  /// Reads the metrics of the last step. If rank 0 does not hold the loss, the
  /// rank that does broadcasts all metrics.
  Status readMetrics(StepMetrics &metrics) const;
  /// Gathers, after the first step and only for --metrics, how many forward
  /// passes each stage keeps alive at once.
  Status gatherPeakLive();
  /// Prints loss, norm and speed on rank 0, and writes the line of --metrics.
  void tell(const StepMetrics &metrics, double seconds);
  /// Appends one line of JSON to the metrics file.
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
  /// Writer of checkpoints in `writersDirectory`; null until openWriter().
  std::unique_ptr<CheckpointWriter> writer;
  std::string writersDirectory;
  /// File of --metrics, open on rank 0 only. Owned.
  std::FILE *metricsFile = nullptr;
  /// Lowest rank that holds the loss; the world size if no rank does; -1 before
  /// findLoss().
  int32_t rankOfLoss = -1;
  /// Per stage of the model: most forward passes that are alive at once.
  std::vector<int32_t> peakLive;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_TRAININGRUN_H
