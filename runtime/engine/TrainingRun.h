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
#include "runtime/engine/weight/Parameters.h"

#include <memory>

namespace pcc::runtime {

/// Returns whether `program` trains: its action table has a backward pass or an
/// optimizer update. If all weights of a rank are frozen, its program has a
/// backward pass but no update.
bool trains(const program::ProgramT &program);

/// Returns the error with which a rank ends if RunOptions::isGivenUp returned
/// true, that is, if the embedding program aborts the run.
inline Status givenUp() {
  return Status::error(PeerLost, "the run was aborted");
}

/// The training loop of one rank. Executes steps on consecutive samples. Keeps
/// the training position (step number and index of the next sample), which a
/// checkpoint records. All ranks make the same calls: either run(), or
/// resume(), step() and save().
class TrainingRun {
public:
  /// Stores references to all arguments, which must outlive this object.
  TrainingRun(const program::ProgramT &program, const Mesh &mesh,
              const Coordinates &at, const RunOptions &options, World &world,
              HostTrainingState &state, HostBuffers &buffers,
              const Parameters &parameters, Inputs &inputs,
              ScheduleExecutor &schedule, StepLog &log, Progress &progress);
  ~TrainingRun();

  /// Executes the whole training run that the options describe: resumes from a
  /// checkpoint, trains, saves checkpoints, and prints metrics. Adds times and
  /// metrics to `report`. If a stop is requested on any rank (StopRequest.h),
  /// or if rank 0 cannot write its log, all ranks end after the same step. They
  /// then write a last checkpoint if --save is given, and the result is a
  /// success; ending() has the reason.
  Status run(RankReport &report);

  /// Returns why run() has ended before the last step; success if it has not.
  /// Exit code 16 if a stop was requested and a checkpoint is saved, 128 plus
  /// the signal if nothing is saved, 7 if rank 0 cannot write its log.
  const Status &ending() const { return reasonOfEnd; }
  /// Returns whether run() has ended before the last step. Equal on all ranks.
  bool wasStopped() const { return isStopped; }

  // resume(), step() and save() are the parts of run(). All ranks must call
  // them together.

  /// Restores weights, optimizer state and the training position (step number
  /// and next sample) from a checkpoint in `directory`. Appends the warnings of
  /// loadCheckpoint() to `notes`. Exit code 10 if the inputs cannot continue at
  /// the restored sample.
  Status resume(const std::string &directory, std::vector<std::string> &notes);
  /// Executes one training step on the inputs that begin with the next sample,
  /// and advances the training position. Unless `isLast` is true, reads the
  /// inputs of the following step while the device computes. Prints nothing.
  Status step(RankReport &report, bool isLast = true);
  /// Writes a checkpoint of the current weights, optimizer state and training
  /// position into `directory`.
  Status save(const std::string &directory);

private:
  /// Restores a checkpoint if --resume was given; rank 0 prints the warnings.
  Status resumeAsAsked();
  /// If --metrics was given, opens the metrics file on rank 0. If --save was
  /// given, creates the checkpoint writer.
  Status openOutputs();
  /// Creates and opens the writer of checkpoints in `directory`.
  Status openWriter(const std::string &directory);
  /// Writes a checkpoint if one is due: after the last step and after every
  /// --save-every steps. Does nothing after other steps.
  Status saveIfDue(bool isLast);
  /// Sets `signal` on all ranks to the number of a signal that requests a stop
  /// on any rank (stopRequested()), to `kLogFailed` if rank 0 cannot write its
  /// log, and to 0 otherwise. All ranks must call this function, and get the
  /// same number.
  Status agreeToStop(int &signal);
  /// Returns the value of ending() after a stop by `signal`, a result of
  /// agreeToStop().
  Status describeStop(int signal) const;
  /// Sets `rankOfLoss` on all ranks to the lowest rank whose program computes
  /// the loss. Rank 0 prints the loss, but in a pipeline the last stage
  /// computes the loss, often on another rank.
  Status findLoss();
  /// Sets `number` to the scalar output `name` of the last step; leaves it
  /// empty on ranks that do not compute that output.
  Status readNumber(std::string_view name, std::optional<double> &number) const;
  /// Sets `metrics` to the loss and other metrics of the last step. If rank 0
  /// does not compute the loss, rank `rankOfLoss` broadcasts its metrics.
  Status readMetrics(StepMetrics &metrics) const;
  /// Sets `peakLive` on all ranks after the first step, if --metrics is given.
  /// Entry s is the largest number of microbatches for which stage s keeps
  /// activations at the same time.
  Status gatherPeakLive();
  /// Prints loss, gradient norm and speed of the last step on rank 0, and
  /// writes the step's line to the metrics file if there is one. Requests a
  /// stop if the reader of stdout is gone; sets `logFailure` if a line cannot
  /// be written for another reason.
  void tell(const StepMetrics &metrics, double seconds);
  /// Writes the line of one step to stdout.
  void printStep(const StepMetrics &metrics);
  /// Appends one line of JSON to the metrics file. If only a part of the line
  /// can be written, removes that part.
  void writeMetrics(const StepMetrics &metrics, double seconds);

  const program::ProgramT &program;
  const Mesh &mesh;
  const Coordinates &at;
  const RunOptions &options;
  World &world;
  HostTrainingState &state;
  HostBuffers &buffers;
  const Parameters &parameters;
  Inputs &inputs;
  ScheduleExecutor &schedule;
  StepLog &log;
  Progress &progress;
  Throughput speed;
  TrainingPosition position;
  /// Writes checkpoints to `writersDirectory`; null until openWriter() has been
  /// called.
  std::unique_ptr<CheckpointWriter> writer;
  std::string writersDirectory;
  /// Descriptor of the file of --metrics, open on rank 0 only, otherwise -1.
  /// Owned.
  int metricsFile = -1;
  /// Error of the first line of the log that rank 0 could not write.
  Status logFailure;
  /// Result of ending().
  Status reasonOfEnd;
  bool isStopped = false; ///< result of wasStopped()
  /// Lowest rank whose program computes the loss; the world size if no rank
  /// does; -1 before findLoss().
  int32_t rankOfLoss = -1;
  /// Per pipeline stage of the model: largest number of forward passes whose
  /// activations are alive at once.
  std::vector<int32_t> peakLive;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_TRAININGRUN_H
