//===- RunOptions.h - options of a run ------------------------------------===//

#ifndef PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONS_H
#define PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONS_H

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace pcc::runtime {

/// Options of `pcc run` and of the executables of a bundle (the directory that
/// pcc writes). RunOptionsCli.h defines the flag of each option.
struct RunOptions {
  /// Path of a .npy file per input name (--input).
  std::map<std::string, std::string> inputs;
  /// Directory to which the outputs are written; if empty, they are not
  /// written.
  std::string outputDirectory;
  /// Whether a device that can record a step as a CUDA graph records one step
  /// and executes the graph in later steps. If false, every step is executed
  /// action by action.
  bool recordSteps = true;
  /// Whether several ranks may use one GPU.
  bool shareGpu = false;
  /// Name of the communicator: "mpi", "thread" or "nccl". If empty, the
  /// launcher chooses one.
  std::string comm;
  /// Number of threads with which each rank computes. 0 means the number of
  /// cores divided by the number of ranks of this host.
  int threads = 0;
  /// Path of the JSON file for times and memory (--report); if empty, no report
  /// is written.
  std::string report;
  /// Seed of randomly generated inputs. If empty, a file or array must be given
  /// for every input.
  std::optional<uint64_t> randomInputs;
  /// Root directory of the weight files. If empty, it is the directory that the
  /// program records.
  std::string weights;
  /// Directory of the bundle (the output of pcc). If pcc has copied the weights
  /// into the bundle, they are read from this directory.
  std::string bundle;
  /// Path of the training data: with `tokens` a file of token ids, otherwise a
  /// directory of .npy files whose leading dim counts steps.
  std::string data;
  /// Element type of the token file `data`: "u16" or "u32". If empty, `data` is
  /// a directory.
  std::string tokens;
  /// Number of training steps.
  int64_t steps = 1;
  /// Directory to which checkpoints are saved; if empty, none are saved.
  std::string save;
  /// Number of steps from one checkpoint to the next; 0 means only one
  /// checkpoint, after the last step.
  int64_t saveEvery = 0;
  /// Whether checkpoints are written to disk while training continues. If
  /// false, training waits until a checkpoint is complete.
  bool saveInBackground = false;
  /// Directory of checkpoints from which training resumes; if empty, training
  /// starts from the initial weights.
  std::string resume;
  /// Path of the file that gets one line of JSON per training step; if empty,
  /// none is written.
  std::string metrics;
  /// Peak floating-point operations per second of one rank; 0 means the number
  /// that the program records.
  double peakFlops = 0;
  /// Paths for the measured timeline of the last step: `scheduleSvg` for a
  /// picture, `trace` for a Chrome trace. A file with an empty path is not
  /// written.
  std::string scheduleSvg, trace;
  /// Number of timed steps in an inference run.
  int repeat = 1;
  /// Number of untimed inference steps before the timed ones.
  int warmup = 0;
  /// Deadline within a step: longest time, in seconds, of one wait for other
  /// ranks.
  double timeout = 30;
  /// Deadline while loading or saving: longest time, in seconds, of one wait
  /// for other ranks.
  double loadTimeout = 600;
  /// Whether weight files are verified by a hash of all bytes. If false, only
  /// sampled pages are hashed.
  bool checkWeights = false;
  /// Whether summary lines and notes are not printed.
  bool quiet = false;
  /// Number of ranks on this host; 0 means that all ranks of the world are on
  /// this host.
  int localRanks = 0;
  /// Whether the runtime is part of another program's process (Python). No
  /// signal handlers are installed then, and nothing is printed to stdout.
  bool isEmbedded = false;
  /// Function that is called before each step, and returns true if this rank
  /// should end the run instead of executing the step. May be empty.
  std::function<bool()> isGivenUp = {};
  /// Function that receives progress messages of rank 0; an empty text clears
  /// the message. May be empty.
  std::function<void(const std::string &)> onProgress = {};
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONS_H
