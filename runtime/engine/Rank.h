//===- Rank.h - executes one rank of a compiled bundle --------------------===//

#ifndef PCC_RUNTIME_ENGINE_RANK_H
#define PCC_RUNTIME_ENGINE_RANK_H

#include "runtime/checkpoint/GatheredTensors.h"
#include "runtime/engine/io/Inputs.h"
#include "runtime/engine/observe/RunReport.h"

#include <memory>
#include <span>

namespace pcc::runtime {

/// One rank of a run: loads its program, executes steps, and writes the
/// results. Used in one of two ways:
///
///   run()                                       a whole run (`pcc run`)
///   open() setInputs() step() … copyOutputs()   a session (the Python module)
///
/// All ranks make the same calls in the same order. A call may block for other
/// ranks, unless its comment says "Local". After an error on any rank, make no
/// further call; World::abort() ends the waits of other ranks.
class Rank {
public:
  virtual ~Rank() = default;

  /// Returns the index of this rank in the world. Local: does not communicate.
  virtual int index() const = 0;

  /// Executes the whole run that the options describe: loads the program,
  /// executes the steps, writes all files, and prints one summary line to
  /// stderr. Output files appear only if all ranks succeed.
  ///
  /// A signal such as SIGTERM may stop a training run before its last step. In
  /// this case, run() writes its files, and returns the status that explains
  /// the stop (TrainingRun::ending()). For example, exit code 16 means that the
  /// training was stopped and has saved a checkpoint.
  virtual Status run() = 0;

  /// Loads the program and the weights, and creates the communicators. Must be
  /// called before all other functions except index() and run().
  virtual Status open() = 0;
  /// Returns the loaded program, which this object owns. Local: does not
  /// communicate.
  virtual const program::ProgramT &program() const = 0;

  /// Sets the input arrays of all following steps. An array in `given` replaces
  /// the file or generator that the options name. The arrays are borrowed for
  /// all steps. Local: does not communicate.
  virtual Status setInputs(const InputArrays &given) = 0;
  /// Executes all steps that the options specify: warm-up and timed steps of
  /// inference, or training steps with metrics and checkpoints.
  virtual Status runSteps() = 0;
  /// Executes one training or inference step. Adds its duration and training
  /// metrics to `report`.
  virtual Status step(RankReport &report) = 0;
  /// Writes the files that the options ask for: outputs, a report of the run,
  /// and timelines of the last step. Prints a summary line to stderr.
  virtual Status write() = 0;
  /// Copies this rank's elements of the last step's outputs into complete
  /// arrays. `places` has the address of one dense array per output. bf16
  /// becomes f32. Ranks that are threads may write to the same arrays at once.
  /// Local: does not communicate.
  virtual Status copyOutputs(std::span<std::byte *const> places) = 0;

  // copyWeights(), save() and resume() are for programs that train. For other
  // programs they return exit code 2.

  /// Copies this rank's shards of the trained weights into `whole`, the
  /// complete weights that all ranks of this process share.
  virtual Status copyWeights(GatheredTensors &whole) = 0;
  /// Writes a checkpoint of the current training state into `directory`.
  virtual Status save(const std::string &directory) = 0;
  /// Restores the training state from the newest checkpoint in `directory`.
  /// Appends warnings for the user to `notes`.
  virtual Status resume(const std::string &directory,
                        std::vector<std::string> &notes) = 0;
};

/// Creates a rank without loading its program. All arguments are borrowed.
std::unique_ptr<Rank> createRank(const ProgramImage &image,
                                 const RunOptions &options, World &world,
                                 Device &device);

/// Returns the number of threads with which a rank computes: `options.threads`,
/// or else the host's cores divided by the host's ranks, at least 1.
int threadsPerRank(const RunOptions &options, int worldSize);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_RANK_H
