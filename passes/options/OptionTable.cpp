//===- OptionTable.cpp - table of the options of compile, verify, explain -===//

#include "passes/options/OptionTable.h"

#include <charconv>
#include <cmath>

using namespace pcc;

/// Checks the form of "wte.weight=[tp,-]"; the text in brackets is parsed
/// later, when the mesh is known. Returns an error, or an empty string.
static std::string checkShard(const std::string &text) {
  size_t equals = text.rfind('=');
  const bool isWhole = equals != std::string::npos && equals > 0 &&
                       equals + 2 < text.size() && text[equals + 1] == '[' &&
                       text.back() == ']';
  return isWhole ? "" : "needs 'NAME=[tp,-]', got '" + text + "'";
}

/// Checks the form of "ids=0". Returns an error, or an empty string.
static std::string checkBatchDim(const std::string &text) {
  size_t equals = text.rfind('=');
  const bool isWhole =
      equals != std::string::npos && equals > 0 && equals + 1 < text.size() &&
      text.find_first_not_of("0123456789", equals + 1) == std::string::npos;
  return isWhole ? "" : "needs NAME=K, got '" + text + "'";
}

/// Checks that `text` is a number that uint64_t can hold. Returns an error, or
/// an empty string.
static std::string checkSeed(const std::string &text) {
  uint64_t number = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  const bool isWhole = error == std::errc() && end == text.data() + text.size();
  return isWhole ? "" : "needs a whole number, got '" + text + "'";
}

/// Checks that `text` is a positive number or begins with "dynamic"; 2-prepare
/// parses the rest. Returns an error, or an empty string.
static std::string checkScale(const std::string &text) {
  double number = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  const bool isNumber = error == std::errc() &&
                        end == text.data() + text.size() && number > 0 &&
                        std::isfinite(number);
  return text.rfind("dynamic", 0) == 0 || isNumber
             ? ""
             : "needs 'dynamic' or a positive number, got '" + text + "'";
}

static constexpr const char *presets[] = {
    "megatron", "fsdp", "zero1", "zero2", "zero3", "sequence", "expert"};
static constexpr const char *optimizers[] = {"sgd", "adam", "adamw", "adagrad"};
static constexpr const char *recomputations[] = {"none", "full", "selective",
                                                 "auto"};
static constexpr const char *onOrOff[] = {"on", "off"};
static constexpr const char *targets[] = {"cpu", "cuda"};
static constexpr const char *precisions[] = {"f32", "bf16", "f16"};
static constexpr const char *emissions[] = {"onnx"};

static constexpr OptionRow rows[] = {
    {.name = "MODEL",
     .help = ".onnx, or .mlir of any phase",
     .value = &CompileOptions::model,
     .shapesResult = false},
    {.name = "--dim",
     .group = modelGroup,
     .help = "bind a dynamic dim: batch=8; repeatable",
     .value = &CompileOptions::dims},
    {.name = "--shape",
     .group = modelGroup,
     .help = "bind one input: ids=8x32; repeatable",
     .value = &CompileOptions::shapes},
    {.name = "--batch-dim",
     .group = modelGroup,
     .help = "which dim of an input is the batch: NAME=K; repeatable",
     .value = &CompileOptions::batchDims,
     .check = checkBatchDim,
     .attribute = "graph.batch_dims"},
    {.name = "--external-data-root",
     .group = modelGroup,
     .help = "a further directory in which external data may lie",
     .value = &CompileOptions::externalDataRoot,
     .shapesResult = false},
    {.name = "--random-weights",
     .group = modelGroup,
     .help = "stand-ins for absent weights, from this seed",
     .value = &CompileOptions::randomWeights,
     .attribute = "rank.random_weights"},
    {.name = "--tp",
     .group = parallelismGroup,
     .help = "size of axis tp (default 1)",
     .value = AxisSizeValue{"tp"},
     .bounds = OptionBounds::Positive},
    {.name = "--pp",
     .group = parallelismGroup,
     .help = "size of axis pp (default 1)",
     .value = AxisSizeValue{"pp"},
     .bounds = OptionBounds::Positive},
    {.name = "--dp",
     .group = parallelismGroup,
     .help = "size of axis dp (default 1)",
     .value = AxisSizeValue{"dp"},
     .bounds = OptionBounds::Positive},
    {.name = "--cp",
     .group = parallelismGroup,
     .help = "size of axis cp (default 1)",
     .value = AxisSizeValue{"cp"},
     .bounds = OptionBounds::Positive},
    {.name = "--ep",
     .group = parallelismGroup,
     .help = "parts of dp, then cp, over which experts are divided (default "
             "1; without --dp and --cp it makes dp)",
     .value = AxisSizeValue{"ep"},
     .bounds = OptionBounds::Positive},
    {.name = "--mesh",
     .group = parallelismGroup,
     .help = "own axes, major to minor: a=2,b=4",
     .value = &CompileOptions::mesh,
     .separator = ','},
    {.name = "--microbatches",
     .group = parallelismGroup,
     .help = "cut the batch in M (default 1, or pp when training)",
     .value = &CompileOptions::microbatches,
     .bounds = OptionBounds::Positive},
    {.name = "--schedule",
     .group = parallelismGroup,
     .help = "order of forwards and backwards when training: gpipe, 1f1b, "
             "interleaved, zb-h1, zb-v, naive (default 1f1b), or a file in "
             "PyTorch's form, a line per rank of the pipeline "
             "(0F0,0F1,0B0,...): table.csv",
     .value = &CompileOptions::schedule,
     .metavar = "NAME|FILE.csv"},
    {.name = "--virtual-stages",
     .group = parallelismGroup,
     .help = "stages per rank (default 1, or 2 for interleaved and zb-v)",
     .value = &CompileOptions::virtualStages,
     .bounds = OptionBounds::Positive},
    {.name = "--shard",
     .group = parallelismGroup,
     .help = "sharding of a weight, input, output or value: 'NAME=[tp,-]'; "
             "globs allowed; repeatable",
     .value = &CompileOptions::shards,
     .check = checkShard,
     .attribute = "dist.seeds"},
    {.name = "--configuration",
     .group = parallelismGroup,
     .help = "which of the model's device configurations holds (default: "
             "the only one); none: ignore its annotations",
     .value = &CompileOptions::configuration},
    {.name = "--stage-at",
     .group = parallelismGroup,
     .help = "cut before this node or value; repeatable",
     .value = &CompileOptions::stageAt,
     .attribute = "pipe.stage_at"},
    {.name = "--preset",
     .group = parallelismGroup,
     .help = "layouts by name, freely combined. megatron: weights by "
             "columns, then by rows over tp; sequence: what lies between by "
             "the sequence over tp; fsdp, zero3: weights stored in parts "
             "over dp and cp; zero1, zero2: the state of the optimizer, and "
             "gradients, over dp; expert: experts over all of dp and cp",
     .value = &CompileOptions::presets,
     .words = presets,
     .listsWords = false,
     .separator = ',',
     .attribute = "dist.presets"},
    {.name = "--train",
     .group = trainingGroup,
     .help = "make a step of training: loss, gradients, update",
     .value = &TrainingOptions::train},
    {.name = "--loss",
     .group = trainingGroup,
     .help = "'cross_entropy(logits, labels, ignore_index=-100)', also with "
             "label_smoothing= and z_loss=; 'mse(y, labels)'; or the name "
             "of an output of one number. labels becomes an input",
     .value = &TrainingOptions::loss,
     .metavar = "EXPR",
     .trainingEntry = "loss"},
    {.name = "--optimizer",
     .group = trainingGroup,
     .help = "sgd, adam, adamw or adagrad (default sgd); names and meanings "
             "are PyTorch's",
     .value = &TrainingOptions::optimizer,
     .words = optimizers,
     .trainingEntry = "optimizer"},
    {.name = "--lr",
     .group = trainingGroup,
     .help = "learning rate (default 0.001, or 0.01 for adagrad)",
     .value = &TrainingOptions::lr,
     .bounds = OptionBounds::NonNegative,
     .trainingEntry = "lr"},
    {.name = "--lr-decay",
     .group = trainingGroup,
     .help = "of adagrad: by how much of itself the divisor of the learning "
             "rate grows in a step (default 0)",
     .value = &TrainingOptions::lrDecay,
     .bounds = OptionBounds::NonNegative,
     .trainingEntry = "lr_decay"},
    {.name = "--momentum",
     .group = trainingGroup,
     .help = "of sgd (default 0)",
     .value = &TrainingOptions::momentum,
     .bounds = OptionBounds::NonNegative,
     .trainingEntry = "momentum"},
    {.name = "--betas",
     .group = trainingGroup,
     .help = "of adam and adamw (default 0.9,0.999)",
     .value = &TrainingOptions::betas,
     .bounds = OptionBounds::ZeroToOne,
     .separator = ','},
    {.name = "--eps",
     .group = trainingGroup,
     .help = "of adam and adamw (default 1e-8), and adagrad (1e-10)",
     .value = &TrainingOptions::eps,
     .bounds = OptionBounds::NonNegative,
     .trainingEntry = "eps"},
    {.name = "--weight-decay",
     .group = trainingGroup,
     .help = "(default 0, or 0.01 for adamw)",
     .value = &TrainingOptions::weightDecay,
     .bounds = OptionBounds::NonNegative,
     .trainingEntry = "weight_decay"},
    {.name = "--clip-norm",
     .group = trainingGroup,
     .help = "most that the norm of all gradients may be; they are scaled "
             "down to it",
     .value = &TrainingOptions::clipNorm,
     .bounds = OptionBounds::Positive,
     .trainingEntry = "clip_norm"},
    {.name = "--reproducible",
     .group = trainingGroup,
     .help = "sums over the batch and the norm of gradients in an order "
             "that no layout changes: the same bits for every dp that is a "
             "power of two, with and without zero1, zero2 or zero3. "
             "Gradients are reduced in every microbatch, and products made "
             "sample by sample",
     .value = &TrainingOptions::reproducible,
     .attribute = "graph.reproducible"},
    {.name = "--recompute",
     .group = trainingGroup,
     .help = "what the backward pass makes again in place of keeping it: "
             "none; selective: what is cheap; full: all between segments of "
             "a stage; auto: as little as --memory-limit allows (default "
             "none)",
     .value = &TrainingOptions::recompute,
     .words = recomputations,
     .listsWords = false,
     .attribute = "pipe.recompute"},
    {.name = "--lr-schedule",
     .group = trainingGroup,
     .help = "constant, 'linear(steps=N, warmup=K, final=F)' or "
             "'cosine(...)': the learning rate grows for K steps and falls "
             "to F of --lr until step N (default constant)",
     .value = &TrainingOptions::lrSchedule,
     .trainingEntry = "lr_schedule"},
    {.name = "--loss-scale",
     .group = trainingGroup,
     .help = "what the gradient of the loss is multiplied by, and gradients "
             "divided by. A step whose gradients are not finite changes no "
             "weight. A number, or 'dynamic(initial=65536, interval=2000)': "
             "it halves after such a step and doubles after 2000 others "
             "(default: dynamic with --dtype f16, else no scale)",
     .value = &TrainingOptions::lossScale,
     .check = checkScale,
     .trainingEntry = "loss_scale"},
    {.name = "--dropout",
     .group = trainingGroup,
     .help = "on or off: whether Dropout nodes drop elements (default: "
             "those whose training_mode is true)",
     .value = &TrainingOptions::dropout,
     .words = onOrOff,
     .trainingEntry = "dropout"},
    {.name = "--seed",
     .group = trainingGroup,
     .help = "of the random numbers of dropout (default 0)",
     .value = &TrainingOptions::seed,
     .check = checkSeed,
     .trainingEntry = "seed"},
    {.name = "--decay",
     .group = trainingGroup,
     .help = "weights that decay (default: those of two or more dims); "
             "repeatable",
     .value = &TrainingOptions::decay,
     .metavar = "GLOB",
     .trainingEntry = "decay"},
    {.name = "--freeze",
     .group = trainingGroup,
     .help = "weights that do not train; repeatable",
     .value = &TrainingOptions::freeze,
     .metavar = "GLOB",
     .trainingEntry = "freeze"},
    {.name = "--train-only",
     .group = trainingGroup,
     .help = "weights that train, and no others (default: all of floats "
             "with more than one element that are no buffers); repeatable",
     .value = &TrainingOptions::trainOnly,
     .metavar = "GLOB",
     .trainingEntry = "train_only"},
    {.name = "--target",
     .group = targetGroup,
     .help = "where it runs (default cpu)",
     .value = &CompileOptions::target,
     .words = targets,
     .attribute = "dist.target"},
    {.name = "--gpu-arch",
     .group = targetGroup,
     .help = "the oldest GPU that has to run it (default sm_90)",
     .value = &CompileOptions::gpuArch,
     .attribute = "rank.gpu_arch"},
    {.name = "--tf32",
     .group = targetGroup,
     .help = "let GPUs round the factors of f32 products to ten bits of "
             "fraction: faster, relative errors of 1e-3 (default off)",
     .value = &CompileOptions::tf32,
     .attribute = "rank.tf32"},
    {.name = "--cpu",
     .group = targetGroup,
     .help = "instruction sets of CPU kernels (default x86-64-v3,x86-64-v4; "
             "with --target cuda none)",
     .value = &CompileOptions::cpus,
     .separator = ',',
     .attribute = "rank.cpus"},
    {.name = "--cluster",
     .group = targetGroup,
     .help = "what compute and communication cost: a TOML file",
     .value =
         FileTextValue{&CompileOptions::clusterFile, &CompileOptions::cluster},
     .attribute = "dist.cluster"},
    {.name = "--memory-limit",
     .group = targetGroup,
     .help = "what the weights and the arena of a rank may take: 80GiB, "
             "1.5GB or bytes; weights are stored in parts where that is "
             "needed",
     .value = ByteSizeValue{&CompileOptions::memoryLimit},
     .attribute = "rank.memory_limit"},
    {.name = "--dump-ir",
     .group = phasesGroup,
     .help = "write one .mlir per phase into this directory",
     .value = &CompileOptions::dumpDirectory,
     .shapesResult = false},
    {.name = "--stop-after",
     .group = phasesGroup,
     .help = "end after this phase: 4, shard or 4-shard",
     .value = &CompileOptions::stopAfter,
     .shapesResult = false},
    {.name = "--start-at",
     .group = phasesGroup,
     .help = "MODEL is the dump of the phase before this one",
     .value = &CompileOptions::startAt,
     .shapesResult = false},
    {.name = "-q,--quiet",
     .help = "no notes",
     .value = &CompileOptions::quiet,
     .shapesResult = false},
    {.name = "--dtype",
     .group = targetGroup,
     .help = "f32, bf16 or f16: what it computes in (default: the model's "
             "own types). Weights that train stay in f32, and so does what "
             "needs it",
     .value = &CompileOptions::dtype,
     .words = precisions,
     .commands = OptionCommands::CompileAndExplain},
    {.name = "-o,--output",
     .help = "the bundle (default: MODEL's stem + .pcc), or the annotated "
             "model (default: beside MODEL, its stem + .sharded.onnx)",
     .value = &CompileOptions::bundle,
     .commands = OptionCommands::Compile,
     .shapesResult = false},
    {.name = "--emit",
     .help = "onnx: in place of a bundle, write MODEL with what was decided "
             "about each tensor, as multi-device annotations (IR version 11)",
     .value = WordFlagValue{&CompileOptions::emitsOnnx},
     .words = emissions,
     .commands = OptionCommands::Compile,
     .shapesResult = false},
    {.name = "--report",
     .help = "write times, peaks, unsupported ops and notes as JSON",
     .value = &CompileOptions::report,
     .commands = OptionCommands::Compile,
     .shapesResult = false},
    {.name = "--schedule-svg",
     .help = "draw the planned step: what every rank of the pipeline does "
             "when, its messages and its memory, for instance step.svg",
     .value = &CompileOptions::scheduleSvg,
     .metavar = "FILE.svg",
     .commands = OptionCommands::Compile,
     .shapesResult = false},
    {.name = "--trace",
     .help = "the same for Perfetto and chrome://tracing, for instance "
             "step.json",
     .value = &CompileOptions::trace,
     .metavar = "FILE.json",
     .commands = OptionCommands::Compile,
     .shapesResult = false},
    {.name = "--pack-weights",
     .help = "copy the weights' shards into the bundle",
     .value = &CompileOptions::packWeights,
     .commands = OptionCommands::Compile,
     .shapesResult = false},
};

std::span<const OptionRow> pcc::optionTable() { return rows; }
