//===- Rank.h - executes one rank of a compiled bundle --------------------===//

#ifndef PCC_RUNTIME_ENGINE_RANK_H
#define PCC_RUNTIME_ENGINE_RANK_H

#include "runtime/checkpoint/GatheredTensors.h"
#include "runtime/engine/io/Inputs.h"
#include "runtime/engine/observe/RunReport.h"

#include <memory>
#include <span>

namespace pcc::runtime {

/// One rank of a run. `pcc run` calls only run(), which executes the whole run.
/// The Python module instead calls open(), setInputs(), step() and
/// copyOutputs(). The Python module may call step() several times. A step is
/// one execution of the program.
///
/// All ranks must call the same functions in the same order. Calls may wait for
/// other ranks, except calls of index(), program(), setInputs() and
/// copyOutputs(). If a call returns an error on one rank, no rank may call a
/// function of this class again. World::abort() ends the calls that still wait.
class Rank {
public:
  virtual ~Rank() = default;

  /// Returns the index of this rank among all ranks of the run, counted from 0.
  /// Does not communicate with other ranks.
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
  /// Returns the program of this rank, which open() has loaded. This object
  /// owns the program. Does not communicate with other ranks.
  virtual const program::ProgramT &program() const = 0;

  /// Sets the inputs of all following steps. `given` has arrays by the names of
  /// the inputs. If `given` has an array for an input of the model, the steps
  /// read the array. Otherwise, the steps read the file or use the random
  /// generator that the options name for the input. A second call removes all
  /// arrays of the first call.
  ///
  /// The caller must keep the arrays in memory until the last step that reads
  /// them is complete. Does not communicate with other ranks.
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
  /// Copies the outputs of the last step to arrays of the caller. `places` has
  /// the address of one array per output of the model. The array has space for
  /// all elements of the output, in row-major order and without gaps. Elements
  /// of type bf16 are converted to f32. This rank writes only its own elements
  /// of the outputs. If several ranks have the same element, only one of these
  /// ranks writes it.
  ///
  /// The ranks may be threads of one process. All ranks can then write to the
  /// same arrays at the same time, because they write different elements. Does
  /// not communicate with other ranks.
  virtual Status copyOutputs(std::span<std::byte *const> places) = 0;

  // The functions copyWeights(), save() and resume() need a program that was
  // compiled for training. If the program was compiled for inference, the
  // functions do nothing and return an error with exit code 2 (WrongUsage).

  /// Copies this rank's shards of the trained weights to `whole`. A shard is
  /// the local piece of a weight. The ranks must be threads of one process, and
  /// all ranks must pass the same object as `whole`. When the call has returned
  /// on all ranks, `whole` has all elements of the weights.
  virtual Status copyWeights(GatheredTensors &whole) = 0;
  /// Writes a checkpoint of the current training state into `directory`.
  virtual Status save(const std::string &directory) = 0;
  /// Restores the training state from the newest checkpoint in `directory`.
  /// Appends warnings for the user to `notes`.
  virtual Status resume(const std::string &directory,
                        std::vector<std::string> &notes) = 0;
};

/// Creates a rank, but does not load its program. The parameters are:
///
/// - `image`: the program and the compiled kernels
/// - `options`: the options of the run, such as the number of steps
/// - `world`: the communicator of all ranks
/// - `device`: the CPU or GPU that executes the program
///
/// The rank keeps references to the four arguments. The caller must not destroy
/// them before the rank.
std::unique_ptr<Rank> createRank(const ProgramImage &image,
                                 const RunOptions &options, World &world,
                                 Device &device);

/// Returns the number of CPU threads that each rank uses. If `options.threads`
/// is greater than 0, the result is `options.threads`. Otherwise, the result is
/// the number of the host's cores divided by the number of ranks on the host,
/// but at least 1. For example, if the host has 16 cores and 4 ranks, the
/// result is 4.
///
/// `options.localRanks` is the number of ranks on the host. If this number is
/// 0, all ranks of the run are on the host. `worldSize` is the number of all
/// ranks.
int threadsPerRank(const RunOptions &options, int worldSize);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_RANK_H
