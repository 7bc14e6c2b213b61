//===- Rank.h - one rank of a run -----------------------------------------===//

#ifndef PCC_RUNTIME_ENGINE_RANK_H
#define PCC_RUNTIME_ENGINE_RANK_H

#include "runtime/checkpoint/GatheredTensors.h"
#include "runtime/engine/io/Inputs.h"
#include "runtime/engine/observe/RunReport.h"

#include <memory>
#include <span>

namespace pcc::runtime {

/// One rank of a run. All ranks of the world make the same calls in the same
/// order, each with the image of its position and a device of its own, from one
/// thread. A call that fails on any rank is the last: World::abort tells the
/// other ranks.
class Rank {
public:
  virtual ~Rank() = default;

  /// Its number in the world.
  virtual int index() const = 0;

  /// All that the options ask for: loads, reads the inputs, runs warm-up and
  /// timed steps, writes the outputs and the report, and prints one summary
  /// line to stderr. Outputs appear only if all ranks succeed. The only call.
  virtual Status run() = 0;

  /// Loads the program and the weights. The first call.
  virtual Status open() = 0;
  virtual const program::ProgramT &program() const = 0;

  /// What the steps from now on read (see Inputs::open). Meets no other rank.
  virtual Status setInputs(const InputArrays &given) = 0;
  /// All steps that the options ask for, warm-up first; of a training run with
  /// checkpoints and metrics.
  virtual Status runSteps() = 0;
  /// One step; adds what it took to `report`, and the metrics of training.
  virtual Status step(RankReport &report) = 0;
  /// Writes the outputs and the report to where the options say.
  virtual Status write() = 0;
  /// Writes this rank's parts of what the last step has computed: to one place
  /// per output, which has the type of a file. Meets no other rank.
  virtual Status copyOutputs(std::span<std::byte *const> places) = 0;

  // Of a program that trains.

  /// Puts this rank's pieces of the trained weights into `whole`, which ranks
  /// of this process share.
  virtual Status copyWeights(GatheredTensors &whole) = 0;
  /// Saves a checkpoint in `directory`.
  virtual Status save(const std::string &directory) = 0;
  /// Goes on where the newest checkpoint in `directory` stands; `notes` is what
  /// the user should know.
  virtual Status resume(const std::string &directory,
                        std::vector<std::string> &notes) = 0;
};

/// All of these must outlive the rank.
std::unique_ptr<Rank> createRank(const ProgramImage &image,
                                 const RunOptions &options, World &world,
                                 Device &device);

/// Threads that a rank uses: the option's, else the host's cores divided by its
/// ranks, at least one.
int threadsPerRank(const RunOptions &options, int worldSize);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_RANK_H
