//===- Options.h - what a user may ask of the compiler --------------------===//

#ifndef PCC_PASSES_OPTIONS_H
#define PCC_PASSES_OPTIONS_H

#include "passes/Phase.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pcc {

/// --train and what goes with it. Values that were not given are empty: the
/// optimizer's own hold.
struct TrainingOptions {
  bool train = false;
  std::string loss;
  std::string optimizer;
  std::optional<double> lr, lrDecay, momentum, eps, weightDecay, clipNorm;
  std::vector<double> betas;
  std::string lrSchedule;
  /// --loss-scale: "dynamic" or a number.
  std::string lossScale;
  /// --dropout: "on", "off", or empty for what the nodes say.
  std::string dropout;
  /// --seed: a whole number.
  std::string seed;
  /// Globs of weights: those that decay, that do not train, that alone train.
  std::vector<std::string> decay, freeze, trainOnly;
  /// none, full, selective or auto.
  std::string recompute;
  /// --reproducible: the bits of sums over the batch depend on no layout.
  bool reproducible = false;
};

/// The options of compile, verify and explain, as typed: values that were not
/// given are empty.
struct CompileOptions {
  std::string model;
  /// The bundle, or the file where `emitsOnnx`.
  std::string bundle;
  /// --emit onnx: an annotated model in place of a bundle.
  bool emitsOnnx = false;

  /// tp, pp, dp, cp, ep.
  std::map<std::string, int64_t> axes;
  /// --mesh: own axes, major to minor.
  std::vector<std::pair<std::string, int64_t>> mesh;
  std::map<std::string, int64_t> dims;
  std::map<std::string, std::vector<int64_t>> shapes;
  std::vector<std::string> batchDims;
  std::optional<int64_t> microbatches;
  /// A schedule's name, or a file that ends in `.csv`.
  std::string schedule;
  /// What that file holds, when it has been read (ScheduleTable.h).
  std::string scheduleTable;
  std::optional<int64_t> virtualStages;
  std::vector<std::string> shards;
  std::vector<std::string> stageAt;
  std::vector<std::string> presets;
  TrainingOptions training;
  std::string target = "cpu";
  /// --gpu-arch: the oldest GPU that has to run it; empty: sm_90.
  std::string gpuArch;
  /// --tf32: GPUs may round the factors of f32 products.
  bool tf32 = false;
  /// --dtype: f32, bf16, f16, or empty for the model's own types.
  std::string dtype;
  std::vector<std::string> cpus;
  /// --memory-limit: bytes of a rank's weights and arena.
  std::optional<int64_t> memoryLimit;
  /// --cluster: the file of prices, and its text.
  std::string clusterFile, cluster;
  /// Which of the model's device configurations holds.
  std::string configuration;
  std::string externalDataRoot;
  std::optional<uint64_t> randomWeights;
  bool packWeights = false;

  /// Files for the planned step: a picture, and a trace for viewers.
  std::string scheduleSvg, trace;

  std::string dumpDirectory;
  std::optional<Phase> stopAfter;
  std::optional<Phase> startAt;
  std::string report;
  bool quiet = false;

  /// The command up to here, for messages that complete it.
  std::string command;

  /// The size of an axis, 1 if it was not given. Experts that lie on no given
  /// axis make dp; the preset divides them over all of dp and cp.
  int64_t axis(const std::string &name) const {
    auto given = [&](const std::string &axis) {
      auto it = axes.find(axis);
      return it == axes.end() ? 1 : it->second;
    };
    if (name == "dp" && !axes.count("dp") && !axes.count("cp"))
      return given("ep");
    if (name == "ep" && !axes.count("ep") && hasPreset("expert"))
      return given("dp") * given("cp");
    return given(name);
  }

  /// What --microbatches and --schedule say, or their defaults.
  int64_t numMicrobatches() const {
    return microbatches.value_or(training.train ? axis("pp") : 1);
  }
  std::string scheduleName() const {
    return !training.train     ? "forward"
           : hasScheduleFile() ? "csv"
           : schedule.empty()  ? "1f1b"
                               : schedule;
  }
  bool hasScheduleFile() const { return schedule.ends_with(".csv"); }

  bool hasPreset(const std::string &name) const {
    return std::find(presets.begin(), presets.end(), name) != presets.end();
  }
};

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_H
