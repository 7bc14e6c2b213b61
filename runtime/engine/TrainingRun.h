//===- TrainingRun.h - training loop of a rank, with checkpoints ----------===//

#ifndef PCC_RUNTIME_ENGINE_TRAININGRUN_H
#define PCC_RUNTIME_ENGINE_TRAININGRUN_H

#include "runtime/base/TrainingLine.h"
#include "runtime/checkpoint/CheckpointWriter.h"
#include "runtime/engine/FiniteCheck.h"
#include "runtime/engine/ScheduleExecutor.h"
#include "runtime/engine/io/Inputs.h"
#include "runtime/engine/observe/Progress.h"
#include "runtime/engine/observe/RunReport.h"
#include "runtime/engine/observe/Throughput.h"
#include "runtime/engine/weight/HostTrainingState.h"
#include "runtime/engine/weight/Parameters.h"

#include <memory>

namespace pcc::runtime {

/// Returns whether `program` trains a model. `program` is the executable of one
/// rank. The executable lists the actions of a step. An example of an action is
/// the forward pass of microbatch 3. The program trains if an action is a
/// backward pass or an optimizer update.
bool trains(const program::ProgramT &program);

/// Returns the error with which a rank ends a run that another thread has
/// aborted. The exit code is 14. Each rank calls the function
/// RunOptions::isGivenUp before each step. If the result is true, the run is
/// aborted: the rank does not execute the step, and ends with this error.
inline Status givenUp() {
  return Status::error(PeerLost, "the run was aborted");
}

/// The training loop of one rank. There are two ways to use an object of this
/// class:
///
/// - The caller calls run() once. run() executes the whole training run. The
///   command `pcc run` works in this way.
/// - The caller calls resume(), step() and save() one after another. The Python
///   module works in this way.
///
/// All ranks must make the same calls in the same order. The object counts the
/// completed steps and the used samples. A checkpoint contains both numbers.
class TrainingRun {
public:
  /// Borrows all arguments.
  TrainingRun(const program::ProgramT &program, const Mesh &mesh,
              const Coordinates &at, const RunOptions &options, World &world,
              HostTrainingState &state, HostBuffers &buffers,
              const Parameters &parameters, Inputs &inputs,
              ScheduleExecutor &schedule, StepLog &log, Progress &progress);
  ~TrainingRun();

  /// Makes step() search the values of each step for NaN and infinity, by means
  /// of `check`. `check` must outlive this object.
  void checkWith(FiniteCheck &check) { finite = &check; }

  /// Executes the whole training run: restores a checkpoint (--resume),
  /// executes the steps, and saves checkpoints (--save). Rank 0 prints the
  /// metrics. Adds the duration and the metrics of each step to `report`.
  ///
  /// Training ends early if a signal such as SIGTERM has requested a stop on
  /// any rank, or if rank 0 cannot write the metrics. All ranks then stop after
  /// the same step, and save a checkpoint with --save. run() returns no error
  /// for an early end; ending() explains the early end.
  Status run(RankReport &report);

  /// Returns success if run() was not stopped. After a stop, returns an error
  /// with one of these exit codes:
  ///
  /// - 16: a stop was requested, and a checkpoint is saved
  /// - 128 plus the signal: a signal requested a stop, and nothing is saved
  /// - 7: rank 0 cannot write its log; the other ranks return success
  /// - 17: with --check-finite, a value of a step was not finite
  const Status &ending() const { return reasonOfEnd; }
  /// Returns whether run() has ended before the last step. Equal on all ranks.
  bool wasStopped() const { return isStopped; }

  // run() calls resume(), step() and save(). A caller may also call these
  // functions directly, instead of run(). The Python module does so. All ranks
  // must call the same function together, because a call may wait for the other
  // ranks.

  /// Restores the weights, the optimizer state, the number of completed steps
  /// and the number of used samples from a checkpoint in `directory`. Appends
  /// messages for the user to `notes`, such as that a damaged checkpoint was
  /// skipped.
  ///
  /// Training continues with the first unused sample. If the number of samples
  /// per step has changed, this sample may be in the middle of a step. In each
  /// input file that has the samples of several steps, dim 0 must then count
  /// the samples. Otherwise the function returns an error with exit code 10.
  Status resume(const std::string &directory, std::vector<std::string> &notes);
  /// Executes one training step. The step uses the samples that follow the
  /// samples of the previous step. Adds the duration and the metrics of the
  /// step to `report`. Prints nothing.
  ///
  /// After checkWith(), returns an error with exit code 17 on all ranks if the
  /// loss, the gradient norm or a weight is not finite.
  ///
  /// If `isLast` is false, another step follows. On a GPU, the host then reads
  /// the inputs of the following step while the GPU computes this step.
  Status step(RankReport &report, bool isLast = true);
  /// Writes a checkpoint of the current training state into `directory`.
  Status save(const std::string &directory);

private:
  /// Restores the training state from a checkpoint if the option --resume names
  /// a directory. Otherwise does nothing. A restore may give messages for the
  /// user. For example, a message states that a damaged checkpoint was skipped.
  /// Rank 0 prints its messages to stderr, unless `options.quiet` is true.
  Status resumeAsAsked();
  /// Opens the file of --metrics on rank 0, and the checkpoint writer of
  /// --save.
  Status openOutputs();
  /// Prints a note on rank 0, unless the user asks for silence.
  void tell(const std::string &note) const;
  /// Tells that `directory`, to which this training saves, holds checkpoints of
  /// a training that this one does not resume.
  void tellOfOthers(const std::string &directory) const;
  /// Creates and opens the writer of checkpoints in `directory`.
  Status openWriter(const std::string &directory);
  /// Writes a checkpoint if one is due after the step that has just ended. A
  /// checkpoint is due in two cases:
  ///
  /// - `isLast` is true: this step was the last one.
  /// - The number of completed steps is a multiple of the option --save-every.
  ///   For example, if the option is 10, a checkpoint is due after steps 10 and
  ///   20.
  ///
  /// The function writes no checkpoint if the option --save is not given.
  Status saveIfDue(bool isLast);
  /// Decides whether all ranks stop training after this step. Sets `signal` to
  /// the same number on all ranks:
  ///
  /// - 0: all ranks continue.
  /// - the number of a signal, such as 15 for SIGTERM: all ranks stop, because
  ///   this signal has requested a stop on at least one rank.
  /// - `kLogFailed`: all ranks stop, because rank 0 cannot write the metrics to
  ///   stdout or to the metrics file.
  ///
  /// All ranks must call this function together.
  Status agreeToStop(int &signal);
  /// Returns an error that explains why training was stopped. `signal` is the
  /// number that agreeToStop() has set. The number is not 0. run() stores the
  /// error, and ending() returns the error to the caller.
  ///
  /// There is one exception. If `signal` is `kLogFailed`, rank 0 cannot write
  /// its log (stdout and the metrics file). Only rank 0 then returns an error.
  /// All other ranks return success, and get the error of rank 0 when they
  /// agree on the result of the run.
  Status describeStop(int signal) const;
  /// Sets `rankOfLoss` on all ranks to the lowest rank that computes the loss.
  /// In a pipeline, only ranks of the last stage compute it.
  Status findLoss();
  /// Sets `number` to the value that the most recent step has computed for the
  /// output `name`. The output is a scalar, such as "loss". If this rank does
  /// not compute the output, `number` does not change.
  Status readNumber(std::string_view name, std::optional<double> &number) const;
  /// Sets `metrics` to the loss and the other metrics of the most recent step.
  /// If rank 0 does not compute the loss, a rank that computes the loss sends
  /// its metrics to all ranks. Rank 0 thus has the loss if any rank computes
  /// the loss. All ranks must call this function together.
  Status readMetrics(StepMetrics &metrics) const;
  /// Sets `peakLive` after the first step, if --metrics is given. `peakLive`
  /// has one number per pipeline stage. A stage keeps the activations of a
  /// microbatch from the forward pass to the backward pass. The number is the
  /// largest number of microbatches whose activations the stage has kept at the
  /// same time. All ranks must call this function together.
  Status gatherPeakLive();
  /// Executes step number `done` of this run, counted from 0. Then reports it,
  /// sets `signal` as agreeToStop() does, and saves a checkpoint if one is due.
  Status runOne(RankReport &report, int64_t done, int &signal);
  /// Prepares the steps of run(): restores a checkpoint (--resume), opens the
  /// metrics file and the checkpoint writer, and exchanges facts with the other
  /// ranks, such as the rank that computes the loss. All ranks must call this
  /// function together.
  Status prepare();
  /// Returns whether the metrics of the step that has just ended must be shown.
  /// This is true for every K-th step (--log-every K), for a step that saves a
  /// checkpoint, and for the last step. The result is equal on all ranks.
  bool isDue(bool isLast) const;
  /// Sets `peakBytes` to the largest peak memory of all ranks. Does nothing if
  /// no terminal shows this number, or if isDue() is false for the step. All
  /// ranks must call this function together.
  Status gatherPeakBytes(bool isLast);
  /// Reports the step that has just ended, which took `seconds` seconds. Does
  /// nothing on ranks other than 0. Shows the step, warns of a value that is
  /// not finite, and appends a line to the file of --metrics. Inside a Python
  /// program, shows nothing. If stdout is a pipe without a reader, requests
  /// that all ranks stop training. Any other failed write becomes `logFailure`,
  /// unless `logFailure` already has an error.
  void tell(const StepMetrics &metrics, double seconds, bool isLast);
  /// Shows the metrics of a step on a terminal, or on stdout for scripts. If
  /// `isKept` is false, the next step replaces the metrics on the terminal, and
  /// stdout gets no metrics of this step.
  void show(const StepMetrics &metrics, double seconds, bool isKept);
  /// Returns a warning such as "loss of step 3 is nan" at the first step with a
  /// loss or a gradient norm that is not finite. Otherwise returns an empty
  /// text. With loss scaling, does not warn of a gradient norm, because an
  /// overflow of the scaled gradients is usual.
  std::string warningOf(const StepMetrics &metrics);
  /// Returns the metrics of a step for a terminal.
  TrainingLine lineOf(const StepMetrics &metrics, double seconds) const;
  /// Returns how many seconds rank 0 waits for the reader of a pipe. Half of
  /// the time that other ranks wait for rank 0, so that they learn of the
  /// failure and save a checkpoint.
  double longestWrite() const;
  /// Writes the metrics of one step as one line to stdout. For example:
  ///
  ///   step 3 loss 2.5 grad_norm 0.8 lr 0.001
  void printStep(const StepMetrics &metrics);
  /// Appends one line of JSON to the metrics file, completely or not at all.
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
  /// Writes checkpoints to `writersDirectory`; null before openWriter().
  std::unique_ptr<CheckpointWriter> writer;
  std::string writersDirectory;
  /// File descriptor of the metrics file (option --metrics). Only rank 0 opens
  /// the file. The value is -1 if this rank has not opened the file. The
  /// destructor closes the file.
  int metricsFile = -1;
  /// Whether this run has created the metrics file. The destructor deletes the
  /// file if it is still empty.
  bool madeMetricsFile = false;
  /// First error of rank 0 in writing the metrics to stdout or to the metrics
  /// file (option --metrics). The value is success if there is no error. The
  /// value is always success on all ranks except rank 0.
  ///
  /// A write to stdout also fails if stdout is a pipe without a reader. This
  /// failure is not stored here.
  Status logFailure;
  FiniteCheck *finite = nullptr; ///< null without --check-finite
  /// Number of the last step of run().
  int64_t lastStep = 0;
  /// Time since the end of the first step of run(), and the number of steps
  /// since then.
  StopWatch sinceFirst;
  int64_t stepsSinceFirst = -1;
  StopWatch sinceShown; ///< time since a terminal has shown a step
  bool wasKept = true;  ///< whether the last step was shown for good
  bool warnedOfLoss = false, warnedOfNorm = false;
  /// `showsPeak`: 1 if rank 0 shows the steps, with the peak memory, on a
  /// terminal, else 0. `peakBytes`: largest peak memory of all ranks, in bytes.
  /// Both are equal on all ranks.
  int32_t showsPeak = 0;
  int64_t peakBytes = 0;
  /// Result of ending().
  Status reasonOfEnd;
  bool isStopped = false; ///< result of wasStopped()
  /// Lowest rank that computes the loss; the world size if none does; -1 if
  /// unknown.
  int32_t rankOfLoss = -1;
  /// One number per pipeline stage. A stage keeps the activations of a
  /// microbatch from the forward pass to the backward pass. The number is the
  /// largest number of microbatches whose activations the stage has kept at the
  /// same time. The list is empty until gatherPeakLive() sets the numbers.
  std::vector<int32_t> peakLive;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_TRAININGRUN_H
