//===- RunOptions.h - what a run is asked to do ---------------------------===//

#ifndef PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONS_H
#define PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONS_H

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace pcc::runtime {

/// The options of `pcc run` and of the executables of a bundle.
struct RunOptions {
  std::map<std::string, std::string> inputs; ///< input name to .npy file
  std::string outputDirectory;               ///< empty: outputs are dropped
  /// Whether devices that can keep a step replay it.
  bool recordSteps = true;
  bool shareGpu = false;                ///< several ranks may have one GPU
  std::string comm;                     ///< empty: the launcher chooses
  int threads = 0;                      ///< 0: cores / ranks of the host
  std::string report;                   ///< JSON file, or empty
  std::optional<uint64_t> randomInputs; ///< seed
  std::string weights; ///< replaces the recorded root if not empty
  std::string bundle;  ///< directory that packed weights are under
  /// Of a training run: the directory of .npy files with a leading step
  /// dimension, or, with `tokens`, a file of token numbers.
  std::string data;
  std::string tokens;    ///< u16 or u32: how the file has them; or empty
  int64_t steps = 1;     ///< of training
  std::string save;      ///< directory of checkpoints, or empty
  int64_t saveEvery = 0; ///< steps; 0: after the last one only
  bool saveInBackground = false; ///< while training goes on
  std::string resume;            ///< directory of checkpoints, or empty
  std::string metrics;           ///< JSON lines, one per step, or empty
  double peakFlops = 0; ///< what a rank can reach; 0: what the program says
  /// Of the last step as it was measured: a picture, a trace; or empty.
  std::string scheduleSvg, trace;
  int repeat = 1;
  int warmup = 0;
  double timeout = 30;       ///< seconds that a wait may last in a step
  double loadTimeout = 600;  ///< and before the first step
  bool checkWeights = false; ///< hash whole weight files
  bool quiet = false;        ///< no summary lines
  int localRanks = 0;        ///< ranks on this host; 0: all of them
  /// In a process that is somebody else's: no signal is listened for, and
  /// nothing goes to stdout.
  bool isEmbedded = false;
  /// Asked before each step: whether this rank ends instead. May be empty.
  std::function<bool()> isGivenUp = {};
  /// Told on rank 0 what it does; an empty text is the end. May be empty.
  std::function<void(const std::string &)> onProgress = {};
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OPTIONS_RUNOPTIONS_H
