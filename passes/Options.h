//===- Options.h - options of compile, verify and explain -----------------===//

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

/// Options of training: --train and the options that need it. Options that were
/// not given are empty; the optimizer then uses its own defaults.
struct TrainingOptions {
  /// --train: adds loss, gradients and update to the model.
  bool train = false;
  /// --loss: an expression such as `cross_entropy(logits, labels)`, or the name
  /// of an output of one number.
  std::string loss;
  /// --optimizer: sgd, adam, adamw or adagrad; empty for sgd.
  std::string optimizer;
  /// Hyperparameters of the optimizer, and the limit on the norm of all
  /// gradients.
  std::optional<double> lr, lrDecay, momentum, eps, weightDecay, clipNorm;
  /// --betas of adam and adamw: two numbers, or empty.
  std::vector<double> betas;
  /// --lr-schedule: an expression such as `cosine(steps=1000)`.
  std::string lrSchedule;
  /// --loss-scale: a number, or an expression that begins with "dynamic".
  std::string lossScale;
  /// --dropout: "on", "off", or empty if each Dropout node decides.
  std::string dropout;
  /// --seed of the random numbers of dropout: text of a whole number.
  std::string seed;
  /// Globs of weight names: weights that decay, weights that do not train, and
  /// weights that alone train.
  std::vector<std::string> decay, freeze, trainOnly;
  /// --recompute: none, full, selective or auto.
  std::string recompute;
  /// --reproducible: whether sums over the batch give the same bits on every
  /// layout.
  bool reproducible = false;
};

/// The options of compile, verify and explain as the user typed them. Options
/// that were not given are empty.
struct CompileOptions {
  /// Path of the model: an .onnx file, or an .mlir file in the graph dialect or
  /// of any phase.
  std::string model;
  /// Path of the bundle; with `emitsOnnx`, of the annotated model.
  std::string bundle;
  /// --emit onnx: whether to write an annotated model instead of a bundle.
  bool emitsOnnx = false;

  /// Sizes of tp, pp, dp, cp and ep, by name.
  std::map<std::string, int64_t> axes;
  /// --mesh: names and sizes of the user's own axes, major to minor.
  std::vector<std::pair<std::string, int64_t>> mesh;
  /// --dim: sizes of dynamic dims, by name.
  std::map<std::string, int64_t> dims;
  /// --shape: shapes of inputs, by name.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// --batch-dim: NAME=K, the dim of an input that is the batch.
  std::vector<std::string> batchDims;
  /// --microbatches.
  std::optional<int64_t> microbatches;
  /// --schedule: the name of a schedule, or a file that ends in `.csv`.
  std::string schedule;
  /// Content of the schedule file after readScheduleTable() has read it
  /// (ScheduleTable.h).
  std::string scheduleTable;
  /// --virtual-stages: stages per position.
  std::optional<int64_t> virtualStages;
  /// --shard: shardings as 'NAME=[tp,-]'.
  std::vector<std::string> shards;
  /// --stage-at: names of nodes or values before which stages are cut.
  std::vector<std::string> stageAt;
  /// --preset: names of presets such as megatron and fsdp.
  std::vector<std::string> presets;
  /// Options of training.
  TrainingOptions training;
  /// --target: cpu or cuda.
  std::string target = "cpu";
  /// --gpu-arch: the oldest GPU architecture that kernels must run on; empty
  /// for sm_90.
  std::string gpuArch;
  /// --tf32: whether GPUs may round the factors of f32 products to tf32.
  bool tf32 = false;
  /// --dtype: f32, bf16 or f16; empty for the model's own types.
  std::string dtype;
  /// --cpu: instruction sets of CPU kernels.
  std::vector<std::string> cpus;
  /// --memory-limit: the most bytes of weights and arena on one rank.
  std::optional<int64_t> memoryLimit;
  /// --cluster: path of the TOML file with prices, and the file's text.
  std::string clusterFile, cluster;
  /// --configuration: name of the device configuration of the model that
  /// applies; "none" to ignore the model's annotations.
  std::string configuration;
  /// --external-data-root: additional folder in which external data may lie.
  std::string externalDataRoot;
  /// --random-weights: seed of the values that replace absent weights.
  std::optional<uint64_t> randomWeights;
  /// --pack-weights: whether the bundle holds copies of the weights.
  bool packWeights = false;

  /// Paths of the planned step as a picture (--schedule-svg) and as a trace for
  /// viewers (--trace).
  std::string scheduleSvg, trace;

  /// --dump-ir: folder for one .mlir file per phase.
  std::string dumpDirectory;
  /// --stop-after: last phase to run.
  std::optional<Phase> stopAfter;
  /// --start-at: the phase that follows the one of the dump `model`.
  std::optional<Phase> startAt;
  /// --report: path of the JSON report.
  std::string report;
  /// --quiet: whether to suppress notes.
  bool quiet = false;

  /// Command line without its --dim options, such as "pcc m.onnx". Messages
  /// that propose options append them to it.
  std::string command;

  /// Returns the size of axis `name`; 1 if it was not given, with two
  /// exceptions. Without --dp and --cp, dp is as large as --ep. Without --ep,
  /// the preset `expert` divides experts over all of dp and cp.
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

  /// Returns the number of microbatches: --microbatches, or else the number of
  /// pipeline positions when training and 1 for inference.
  int64_t numMicrobatches() const {
    return microbatches.value_or(training.train ? axis("pp") : 1);
  }
  /// Returns the name of the schedule: "forward" for inference, "csv" for a
  /// schedule file, or else --schedule, by default "1f1b".
  std::string scheduleName() const {
    return !training.train     ? "forward"
           : hasScheduleFile() ? "csv"
           : schedule.empty()  ? "1f1b"
                               : schedule;
  }
  /// Returns whether --schedule names a file.
  bool hasScheduleFile() const { return schedule.ends_with(".csv"); }

  /// Returns whether --preset names the preset `name`.
  bool hasPreset(const std::string &name) const {
    return std::find(presets.begin(), presets.end(), name) != presets.end();
  }
};

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_H
