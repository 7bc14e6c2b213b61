//===- RunOptions.h - options of a run ------------------------------------===//

#ifndef PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONS_H
#define PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONS_H

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace pcc::runtime {

/// Options of `pcc run` and of the executables in a bundle (the compiler's
/// output directory). RunOptionsCli.h defines their flags.
struct RunOptions {
  /// Path of a .npy file per input name (--input).
  std::map<std::string, std::string> inputs;
  /// Directory for the outputs; if empty, they are not written.
  std::string outputDirectory;
  /// Whether the runtime records a step as a CUDA graph and executes the graph
  /// in later steps. If false, it launches every kernel of every step.
  bool recordSteps = true;
  /// Whether several ranks may use one GPU.
  bool shareGpu = false;
  /// Means of communication between the ranks (--comm):
  ///
  /// - "thread": the ranks are threads of one process.
  /// - "mpi": each rank is a process on CPUs. The processes use MPI.
  /// - "nccl": each rank is a process with a GPU. The processes use NCCL.
  ///
  /// If empty, a model that was compiled for GPUs runs as with "nccl", and a
  /// model that was compiled for CPUs runs as with "mpi".
  std::string comm;
  /// Number of threads of each rank; 0 means the host's cores divided by its
  /// ranks.
  int threads = 0;
  /// Path of the JSON file for times and memory (--report); if empty, none is
  /// written.
  std::string report;
  /// Seed of randomly generated inputs, for inputs without a file or array.
  std::optional<uint64_t> randomInputs;
  /// Directory with the weight files of the model (--weights). If empty, the
  /// runtime uses the directory in which the compiler found the weight files.
  /// The compiled program contains the path of this directory. Both directories
  /// are ignored for weights that the compiler copied to its output directory.
  std::string weights;
  /// Directory of the bundle (the compiler's output), which may contain copied
  /// weights.
  std::string bundle;
  /// Path of the training data. If `tokens` is set, this is a file of token
  /// ids. Otherwise it is a directory of .npy files with a leading dim that
  /// counts steps.
  std::string data;
  /// Element type of the token file `data`, "u16" or "u32"; empty if `data` is
  /// a directory.
  std::string tokens;
  /// Number of training steps.
  int64_t steps = 1;
  /// Directory for checkpoints; if empty, none are saved.
  std::string save;
  /// Number of steps between two checkpoints; 0 saves only after the last step.
  int64_t saveEvery = 0;
  /// Whether checkpoints are written while training continues.
  bool saveInBackground = false;
  /// Directory of checkpoints from which training resumes; if empty, training
  /// begins with the initial weights.
  std::string resume;
  /// Path of the file for one line of JSON per training step; if empty, none is
  /// written.
  std::string metrics;
  /// Peak speed of one rank, in floating-point operations per second
  /// (--peak-flops). The runtime needs this speed to report the model FLOPs
  /// utilization (MFU) of training. If 0, the runtime uses the peak speed from
  /// the cluster file that was given to the compiler. Without a cluster file,
  /// the runtime does not report the MFU.
  double peakFlops = 0;
  /// Paths for the measured timeline of the last step, as a picture and as a
  /// Chrome trace. An empty path means none.
  std::string scheduleSvg, trace;
  /// Number of timed steps in an inference run.
  int repeat = 1;
  /// Number of untimed inference steps before the timed ones.
  int warmup = 0;
  /// Longest time, in seconds, of one wait for other ranks within a step.
  double timeout = 30;
  /// Longest time, in seconds, of one wait for other ranks while loading or
  /// saving.
  double loadTimeout = 600;
  /// Whether weight files are verified by a hash of all bytes, instead of
  /// sampled pages.
  bool checkWeights = false;
  /// Whether summary lines and notes are not printed.
  bool quiet = false;
  /// Number of ranks on this host; 0 means all ranks of the run.
  int localRanks = 0;
  /// Whether the runtime is part of another program (Python). It then installs
  /// no signal handlers, and prints nothing to stdout.
  bool isEmbedded = false;
  /// Function that the runtime calls before each step. If it returns true, this
  /// rank ends the run. May be empty.
  std::function<bool()> isGivenUp = {};
  /// Function that receives progress messages of rank 0. An empty text clears
  /// the message. May be empty.
  std::function<void(const std::string &)> onProgress = {};
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONS_H
