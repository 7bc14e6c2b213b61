//===- RunOptions.h - options of a run ------------------------------------===//

#ifndef PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONS_H
#define PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONS_H

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace pcc::runtime {

/// Options of `pcc run` and of the executables of a bundle. RunOptionsCli.h
/// names the flag of each.
struct RunOptions {
  /// Input name to .npy file (--input).
  std::map<std::string, std::string> inputs;
  /// Directory for the outputs; empty: outputs are not written.
  std::string outputDirectory;
  /// Whether devices that can record a step (CUDA graphs) record and replay it.
  bool recordSteps = true;
  /// Whether several ranks may use one GPU.
  bool shareGpu = false;
  /// Communicator: "mpi", "thread" or "nccl"; empty: the launcher chooses.
  std::string comm;
  /// Threads per rank; 0: cores divided by the ranks of the host.
  int threads = 0;
  /// JSON file for times and memory; empty: none.
  std::string report;
  /// Seed of generated inputs; empty: all inputs must be given.
  std::optional<uint64_t> randomInputs;
  /// Root directory of the weight files; empty: the root that the program
  /// records.
  std::string weights;
  /// Directory of the bundle, which also holds packed weights.
  std::string bundle;
  /// Training data: a directory of .npy files with a leading step dim, or, with
  /// `tokens`, a file of token ids.
  std::string data;
  /// Element type of a token file: "u16" or "u32"; empty: `data` is a
  /// directory.
  std::string tokens;
  /// Number of training steps.
  int64_t steps = 1;
  /// Directory for checkpoints; empty: none are saved.
  std::string save;
  /// Steps between checkpoints; 0: only one after the last step.
  int64_t saveEvery = 0;
  /// Whether checkpoints are written while training continues.
  bool saveInBackground = false;
  /// Directory of checkpoints to resume from; empty: training begins anew.
  std::string resume;
  /// File for one line of JSON per training step; empty: none.
  std::string metrics;
  /// Peak operations per second of one rank; 0: as the program records.
  double peakFlops = 0;
  /// Files for the measured timeline of the last step, as a picture and as a
  /// Chrome trace; empty: none.
  std::string scheduleSvg, trace;
  /// Timed steps of inference.
  int repeat = 1;
  /// Untimed steps before the timed ones.
  int warmup = 0;
  /// Seconds that one wait may last within a step.
  double timeout = 30;
  /// Seconds that one wait may last while loading or saving.
  double loadTimeout = 600;
  /// Whether to hash whole weight files rather than sampled pages.
  bool checkWeights = false;
  /// Whether to omit summary lines and notes.
  bool quiet = false;
  /// Ranks on this host; 0: all ranks of the world.
  int localRanks = 0;
  /// Whether the process belongs to another program (Python): no signal
  /// handlers are installed, and nothing is printed to stdout.
  bool isEmbedded = false;
  /// Returns whether this rank should end instead of executing its next step.
  /// Called before each step. May be empty.
  std::function<bool()> isGivenUp = {};
  /// Receives progress messages of rank 0; an empty text clears the message.
  /// May be empty.
  std::function<void(const std::string &)> onProgress = {};
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONS_H
