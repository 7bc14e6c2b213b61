//===- RunOptions.h - options of a run ------------------------------------===//

#ifndef PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONS_H
#define PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONS_H

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace pcc::runtime {

struct TrainingLine;

/// Options of `pcc run` and of the executables in a bundle (the compiler's
/// output directory). RunOptionsCli.h defines their flags.
struct RunOptions {
  /// Files with the elements of the model's inputs (--input). Each key of the
  /// map is the name of an input. The value is the path of the input's .npy
  /// file.
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
  /// Number of CPU threads of each rank. If it is 0, the runtime divides the
  /// number of cores of the host by the number of ranks on the host. For
  /// example, 16 cores and 4 ranks give 4 threads for each rank.
  int threads = 0;
  /// Path of a JSON file (--report). At the end of a run, rank 0 writes two
  /// lists to this file:
  ///
  /// - "ranks": the duration of the timed steps and the memory use of each rank
  /// - "steps": the duration of each timed step; in training, also the loss and
  ///   the norm of the gradients
  ///
  /// If the path is empty, no file is written.
  std::string report;
  /// Format of the table of ranks (--format): "table", "csv", "md" or "json".
  /// If empty, the table is text for people on stderr; otherwise it goes to
  /// stdout.
  std::string format;
  /// Seed of the random generator for inputs (--random-inputs). The runtime
  /// fills an input with random elements if the input has no other source.
  /// Other sources are a .npy file, a file of token ids, and an array that a
  /// caller of the runtime passes. If the seed is std::nullopt, an input
  /// without a source is an error.
  std::optional<uint64_t> randomInputs;
  /// Directory with the weight files of the model (--weights). If empty, the
  /// runtime uses the directory in which the compiler found the weight files.
  /// The compiled program contains the path of this directory. Both directories
  /// are ignored for weights that the compiler copied to its output directory.
  std::string weights;
  /// Directory that the compiler has written (the bundle). The compiler may
  /// have copied weight files of the model to this directory. The runtime reads
  /// the copied weight files from this directory.
  std::string bundle;
  /// Path of the training data. If `tokens` is not empty, this is the path of a
  /// file of token ids. Otherwise this is the path of a directory with one .npy
  /// file for each input that has no --input file. Dim 0 of each .npy file
  /// counts the steps. For example, an input has the shape [8, 32] in each
  /// step. A .npy file with data for 100 steps then has the shape [100, 8, 32].
  std::string data;
  /// Element type of the token file `data`, "u16" or "u32"; empty if `data` is
  /// a directory.
  std::string tokens;
  /// Number of training steps.
  int64_t steps = 1;
  /// Number K of --log-every. The runtime shows the metrics of every K-th step,
  /// of the last step, of steps that save a checkpoint, and of steps that cause
  /// a warning, such as the first step with a NaN loss. The file `metrics` gets
  /// the metrics of all steps.
  int64_t logEvery = 1;
  /// Whether the results of all instructions are searched for values that are
  /// not finite (--check-finite), to name the origin of a bad loss.
  bool checkFinite = false;
  /// Directory for checkpoints; if empty, none are saved.
  std::string save;
  /// Number of steps between two checkpoints; 0 saves only after the last step.
  int64_t saveEvery = 0;
  /// Whether checkpoints are written while training continues.
  bool saveInBackground = false;
  /// Directory with checkpoints (--resume). Training resumes from the newest
  /// checkpoint in this directory. If the path is empty, training begins with
  /// the initial weights.
  std::string resume;
  /// Path of the file for the metrics of training, such as the loss. Rank 0
  /// appends one line of JSON to this file after each training step. If the
  /// path is empty, rank 0 writes no metrics.
  std::string metrics;
  /// Peak speed of one rank, in floating-point operations per second
  /// (--peak-flops). The runtime needs this speed to report the model FLOPs
  /// utilization (MFU) of training. If 0, the runtime uses the peak speed from
  /// the cluster file that was given to the compiler. Without a cluster file,
  /// the runtime does not report the MFU.
  double peakFlops = 0;
  /// Paths of two files with a timeline of the last step. The timeline shows
  /// when each rank computed and communicated. `scheduleSvg` is the path of an
  /// SVG drawing. `trace` is the path of a Chrome trace. If a path is empty,
  /// the runtime does not write that file.
  std::string scheduleSvg, trace;
  /// Path of a JSON file with the report of the run and with the timeline of
  /// its last step (--measurements). If the path is empty, the runtime writes
  /// no such file.
  std::string measurements;
  /// Path of the page that `pcc run --html` writes after the run. The ranks
  /// write no page. They check that it would replace no file of the run.
  std::string page;

  /// Returns whether the options ask for a timeline of the last step.
  bool wantsTimeline() const {
    return !scheduleSvg.empty() || !trace.empty() || !measurements.empty();
  }
  /// Number of timed steps in an inference run.
  int repeat = 1;
  /// Number of untimed inference steps before the timed ones.
  int warmup = 0;
  /// Longest time, in seconds, of one wait for other ranks within a step.
  double timeout = 30;
  /// Time limit, in seconds, of each wait for other ranks while the runtime
  /// loads the model, writes outputs, or saves a checkpoint. If a wait takes
  /// longer, the run fails.
  double loadTimeout = 600;
  /// Whether the runtime compares the whole content of each weight file with
  /// the content at compile time (--check-weights). For this purpose, the
  /// compiler has stored a hash of all bytes of each file of at most 1 GiB. For
  /// a larger file, the compiler stores no hash, and the runtime prints a note
  /// that it cannot compare the whole content.
  ///
  /// With and without this option, the runtime compares the hashes of at most
  /// 16 blocks of 4096 bytes in each file. A difference is an error.
  bool checkWeights = false;
  /// Whether notes and the table of ranks on stderr are not printed.
  bool quiet = false;
  /// Number of ranks on this host; 0 means all ranks of the run.
  int localRanks = 0;
  /// Whether several ranks are threads of this process.
  bool sharesProcess = false;
  /// Whether the runtime is part of another program (Python). It then installs
  /// no signal handlers, and prints nothing to stdout.
  bool isEmbedded = false;
  /// Function with which another thread can end a run early. Each rank calls
  /// the function before each step. If the function returns true, the rank does
  /// not execute the step, and ends with exit code 14. Other ranks may already
  /// wait for this rank in the middle of a step. The thread that ends the run
  /// must therefore also call World::abort(), which ends these waits at once.
  /// If the function is empty, ranks do not call it.
  std::function<bool()> isGivenUp = {};
  /// Function that receives progress messages of rank 0. An empty text clears
  /// the message. May be empty.
  std::function<void(const std::string &)> onProgress = {};
  /// Function that shows the metrics of a training step on a terminal, on rank
  /// 0. If it is empty, the metrics go to stdout as text for scripts.
  std::function<void(const TrainingLine &)> onTrainingLine = {};
  /// Function that shows the table of ranks to the user. If it is empty, rank 0
  /// writes the table to stderr.
  std::function<void(const std::string &)> onTable = {};
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONS_H
