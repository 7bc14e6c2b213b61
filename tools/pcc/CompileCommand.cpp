//===- CompileCommand.cpp - pcc compile and the options shared by all -----===//

#include "tools/pcc/CompileCommand.h"
#include "runtime/base/ScopedFolder.h"
#include "tools/pcc/ByteSize.h"
#include "tools/pcc/Console.h"
#include "tools/pcc/TrainingOptionsCli.h"
#include "tools/pcc/UnimplementedOptions.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sstream>

using namespace pcc;
using namespace pcc::tool;

/// Splits "batch=8" into {"batch", 8}. Throws a usage error that names `option`
/// if the text has another form or the number is below 1.
static std::pair<std::string, int64_t> splitNumber(const std::string &option,
                                                   const std::string &text) {
  size_t equals = text.rfind('=');
  size_t used = 0;
  int64_t number = -1;
  try {
    if (equals != std::string::npos)
      number = std::stoll(text.substr(equals + 1), &used);
  } catch (const std::exception &) {
  }
  if (equals == std::string::npos || equals == 0 || number < 1 ||
      equals + 1 + used != text.size())
    throw CLI::ValidationError(
        option,
        "needs NAME=SIZE with a size of at least 1, got '" + text + "'");
  return {text.substr(0, equals), number};
}

/// Splits "ids=8x32" into {"ids", {8, 32}}; "s=" is a scalar. Throws a usage
/// error for another form.
static std::pair<std::string, std::vector<int64_t>>
splitShape(const std::string &text) {
  size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    throw CLI::ValidationError("--shape",
                               "needs NAME=8x32, got '" + text + "'");
  std::vector<int64_t> shape;
  for (size_t begin = equals + 1; begin < text.size();) {
    size_t end = std::min(text.find('x', begin), text.size());
    shape.push_back(
        splitNumber("--shape", "n=" + text.substr(begin, end - begin)).second);
    begin = end + 1;
  }
  return {text.substr(0, equals), shape};
}

/// Adds an entry to a map. Throws a usage error if the map has another value
/// for the same name.
template <typename Value>
static void insertOnce(const std::string &option,
                       std::map<std::string, Value> &map,
                       const std::pair<std::string, Value> &entry) {
  auto [at, isNew] = map.insert(entry);
  if (!isNew && at->second != entry.second)
    throw CLI::ValidationError(option, "gives '" + entry.first +
                                           "' twice, with different values");
}

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

/// Adds the limit on the bytes of weights and arena of one rank.
static void addMemoryLimit(CLI::App &app, CompileOptions &options) {
  app.add_option_function<std::string>(
         "--memory-limit",
         [&options](const std::string &text) {
           options.memoryLimit = parseBytes(text);
         },
         "what the weights and the arena of a rank may take: 80GiB, 1.5GB or "
         "bytes; weights are stored in parts where that is needed")
      ->check(CLI::Validator(
          [](const std::string &text) {
            return parseBytes(text)
                       ? std::string()
                       : "'" + text + "' is no value of --memory-limit";
          },
          ""))
      ->group("Target");
}

/// Adds the presets: named layouts that seed shardings, such as Megatron's
/// tensor parallelism, ZeRO and FSDP.
static void addPresets(CLI::App &app, CompileOptions &options) {
  app.add_option(
         "--preset", options.presets,
         "layouts by name, freely combined. megatron: weights by "
         "columns, then by rows over tp; sequence: what lies between "
         "by the sequence over tp; fsdp, zero3: weights stored in parts "
         "over dp and cp; zero1, zero2: the state of the optimizer, and "
         "gradients, over dp; expert: experts over all of dp and cp")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Validator(
          [](const std::string &name) {
            for (const char *known : {"megatron", "fsdp", "zero1", "zero2",
                                      "zero3", "sequence", "expert"})
              if (name == known)
                return std::string();
            return "'" + name + "' is no value of --preset";
          },
          ""))
      ->group("Parallelism");
}

/// Adds the options of mesh, microbatches, schedule, shardings and stages.
static void addParallelism(CLI::App &app, CompileOptions &options) {
  for (const char *axis : {"tp", "pp", "dp", "cp", "ep"})
    app.add_option_function<int64_t>(
           std::string("--") + axis,
           [&options, axis](const int64_t &size) { options.axes[axis] = size; },
           axis == std::string("ep")
               ? "parts of dp, then cp, over which experts are divided "
                 "(default "
                 "1; without --dp and --cp it makes dp)"
               : std::string("size of axis ") + axis + " (default 1)")
        ->check(CLI::PositiveNumber)
        ->group("Parallelism");
  app.add_option_function<std::vector<std::string>>(
         "--mesh",
         [&options](const std::vector<std::string> &axes) {
           for (const std::string &axis : axes)
             options.mesh.push_back(splitNumber("--mesh", axis));
         },
         "own axes, major to minor: a=2,b=4")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("Parallelism");
  app.add_option("--microbatches", options.microbatches,
                 "cut the batch in M (default 1, or pp when training)")
      ->check(CLI::PositiveNumber)
      ->group("Parallelism");
  app.add_option("--schedule", options.schedule,
                 "order of forwards and backwards when training: gpipe, 1f1b, "
                 "interleaved, zb-h1, zb-v, naive (default 1f1b), or a file "
                 "in PyTorch's form, a line per rank of the pipeline "
                 "(0F0,0F1,0B0,...): table.csv")
      ->type_name("NAME|FILE.csv")
      ->group("Parallelism");
  app.add_option("--virtual-stages", options.virtualStages,
                 "stages per rank (default 1, or 2 for interleaved and "
                 "zb-v)")
      ->check(CLI::PositiveNumber)
      ->group("Parallelism");
  app.add_option("--shard", options.shards,
                 "sharding of a weight, input, output or value: 'NAME=[tp,-]'; "
                 "globs allowed; repeatable")
      ->expected(1)
      ->allow_extra_args(false)
      ->check(CLI::Validator(checkShard, ""))
      ->take_all()
      ->group("Parallelism");
  app.add_option("--configuration", options.configuration,
                 "which of the model's device configurations holds (default: "
                 "the only one); none: ignore its annotations")
      ->group("Parallelism");
  app.add_option("--stage-at", options.stageAt,
                 "cut before this node or value; repeatable")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->group("Parallelism");
}

/// Adds the model and the options that describe its shapes and weights.
static void addModel(CLI::App &app, CompileOptions &options) {
  app.add_option("MODEL", options.model, ".onnx, or .mlir of any phase")
      ->required();
  app.add_option_function<std::vector<std::string>>(
         "--dim",
         [&options](const std::vector<std::string> &dims) {
           for (const std::string &dim : dims)
             insertOnce("--dim", options.dims, splitNumber("--dim", dim));
         },
         "bind a dynamic dim: batch=8; repeatable")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->group("Model");
  app.add_option_function<std::vector<std::string>>(
         "--shape",
         [&options](const std::vector<std::string> &shapes) {
           for (const std::string &shape : shapes)
             insertOnce("--shape", options.shapes, splitShape(shape));
         },
         "bind one input: ids=8x32; repeatable")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->group("Model");
  app.add_option("--batch-dim", options.batchDims,
                 "which dim of an input is the batch: NAME=K; repeatable")
      ->expected(1)
      ->allow_extra_args(false)
      ->check(CLI::Validator(checkBatchDim, ""))
      ->take_all()
      ->group("Model");
  app.add_option("--external-data-root", options.externalDataRoot,
                 "a further directory in which external data may lie")
      ->group("Model");
  app.add_option("--random-weights", options.randomWeights,
                 "stand-ins for absent weights, from this seed")
      ->group("Model");
}

/// Adds an option whose value is a phase by number or name.
static CLI::Option *addPhaseOption(CLI::App &app, const std::string &name,
                                   std::optional<Phase> &phase,
                                   const std::string &what) {
  return app
      .add_option_function<std::string>(
          name,
          [&phase, name](const std::string &text) {
            phase = parsePhase(text);
            if (!phase)
              throw CLI::ValidationError(name,
                                         "no phase is called '" + text +
                                             "'; pcc --list-phases lists them");
          },
          what)
      ->group("Phases");
}

/// The text of a cluster file is read here, so that later phases need no file.
void tool::addCompileOptions(CLI::App &app, CompileOptions &options) {
  addModel(app, options);
  addParallelism(app, options);
  addPresets(app, options);
  addTrainingOptions(app, options.training);
  app.add_option("--target", options.target, "where it runs (default cpu)")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->group("Target");
  app.add_option("--gpu-arch", options.gpuArch,
                 "the oldest GPU that has to run it (default sm_90)")
      ->group("Target");
  app.add_flag("--tf32", options.tf32,
               "let GPUs round the factors of f32 products to ten bits of "
               "fraction: faster, relative errors of 1e-3 (default off)")
      ->group("Target");
  app.add_option(
         "--cpu", options.cpus,
         "instruction sets of CPU kernels (default x86-64-v3,x86-64-v4; with "
         "--target cuda none)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("Target");
  app.add_option_function<std::string>(
         "--cluster",
         [&options](const std::string &path) {
           std::ifstream file(path);
           std::stringstream text;
           if (!file || !(text << file.rdbuf()))
             throw CLI::ValidationError("--cluster",
                                        "cannot read '" + path + "'");
           options.clusterFile = path;
           options.cluster = text.str();
         },
         "what compute and communication cost: a TOML file")
      ->group("Target");
  addMemoryLimit(app, options);
  app.add_option("--dump-ir", options.dumpDirectory,
                 "write one .mlir per phase into this directory")
      ->group("Phases");
  addPhaseOption(app, "--stop-after", options.stopAfter,
                 "end after this phase: 4, shard or 4-shard");
  addPhaseOption(app, "--start-at", options.startAt,
                 "MODEL is the dump of the phase before this one");
  app.add_flag("-q,--quiet", options.quiet, "no notes");
}

void tool::addPrecision(CLI::App &app, std::string &dtype) {
  app.add_option("--dtype", dtype,
                 "f32, bf16 or f16: what it computes in (default: the model's "
                 "own types). Weights that train stay in f32, and so does "
                 "what needs it")
      ->check(CLI::IsMember({"f32", "bf16", "f16"}))
      ->group("Target");
}

/// Quotes a word for a POSIX shell if it needs quoting.
static std::string quoted(const std::string &word) {
  const bool isPlain =
      !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
        return isalnum(static_cast<unsigned char>(c)) ||
               std::string_view("_-./=,:+@").find(c) != std::string_view::npos;
      });
  if (isPlain)
    return word;
  std::string text = "'";
  for (char c : word)
    text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

std::string tool::commandLine(const std::string &name, int argc,
                              const char *const *argv) {
  std::string line = name;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--dim")
      ++i;
    else if (word.rfind("--dim=", 0) != 0)
      line += " " + quoted(word);
  }
  return line;
}

/// A listener without callbacks is valid: its defaults do nothing.
Listener tool::terminalListener(bool quiet) {
  Listener listener;
  if (!quiet)
    listener.onNote = [](const std::string &note) { printNote(note); };
  if (isTerminal())
    listener.onPhase = [](Phase phase) {
      showProgress(std::string(folderOf(phase)) + ": " +
                   std::string(meaningOf(phase)));
    };
  return listener;
}

/// Returns the folders and meanings of all phases, one phase per line.
static std::string listPhases() {
  std::ostringstream lines;
  for (Phase phase = Phase::Import; phase <= lastPhase; phase = after(phase))
    lines << (phase == Phase::Import ? "" : "\n") << std::left << std::setw(11)
          << folderOf(phase) << ' ' << meaningOf(phase);
  return lines.str();
}

/// Returns the output if `-o` is not given. An annotated model goes to the
/// folder of the model, because external data is found relative to it; a bundle
/// goes to the current folder.
static std::string defaultOutput(const CompileOptions &options) {
  const std::filesystem::path model = options.model;
  if (options.emitsOnnx)
    return model.parent_path() / (model.stem().string() + ".sharded.onnx");
  return model.stem().string() + ".pcc";
}

/// Adds the options that only compile has: the output, and files about the
/// compilation and the planned step.
void tool::declareCompile(CLI::App &app, CompileOptions &options) {
  app.name("pcc");
  app.description(
      "compiles a model into one program per rank\n\nexamples:\n"
      "  pcc model.onnx --tp 2 --pp 2 --dim batch=8 --dim seq=128\n"
      "  pcc model.onnx --dp 4 --microbatches 2 --dump-ir=ir -o model.pcc\n"
      "  pcc ir/4-shard.mlir --start-at 5\n"
      "  pcc model.onnx --tp 2 --emit onnx -o model.tp2.onnx");
  addCompileOptions(app, options);
  addUnimplementedOptions(app, /*isVerify=*/false);
  addPrecision(app, options.dtype);
  app.footer(
      "commands: pcc [compile] MODEL, pcc run BUNDLE, pcc verify MODEL, "
      "pcc inspect BUNDLE, pcc explain MODEL, pcc checkpoint export DIR; 'pcc "
      "help COMMAND' tells more\n"
      "exit codes: 0 done, 1 a defect of pcc, 2 wrong usage, 3 the model "
      "cannot be read, 4 unsupported, 5 a dim is not bound,\n"
      "  6 the request cannot be met, 7 input or output failed, 10 bad "
      "input, 11 bad bundle, 12 wrong world size, 13 no device,\n"
      "  14 a peer was lost, 15 values differ");
  app.add_flag_callback(
      "--list-phases", [] { throw CLI::CallForVersion(listPhases(), 0); },
      "print the phases and end");
  app.add_option("-o,--output", options.bundle,
                 "the bundle (default: MODEL's stem + .pcc), or the annotated "
                 "model (default: beside MODEL, its stem + .sharded.onnx)");
  app.add_option_function<std::string>(
         "--emit",
         [&options](const std::string &) { options.emitsOnnx = true; },
         "onnx: in place of a bundle, write MODEL with what was decided about "
         "each tensor, as multi-device annotations (IR version 11)")
      ->check(CLI::IsMember({"onnx"}));
  app.add_option("--report", options.report,
                 "write times, peaks, unsupported ops and notes as JSON");
  app.add_option("--schedule-svg", options.scheduleSvg,
                 "draw the planned step: what every rank of the pipeline does "
                 "when, its messages and its memory, for instance step.svg")
      ->type_name("FILE.svg");
  app.add_option("--trace", options.trace,
                 "the same for Perfetto and chrome://tracing, for instance "
                 "step.json")
      ->type_name("FILE.json");
  app.add_flag("--pack-weights", options.packWeights,
               "copy the weights' shards into the bundle");
}

/// The default of `-o` depends on other options, so it is set after parsing.
tool::ParsedArguments tool::parseCompile(int argc, const char *const *argv,
                                         CompileOptions &options) {
  CLI::App app;
  declareCompile(app, options);
  ParsedArguments reading = parseArguments(app, argc, argv);
  options.command = commandLine(app.get_name(), argc, argv);
  if (options.bundle.empty())
    options.bundle = defaultOutput(options);
  return reading;
}

int tool::compileCommand(int argc, const char *const *argv) {
  CompileOptions options;
  if (auto code = finishEarly(parseCompile(argc, argv, options)))
    return *code;
  runtime::ScopedFolder::removeAllOnSignals();
  return reportOutcome(compile(options, terminalListener(options.quiet)));
}
