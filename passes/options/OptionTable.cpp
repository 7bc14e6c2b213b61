//===- OptionTable.cpp - table of the options of compile, verify, explain -===//

#include "passes/options/OptionTable.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/rank/RankDialect.h"
#include "passes/1-import/transformer/TransformerSpec.h"
#include "passes/plan/cluster/ClusterProfiles.h"
#include "runtime/base/NumberCheck.h"
#include "sharding/ShardingText.h"

using namespace pcc;

/// Checks that `text`, the value of --shard, has the form NAME=[LIST], such as
/// "wte.weight=[tp,-]", and that LIST follows the grammar of shardings. Returns
/// an error message, or an empty string. The mesh axes are not known here.
static std::string checkShard(const std::string &text) {
  size_t equals = text.rfind('=');
  const bool isWhole = equals != std::string::npos && equals > 0 &&
                       equals + 2 < text.size() && text[equals + 1] == '[' &&
                       text.back() == ']';
  if (!isWhole)
    return "needs 'NAME=[tp,-]', got '" + text + "'";
  const std::string error = dist::checkSyntax(text.substr(equals + 1));
  return error.empty() ? "" : "cannot read '" + text + "': " + error;
}

/// Checks `text`, the value of the option --batch-dim. The text must have the
/// form NAME=K, such as "ids=0". NAME is the name of a model input and must not
/// be empty. K is the number of the dim that is the batch of this input, and
/// consists of digits. The function does not check that the model has such an
/// input. Returns an error message, or an empty string if the form is right.
static std::string checkBatchDim(const std::string &text) {
  const size_t equals = text.rfind('=');
  const bool isWhole =
      equals != std::string::npos && equals > 0 &&
      runtime::checkWholeNumber(text.substr(equals + 1), 0).empty();
  return isWhole ? "" : "needs NAME=K, got '" + text + "'";
}

/// Checks `text`, the sizes in --transformer. Returns an error message, or an
/// empty string if no error is found.
static std::string checkTransformer(const std::string &text) {
  return parseTransformer(text).status().message();
}

/// Checks `text`, the value of the option --loss-scale. The loss scale is a
/// factor that multiplies the gradient of the loss. The text must be a positive
/// number, or an expression that begins with "dynamic", such as
/// "dynamic(initial=65536, interval=2000)". Does not check the rest of the
/// expression, because checkTraining() parses it later. Returns an error
/// message, or an empty string if no error is found.
static std::string checkScale(const std::string &text) {
  const bool isNumber =
      runtime::checkRealNumber(text, {.excludesLeast = true}).empty();
  return text.rfind("dynamic", 0) == 0 || isNumber
             ? ""
             : "needs 'dynamic' or a positive number, got '" + text + "'";
}

static constexpr const char *presets[] = {
    "megatron", "fsdp", "zero1", "zero2", "zero3", "sequence", "expert"};
static constexpr const char *optimizers[] = {"sgd", "adam", "adamw", "adagrad"};
static constexpr const char *recomputations[] = {"none", "full", "selective",
                                                 "auto"};
static constexpr const char *schedules[] = {"naive",       "gpipe", "1f1b",
                                            "interleaved", "zb-h1", "zb-v"};
static constexpr const char *instructionSets[] = {
    "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "native"};
static constexpr const char *learningRates[] = {"constant", "linear", "cosine"};
static constexpr const char *onOrOff[] = {"on", "off"};
static constexpr const char *targets[] = {"cpu", "cuda"};
static constexpr const char *precisions[] = {"f32", "bf16", "f16"};
static constexpr const char *emissions[] = {"onnx"};

static constexpr OptionRow rows[] = {
    {.name = "MODEL",
     .help = ".onnx file, or .mlir file of any phase",
     .value = &CompileOptions::model,
     .shapesResult = false},
    {.name = "--transformer",
     .group = modelGroup,
     .help = "make a transformer in place of MODEL: layers=2,hidden=64,heads=4,"
             "ffn=256,vocab=500,seq=32; optional are kv_heads, head_dim, "
             "experts, topk, gated, tied",
     .value = &CompileOptions::transformer,
     .metavar = "SIZES",
     .check = checkTransformer},
    {.name = "--dim",
     .group = modelGroup,
     .help = "bind a dynamic dim: batch=8; repeatable",
     .value = &CompileOptions::dims,
     .metavar = "NAME=N"},
    {.name = "--shape",
     .group = modelGroup,
     .help = "bind all dims of an input: ids=8x32; repeatable",
     .value = &CompileOptions::shapes,
     .metavar = "NAME=8x32"},
    {.name = "--batch-dim",
     .group = modelGroup,
     .help = "batch dim of an input: NAME=K; repeatable",
     .value = &CompileOptions::batchDims,
     .metavar = "NAME=K",
     .check = checkBatchDim,
     .attribute = std::string_view(graph::batchDimsName),
     .firstReader = Phase::Prepare},
    {.name = "--external-data-root",
     .group = modelGroup,
     .help = "additional directory that external data may lie in",
     .value = &CompileOptions::externalDataRoot,
     .metavar = "DIR",
     .shapesResult = false},
    {.name = "--random-weights",
     .group = modelGroup,
     .help = "random weights from this seed where the file has none",
     .value = &CompileOptions::randomWeights,
     .metavar = "SEED",
     .attribute = std::string_view(rank::randomWeightsName)},
    {.name = "--tp",
     .group = parallelismGroup,
     .help = "size of axis tp (default 1)",
     .value = AxisSizeValue{"tp"},
     .bounds = OptionBounds::Positive,
     .firstReader = Phase::Place},
    {.name = "--pp",
     .group = parallelismGroup,
     .help = "size of axis pp (default 1)",
     .value = AxisSizeValue{"pp"},
     .bounds = OptionBounds::Positive,
     .firstReader = Phase::Place},
    {.name = "--dp",
     .group = parallelismGroup,
     .help = "size of axis dp (default 1)",
     .value = AxisSizeValue{"dp"},
     .bounds = OptionBounds::Positive,
     .firstReader = Phase::Place},
    {.name = "--cp",
     .group = parallelismGroup,
     .help = "size of axis cp (default 1)",
     .value = AxisSizeValue{"cp"},
     .bounds = OptionBounds::Positive,
     .firstReader = Phase::Place},
    {.name = "--ep",
     .group = parallelismGroup,
     .help = "expert parallelism: number of parts that experts are divided "
             "into, over dp, then cp (default 1; without --dp and --cp, it "
             "also sets dp)",
     .value = AxisSizeValue{"ep"},
     .bounds = OptionBounds::Positive,
     .firstReader = Phase::Shard},
    {.name = "--mesh",
     .group = parallelismGroup,
     .help = "mesh of your own axes, major to minor: a=2,b=4",
     .value = &CompileOptions::mesh,
     .metavar = "AXIS=N,...",
     .separator = ',',
     .firstReader = Phase::Place},
    {.name = "--microbatches",
     .group = parallelismGroup,
     .help = "split the batch into M microbatches (default 1, or pp when "
             "training)",
     .value = &CompileOptions::microbatches,
     .bounds = OptionBounds::Positive,
     .firstReader = Phase::Prepare},
    {.name = "--schedule",
     .group = parallelismGroup,
     .help = "pipeline schedule when training: gpipe, 1f1b, interleaved, "
             "zb-h1, zb-v or naive (default 1f1b), or a file in PyTorch's "
             "format with a line per pipeline rank (0F0,0F1,0B0,...): "
             "table.csv",
     .value = &CompileOptions::schedule,
     .metavar = "NAME|FILE.csv",
     .words = schedules,
     .isOpen = true,
     .firstReader = Phase::Schedule},
    {.name = "--virtual-stages",
     .group = parallelismGroup,
     .help = "stages per pipeline rank (default 1, or 2 for interleaved and "
             "zb-v)",
     .value = &CompileOptions::virtualStages,
     .bounds = OptionBounds::Positive,
     .firstReader = Phase::Place},
    {.name = "--shard",
     .group = parallelismGroup,
     .help = "sharding of a weight, input, output or value: 'NAME=[tp,-]'; "
             "globs allowed; repeatable",
     .value = &CompileOptions::shards,
     .metavar = "NAME=[AXES]",
     .check = checkShard,
     .attribute = std::string_view(dist::seedsName),
     .firstReader = Phase::Shard},
    {.name = "--configuration",
     .group = parallelismGroup,
     .help = "device configuration of the model to use (default: the only "
             "one); none: ignore the model's annotations",
     .value = &CompileOptions::configuration,
     .metavar = "NAME"},
    {.name = "--stage-at",
     .group = parallelismGroup,
     .help = "start a new stage at this node or value; repeatable",
     .value = &CompileOptions::stageAt,
     .metavar = "NAME",
     .attribute = std::string_view(pipe::stageAtName),
     .firstReader = Phase::Place},
    {.name = "--preset",
     .group = parallelismGroup,
     .help = "named layouts, which can be combined. megatron: split weights "
             "by columns, then by rows, over tp; sequence: split the values "
             "between them by the sequence over tp; fsdp, zero3: shard "
             "weights over dp and cp; zero1: shard optimizer state over dp; "
             "zero2: shard gradients, too; expert: divide experts over all "
             "of dp and cp",
     .value = &CompileOptions::presets,
     .metavar = "NAME,...",
     .words = presets,
     .separator = ',',
     .attribute = std::string_view(dist::presetsName),
     .firstReader = Phase::Shard},
    {.name = "--train",
     .group = trainingGroup,
     .help = "compile a training step (forward, backward, optimizer)",
     .value = &TrainingOptions::train},
    {.name = "--loss",
     .group = trainingGroup,
     .help = "loss to minimize: 'cross_entropy(logits, labels, "
             "ignore_index=-100)', optionally with label_smoothing= and "
             "z_loss=; 'mse(y, labels)'; or the name of a scalar output. "
             "labels becomes an input",
     .value = &TrainingOptions::loss,
     .metavar = "EXPR",
     .trainingEntry = "loss"},
    {.name = "--optimizer",
     .group = trainingGroup,
     .help = "sgd, adam, adamw or adagrad, as in PyTorch (default sgd)",
     .value = &TrainingOptions::optimizer,
     .words = optimizers,
     .trainingEntry = "optimizer",
     .firstReader = Phase::Prepare},
    {.name = "--lr",
     .group = trainingGroup,
     .help = "learning rate (default 0.001, or 0.01 for adagrad)",
     .value = &TrainingOptions::lr,
     .bounds = OptionBounds::NonNegative,
     .trainingEntry = "lr",
     .firstReader = Phase::Prepare},
    {.name = "--lr-decay",
     .group = trainingGroup,
     .help = "learning rate decay of adagrad: the rate of step n is divided "
             "by 1 + (n - 1) times this value (default 0)",
     .value = &TrainingOptions::lrDecay,
     .bounds = OptionBounds::NonNegative,
     .trainingEntry = "lr_decay",
     .firstReader = Phase::Prepare},
    {.name = "--momentum",
     .group = trainingGroup,
     .help = "momentum of sgd (default 0)",
     .value = &TrainingOptions::momentum,
     .bounds = OptionBounds::NonNegative,
     .trainingEntry = "momentum",
     .firstReader = Phase::Prepare},
    {.name = "--betas",
     .group = trainingGroup,
     .help = "betas of adam and adamw (default 0.9,0.999)",
     .value = &TrainingOptions::betas,
     .metavar = "X,X",
     .bounds = OptionBounds::ZeroToBelowOne,
     .separator = ',',
     .firstReader = Phase::Prepare},
    {.name = "--eps",
     .group = trainingGroup,
     .help = "epsilon of adam and adamw (default 1e-8), and of adagrad "
             "(1e-10)",
     .value = &TrainingOptions::eps,
     .bounds = OptionBounds::NonNegative,
     .trainingEntry = "eps",
     .firstReader = Phase::Prepare},
    {.name = "--weight-decay",
     .group = trainingGroup,
     .help = "weight decay (default 0, or 0.01 for adamw)",
     .value = &TrainingOptions::weightDecay,
     .bounds = OptionBounds::NonNegative,
     .trainingEntry = "weight_decay",
     .firstReader = Phase::Prepare},
    {.name = "--clip-norm",
     .group = trainingGroup,
     .help = "clip the global gradient norm to this value",
     .value = &TrainingOptions::clipNorm,
     .bounds = OptionBounds::Positive,
     .trainingEntry = "clip_norm",
     .firstReader = Phase::Prepare},
    {.name = "--reproducible",
     .group = trainingGroup,
     .help = "sum over the batch, and compute the gradient norm, in an "
             "order that does not depend on the layout: the same bits for "
             "every dp that is a power of two, with and without zero1, "
             "zero2 or zero3. Gradients are reduced in every microbatch, "
             "and products computed sample by sample",
     .value = &TrainingOptions::reproducible,
     .attribute = std::string_view(graph::reproducibleName),
     .firstReader = Phase::Prepare},
    {.name = "--recompute",
     .group = trainingGroup,
     .help = "activations to recompute in the backward pass instead of "
             "keeping them: none; selective: the cheap ones; full: all but "
             "the values between segments of a stage; auto: as few as "
             "--memory-limit allows (default none)",
     .value = &TrainingOptions::recompute,
     .metavar = "WHAT",
     .words = recomputations,
     .attribute = std::string_view(pipe::recomputeName),
     .firstReader = Phase::Schedule},
    {.name = "--lr-schedule",
     .group = trainingGroup,
     .help = "learning rate schedule: constant, 'linear(steps=N, warmup=K, "
             "final=F)' or 'cosine(...)': the rate grows for K steps, then "
             "falls to F times --lr until step N (default constant)",
     .value = &TrainingOptions::lrSchedule,
     .metavar = "EXPR",
     .words = learningRates,
     .isOpen = true,
     .trainingEntry = "lr_schedule",
     .firstReader = Phase::Prepare},
    {.name = "--loss-scale",
     .group = trainingGroup,
     .help = "factor that multiplies the gradient of the loss and divides "
             "the gradients of weights. A step whose gradients are not "
             "finite changes no weight. A number, or "
             "'dynamic(initial=65536, interval=2000)': halved after such a "
             "step, doubled after 2000 other steps (default: dynamic with "
             "--dtype f16, else no scaling)",
     .value = &TrainingOptions::lossScale,
     .metavar = "X|EXPR",
     .check = checkScale,
     .trainingEntry = "loss_scale",
     .firstReader = Phase::Prepare},
    {.name = "--dropout",
     .group = trainingGroup,
     .help = "whether Dropout nodes drop elements: on or off (default: the "
             "nodes whose training_mode is true)",
     .value = &TrainingOptions::dropout,
     .words = onOrOff,
     .trainingEntry = "dropout"},
    {.name = "--seed",
     .group = trainingGroup,
     .help = "seed of dropout (default 0)",
     .value = &TrainingOptions::seed,
     .metavar = "N",
     .check = runtime::checkSeed,
     .trainingEntry = "seed"},
    {.name = "--decay",
     .group = trainingGroup,
     .help = "weights that --weight-decay applies to (default: those of two "
             "or more dims); repeatable",
     .value = &TrainingOptions::decay,
     .metavar = "GLOB",
     .trainingEntry = "decay",
     .firstReader = Phase::Prepare},
    {.name = "--freeze",
     .group = trainingGroup,
     .help = "weights to keep fixed; repeatable",
     .value = &TrainingOptions::freeze,
     .metavar = "GLOB",
     .trainingEntry = "freeze"},
    {.name = "--train-only",
     .group = trainingGroup,
     .help = "the only weights to train (default: all floating-point "
             "weights that are not buffers); repeatable",
     .value = &TrainingOptions::trainOnly,
     .metavar = "GLOB",
     .trainingEntry = "train_only"},
    {.name = "--target",
     .group = targetGroup,
     .help = "device to compile for (default cpu)",
     .value = &CompileOptions::target,
     .words = targets,
     .attribute = std::string_view(dist::targetName)},
    {.name = "--gpu-arch",
     .group = targetGroup,
     .help = "oldest GPU architecture to support (default sm_90)",
     .value = &CompileOptions::gpuArch,
     .metavar = "ARCH",
     .attribute = std::string_view(rank::gpuArchName),
     .firstReader = Phase::Emit},
    {.name = "--tf32",
     .group = targetGroup,
     .help = "let GPUs round the operands of f32 products to tf32 (10 bits "
             "of fraction): faster, with relative errors of 1e-3 (default "
             "off)",
     .value = &CompileOptions::tf32,
     .attribute = std::string_view(rank::tf32Name),
     .firstReader = Phase::Emit},
    {.name = "--cpu",
     .group = targetGroup,
     .help = "instruction sets to compile CPU kernels for (default "
             "x86-64-v3,x86-64-v4; none with --target cuda)",
     .value = &CompileOptions::cpus,
     .metavar = "NAME,...",
     .words = instructionSets,
     .isOpen = true,
     .separator = ',',
     .attribute = std::string_view(rank::cpusName),
     .firstReader = Phase::Emit},
    {.name = "--cluster",
     .group = targetGroup,
     .help = "cluster by name (--list-clusters) or file: speeds, links, "
             "memory; plans then take the least seconds in place of bytes",
     .value =
         FileTextValue{&CompileOptions::clusterFile, &CompileOptions::cluster,
                       plan::profileNames, plan::profileText},
     .metavar = "NAME|FILE.toml",
     .attribute = std::string_view(dist::clusterName),
     .firstReader = Phase::Place},
    {.name = "--memory-limit",
     .group = targetGroup,
     .help = "most memory for the weights, the optimizer's state and the "
             "arena of a rank, besides what libraries of a GPU take: 80GiB, "
             "1.5GB or bytes; weights are sharded further where that is "
             "needed",
     .value = ByteSizeValue{&CompileOptions::memoryLimit},
     .metavar = "BYTES",
     .attribute = std::string_view(rank::memoryLimitName),
     .firstReader = Phase::Place},
    {.name = "--dump-ir",
     .group = phasesGroup,
     .help = "write an .mlir file per phase to this directory",
     .value = &CompileOptions::dumpDirectory,
     .metavar = "DIR",
     .shapesResult = false},
    {.name = "--stop-after",
     .group = phasesGroup,
     .help = "stop after this phase: 4, shard or 4-shard; -o writes the "
             "module",
     .value = &CompileOptions::stopAfter,
     .metavar = "PHASE",
     .shapesResult = false},
    {.name = "--start-at",
     .group = phasesGroup,
     .help = "start at this phase; MODEL is the dump of the phase before it",
     .value = &CompileOptions::startAt,
     .metavar = "PHASE",
     .shapesResult = false},
    {.name = "-q,--quiet",
     .help = "suppress notes",
     .value = &CompileOptions::quiet,
     .shapesResult = false},
    {.name = "--dtype",
     .group = targetGroup,
     .help = "compute precision: f32, bf16 or f16 (default: the model's own "
             "types). Weights that train, and ops that need it, stay in f32",
     .value = &CompileOptions::dtype,
     .words = precisions,
     .commands = OptionCommands::CompileAndExplain,
     .firstReader = Phase::Prepare},
    {.name = "-o,--output",
     .group = outputGroup,
     .help = "path of the bundle (default: MODEL's stem + .pcc), or of the "
             "annotated model (default: beside MODEL, its stem + "
             ".sharded.onnx), or with --stop-after of the module: FILE.mlir, "
             "or - for stdout",
     .value = &CompileOptions::bundle,
     .metavar = "PATH",
     .commands = OptionCommands::Compile,
     .shapesResult = false},
    {.name = "--emit",
     .group = outputGroup,
     .help = "onnx: instead of a bundle, write MODEL with the sharding of "
             "each tensor, as multi-device annotations (IR version 11)",
     .value = WordFlagValue{&CompileOptions::emitsOnnx},
     .words = emissions,
     .commands = OptionCommands::Compile,
     .shapesResult = false},
    {.name = "--report",
     .group = outputGroup,
     .help = "write times, peak memory, unsupported ops and notes as JSON",
     .value = &CompileOptions::report,
     .metavar = "FILE.json",
     .commands = OptionCommands::Compile,
     .shapesResult = false},
    {.name = "--schedule-svg",
     .group = outputGroup,
     .help = "draw the planned step, for instance to step.svg: actions, "
             "messages and memory of every pipeline rank over time",
     .value = &CompileOptions::scheduleSvg,
     .metavar = "FILE.svg",
     .commands = OptionCommands::Compile,
     .shapesResult = false},
    {.name = "--trace",
     .group = outputGroup,
     .help = "write the planned step as a trace for Perfetto or "
             "chrome://tracing, for instance to step.json",
     .value = &CompileOptions::trace,
     .metavar = "FILE.json",
     .commands = OptionCommands::Compile,
     .shapesResult = false},
    {.name = "--html",
     .group = outputGroup,
     .help = "draw the plan as one self-contained page, for instance "
             "report.html: timeline, memory, communication, shards, and why",
     .value = &CompileOptions::html,
     .metavar = "FILE",
     .commands = OptionCommands::CompileAndExplain,
     .shapesResult = false},
    {.name = "--pack-weights",
     .group = outputGroup,
     .help = "copy weight shards into the bundle",
     .value = &CompileOptions::packWeights,
     .commands = OptionCommands::Compile,
     .shapesResult = false},
};

std::span<const OptionRow> pcc::optionTable() { return rows; }
