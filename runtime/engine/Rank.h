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
/// results. Every rank has a Device of its own. All ranks with the same
/// coordinate on the pipeline axis (pipeline position) have the same image
/// (compiled program).
///
/// All ranks make the same calls in the same order, each rank from one thread.
/// A call blocks and may communicate with the other ranks, unless its comment
/// says "Local". After a call has failed on any rank, no further call may be
/// made. World::abort then ends the calls in which other ranks wait.
///
/// A rank is used in one of two ways:
///
///   run()                                       a whole run (`pcc run`)
///   open() setInputs() step() … copyOutputs()   a session (the Python module)
class Rank {
public:
  virtual ~Rank() = default;

  /// Returns the index of this rank in the world. Local: does not communicate.
  virtual int index() const = 0;

  /// Executes the whole run that the options describe: loads the program, reads
  /// the inputs, executes the steps, writes outputs and report, and prints one
  /// summary line to stderr. Output files appear only if all ranks succeed. If
  /// training was stopped by a request, returns TrainingRun::ending() when all
  /// files are written. A caller of run() makes no other call, except index().
  virtual Status run() = 0;

  /// Loads the program and the weights, and creates the communicators. Must be
  /// called before all other functions except index() and run().
  virtual Status open() = 0;
  /// Returns the loaded program (its functions, buffers and action table),
  /// which the rank owns. Local: does not communicate.
  virtual const program::ProgramT &program() const = 0;

  /// Sets the input arrays that all following steps read. An array in `given`
  /// takes precedence over a file or generator that the options name for the
  /// same input. The arrays are borrowed and must stay valid as long as steps
  /// run. Local: does not communicate.
  virtual Status setInputs(const InputArrays &given) = 0;
  /// Executes all steps that the options specify. Inference: the warm-up steps,
  /// then the timed steps. Training: `options.steps` steps, with metrics and
  /// checkpoints.
  virtual Status runSteps() = 0;
  /// Executes one training or inference step. Adds the duration and, when
  /// training, the metrics of the step to `report`.
  virtual Status step(RankReport &report) = 0;
  /// Writes the output files, the report and the timelines that the options
  /// name, and prints the summary line.
  virtual Status write() = 0;
  /// Copies this rank's elements of the last step's outputs to `places`. Each
  /// entry of `places` is the address of one whole output: a dense array in the
  /// element type of .npy files (bf16 becomes f32). Other ranks' threads may
  /// write their elements to the same arrays at the same time. Local: does not
  /// communicate.
  virtual Status copyOutputs(std::span<std::byte *const> places) = 0;

  // The functions copyWeights(), save() and resume() are only for programs that
  // train. For other programs they return exit code 2.

  /// Copies this rank's shards (local pieces) of the trained weights into
  /// `whole`. `whole` holds the complete weights, and all ranks of this process
  /// share it.
  virtual Status copyWeights(GatheredTensors &whole) = 0;
  /// Writes a checkpoint of the current training state into `directory`.
  virtual Status save(const std::string &directory) = 0;
  /// Restores the training state from the newest checkpoint in `directory`.
  /// Appends warnings for the user to `notes`, for instance about damaged
  /// checkpoints that were skipped.
  virtual Status resume(const std::string &directory,
                        std::vector<std::string> &notes) = 0;
};

/// Creates a rank. All arguments are borrowed and must outlive the rank.
/// Rank::open() or Rank::run() loads the program and the weights; createRank()
/// does not.
std::unique_ptr<Rank> createRank(const ProgramImage &image,
                                 const RunOptions &options, World &world,
                                 Device &device);

/// Returns the number of threads with which a rank computes. It is
/// `options.threads` if that is positive. Otherwise it is the number of cores
/// of the host divided by the number of ranks on the host, at least 1.
int threadsPerRank(const RunOptions &options, int worldSize);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_RANK_H
