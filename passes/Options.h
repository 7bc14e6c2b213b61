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

/// Options for training. The first option is --train. pcc allows the other
/// options only together with --train. If the user does not give an option, the
/// member for this option is empty, or false if the member is a bool. pcc then
/// uses the default value of the option. For example, an empty `optimizer`
/// means sgd.
struct TrainingOptions {
  /// --train: whether to add loss, gradients and weight update to the model.
  bool train = false;
  /// --loss: an expression such as `cross_entropy(logits, labels)`, or the name
  /// of a model output with one element that is the loss.
  std::string loss;
  /// --optimizer: sgd, adam, adamw or adagrad; empty for sgd.
  std::string optimizer;
  /// Numbers for the optimizer (--lr, --lr-decay, --momentum, --eps,
  /// --weight-decay), and the limit on the global norm of the gradients
  /// (--clip-norm).
  std::optional<double> lr, lrDecay, momentum, eps, weightDecay, clipNorm;
  /// --betas of adam and adamw: two numbers; empty if not given.
  std::vector<double> betas;
  /// --lr-schedule: learning rate over the steps, an expression such as
  /// `cosine(steps=1000)`. Empty for a constant rate.
  std::string lrSchedule;
  /// --loss-scale: factor on the gradient of the loss, against f16 underflow: a
  /// number, or "dynamic(initial=65536, interval=2000)". The dynamic factor is
  /// halved after an infinite or NaN gradient, and doubled after 2000 steps
  /// without one. Empty: this dynamic factor for --dtype f16, otherwise 1.
  std::string lossScale;
  /// --dropout: "on" or "off" for all Dropout nodes. If empty, the
  /// `training_mode` of each Dropout node applies.
  std::string dropout;
  /// --seed for the random numbers of dropout: a whole number as text.
  std::string seed;
  /// Glob patterns of weight names:
  ///  - `decay` (--decay): weights with weight decay;
  ///  - `freeze` (--freeze): weights that are not trained;
  ///  - `trainOnly` (--train-only): the only weights that are trained.
  std::vector<std::string> decay, freeze, trainOnly;
  /// --recompute: which activations the backward pass recomputes instead of
  /// keeping them (activation checkpointing). One of none, full, selective and
  /// auto; empty for none.
  std::string recompute;
  /// --reproducible: whether sums over the batch have the same bits for every
  /// sharding.
  bool reproducible = false;
};

/// The options of compile, verify and explain as the user gives them. An option
/// that is not given is empty.
struct CompileOptions {
  /// Path of the model: an .onnx file, an .mlir file in the graph dialect, or
  /// the .mlir dump of a phase.
  std::string model;
  /// --transformer: sizes of a transformer that pcc makes in place of `model`
  /// (TransformerSpec); empty if there is a model.
  std::string transformer;
  /// Path of the output that pcc writes:
  ///  - if `emitsOnnx` is false: the bundle, a directory with one executable
  ///    per rank;
  ///  - if `emitsOnnx` is true: a copy of the ONNX model. Annotations in the
  ///    copy state the shardings and pipeline stages that pcc has chosen;
  ///  - if stopsEarly(): the module after the last phase, as text; "-" is
  ///    stdout.
  std::string bundle;
  /// --emit onnx: whether to write a copy of the ONNX model instead of a
  /// bundle. Annotations in the copy state the shardings and pipeline stages
  /// that pcc has chosen.
  bool emitsOnnx = false;

  /// Sizes of the mesh axes tp, pp, dp, cp and ep that the user gives, by name.
  std::map<std::string, int64_t> axes;
  /// --mesh: names and sizes of all mesh axes of one pipeline stage. The user
  /// gives --mesh instead of --tp, --dp, --cp and --ep. For example, `a=2,b=4`
  /// arranges the 8 ranks of a stage in a grid of 2 rows and 4 columns. The
  /// axis a is the major axis: the rank at (a=1, b=3) is rank 1 * 4 + 3 = 7 of
  /// the stage. Empty if the user does not give --mesh.
  std::vector<std::pair<std::string, int64_t>> mesh;
  /// --dim: sizes of dynamic dims, by the dim's name.
  std::map<std::string, int64_t> dims;
  /// --shape: shapes of inputs, by the input's name.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// --batch-dim: texts NAME=K, where dim K of the input NAME is the batch.
  std::vector<std::string> batchDims;
  /// --microbatches: number of slices of the batch. If nullopt,
  /// numMicrobatches() chooses the number.
  std::optional<int64_t> microbatches;
  /// --schedule: name of a pipeline schedule, such as 1f1b, or path of a file
  /// that ends in `.csv`.
  std::string schedule;
  /// Text of the CSV file that --schedule names, with one line per pipeline
  /// rank. A line lists actions: 0F1 is the forward pass of stage 0 for
  /// microbatch 1. readScheduleTable() sets this member. Empty for inference,
  /// and if --schedule names no file.
  std::string scheduleTable;
  /// --virtual-stages: number of pipeline stages that each rank of the pipeline
  /// runs. If nullopt, the default of the schedule applies.
  std::optional<int64_t> virtualStages;
  /// --shard: the shardings that the user requests, as texts NAME=SHARDING.
  /// NAME is the name or glob of values (tensors). SHARDING is a list in
  /// brackets with one entry per dim: the mesh axes that split the dim, or `-`
  /// if no axis splits the dim. For example, "w=[tp,-]" means that the mesh
  /// axis tp splits dim 0 of the value `w` and that no axis splits dim 1.
  std::vector<std::string> shards;
  /// --stage-at: names of ONNX nodes, or of tensors that nodes compute. Each
  /// name starts a new pipeline stage at a node: at the named node, or at the
  /// node that computes the named tensor. For example, 2 names cut the model
  /// into 3 pipeline stages.
  std::vector<std::string> stageAt;
  /// --preset: names of presets (predefined sharding layouts), such as megatron
  /// and fsdp.
  std::vector<std::string> presets;
  /// Options of training.
  TrainingOptions training;
  /// --target: cpu or cuda.
  std::string target = "cpu";
  /// --gpu-arch: oldest GPU architecture on which kernels must run; empty for
  /// sm_90.
  std::string gpuArch;
  /// --tf32: whether GPUs may round the operands of f32 matrix products to
  /// tf32.
  bool tf32 = false;
  /// --dtype: type of computation (f32, bf16 or f16); empty for the model's own
  /// types.
  std::string dtype;
  /// --cpu: instruction sets, such as x86-64-v3. pcc compiles the CPU kernels
  /// once for each of these instruction sets. If empty, the option --target
  /// determines the instruction sets:
  ///  - --target cpu: x86-64-v3 and x86-64-v4.
  ///  - --target cuda: no instruction set. The bundle then contains no CPU
  ///    kernels.
  std::vector<std::string> cpus;
  /// --memory-limit: largest number of bytes of weights and arena (the buffer
  /// of all other values) on one rank. If nullopt, there is no limit.
  std::optional<int64_t> memoryLimit;
  /// --cluster: path of the TOML file that describes a cluster (its speeds,
  /// network links and memory), and the text of that file.
  std::string clusterFile, cluster;
  /// --configuration: name of the ONNX device configuration to use. Annotations
  /// of nodes state stages and shardings for a device configuration. "none":
  /// pcc ignores all annotations. Empty: pcc chooses by the rules in
  /// DevicePlan.h.
  std::string configuration;
  /// --external-data-root: directory in which the files of the model's external
  /// data may lie, in addition to the directory of the model. Empty for none.
  std::string externalDataRoot;
  /// --random-weights: seed of the random values that replace absent weights.
  std::optional<uint64_t> randomWeights;
  /// --pack-weights: whether the bundle contains copies of the weights.
  bool packWeights = false;

  /// Paths of two files that show a predicted timeline: a picture in SVG format
  /// (--schedule-svg), and a trace for trace viewers such as Perfetto
  /// (--trace). pcc simulates one training or inference step of the compiled
  /// model to predict the times. The timeline shows when each pipeline rank
  /// computes and communicates in this step. If a path is empty, pcc does not
  /// write the file.
  std::string scheduleSvg, trace;

  /// --dump-ir: directory to which one .mlir file per phase is written. Empty
  /// for no dumps.
  std::string dumpDirectory;
  /// --stop-after: the last phase to run. If nullopt, all phases run.
  std::optional<Phase> stopAfter;
  /// --start-at: the first phase to run. Only one phase is allowed:
  ///  - If `model` is a dump (the IR after a phase), the next phase is allowed.
  ///    For example, only 5-localize is allowed for the dump of 4-shard.
  ///  - If `model` is no dump, 1-import is allowed.
  ///
  /// If `startAt` is nullopt, pcc starts at the allowed phase.
  std::optional<Phase> startAt;
  /// --report: path of a JSON report about the compilation. The report contains
  /// the time and the peak memory of each phase, the ops of the model that pcc
  /// does not support, the notes to the user, and the error if the compilation
  /// fails. If empty, pcc writes no report.
  std::string report;
  /// --html: path of a page that shows the plan. If empty, pcc writes no page.
  std::string html;
  /// --quiet: whether to suppress notes to the user.
  bool quiet = false;

  /// The command line of the user without the options --dim, such as "pcc
  /// m.onnx --tp 2". Some error messages show the user a complete command. For
  /// this purpose, pcc appends the options --dim to `command`: "pcc m.onnx --tp
  /// 2 --dim batch=8".
  std::string command;

  /// Returns the phase after which the bundle, or with `emitsOnnx` the
  /// annotated model, is written.
  Phase resultPhase() const { return emitsOnnx ? Phase::Shard : lastPhase; }
  /// Returns whether --stop-after ends the compilation before resultPhase().
  bool stopsEarly() const { return stopAfter && *stopAfter < resultPhase(); }
  /// Returns the size of the axis `name`, which is tp, pp, dp, cp or ep. An
  /// axis without its option has size 1, with two exceptions. Without --dp and
  /// --cp, dp has the size in --ep. With the preset `expert`, ep has the size
  /// in --dp times the size in --cp.
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

  /// Returns the number of microbatches:
  ///  - If the member `microbatches` has a value (option --microbatches): this
  ///    value.
  ///  - Otherwise, for training: the number of ranks in the pipeline, which is
  ///    the size of the axis pp.
  ///  - Otherwise, for inference: 1.
  int64_t numMicrobatches() const {
    return microbatches.value_or(training.train ? axis("pp") : 1);
  }
  /// Returns the name of the pipeline schedule:
  ///  - inference: "forward";
  ///  - training, if --schedule names a file: "csv";
  ///  - other training: the name in --schedule, by default "1f1b".
  std::string scheduleName() const {
    return !training.train     ? "forward"
           : hasScheduleFile() ? "csv"
           : schedule.empty()  ? "1f1b"
                               : schedule;
  }
  /// Returns whether `schedule` is the path of a CSV file, such as "table.csv".
  /// Otherwise, `schedule` is empty or the name of a predefined schedule, such
  /// as "1f1b".
  bool hasScheduleFile() const { return schedule.ends_with(".csv"); }

  /// Returns whether `name` is one of the presets in --preset.
  bool hasPreset(const std::string &name) const {
    return std::find(presets.begin(), presets.end(), name) != presets.end();
  }
};

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_H
