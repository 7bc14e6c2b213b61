//===- CompileCommand.cpp - pcc MODEL, and the options that others share --===//

#include "tools/pcc/CompileCommand.h"
#include "tools/pcc/Say.h"

#include <filesystem>

using namespace pcc;
using namespace pcc::tool;

/// "batch=8" → {"batch", 8}; a usage error names the option.
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

/// "ids=8x32" → {"ids", {8, 32}}; "s=" is a scalar.
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

static void addParallelism(CLI::App &app, CompileOptions &options) {
  for (const char *axis : {"tp", "pp", "dp", "cp", "ep"})
    app.add_option_function<int64_t>(
           std::string("--") + axis,
           [&options, axis](const int64_t &size) { options.axes[axis] = size; },
           std::string("size of axis ") + axis + " (default 1)")
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
      ->group("Parallelism");
  app.add_option("--microbatches", options.microbatches,
                 "cut the batch in M (default 1)")
      ->check(CLI::PositiveNumber)
      ->group("Parallelism");
  app.add_option("--schedule", options.schedule,
                 "order of actions when training")
      ->group("Parallelism");
  app.add_option("--virtual-stages", options.virtualStages, "stages per rank")
      ->check(CLI::PositiveNumber)
      ->group("Parallelism");
  app.add_option("--shard", options.shards,
                 "sharding of a weight, input, output or value: 'NAME=[tp,-]'; "
                 "globs allowed; repeatable")
      ->expected(1)
      ->take_all()
      ->group("Parallelism");
  app.add_option("--stage-at", options.stageAt,
                 "cut before this node or value; repeatable")
      ->expected(1)
      ->take_all()
      ->group("Parallelism");
}

static void addModel(CLI::App &app, CompileOptions &options) {
  app.add_option("MODEL", options.model, ".onnx, or .mlir of any phase")
      ->required();
  app.add_option_function<std::vector<std::string>>(
         "--dim",
         [&options](const std::vector<std::string> &dims) {
           for (const std::string &dim : dims)
             options.dims.insert(splitNumber("--dim", dim));
         },
         "bind a dynamic dim: batch=8; repeatable")
      ->expected(1)
      ->take_all()
      ->group("Model");
  app.add_option_function<std::vector<std::string>>(
         "--shape",
         [&options](const std::vector<std::string> &shapes) {
           for (const std::string &shape : shapes)
             options.shapes.insert(splitShape(shape));
         },
         "bind one input: ids=8x32; repeatable")
      ->expected(1)
      ->take_all()
      ->group("Model");
  app.add_option("--batch-dim", options.batchDims,
                 "which dim of an input is the batch: NAME=K; repeatable")
      ->expected(1)
      ->take_all()
      ->group("Model");
  app.add_option("--external-data-root", options.externalDataRoot,
                 "a further directory in which external data may lie")
      ->group("Model");
  app.add_option("--random-weights", options.randomWeights,
                 "stand-ins for absent weights, from this seed")
      ->group("Model");
}

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

void tool::addCompileOptions(CLI::App &app, CompileOptions &options) {
  addModel(app, options);
  addParallelism(app, options);
  app.add_option("--target", options.target, "where it runs (default cpu)")
      ->check(CLI::IsMember({"cpu"}))
      ->group("Target");
  app.add_option(
         "--cpu", options.cpus,
         "instruction sets of CPU kernels (default x86-64-v3,x86-64-v4)")
      ->delimiter(',')
      ->group("Target");
  app.add_option("--dump-ir", options.dumpDirectory,
                 "write one .mlir per phase into this directory")
      ->group("Phases");
  addPhaseOption(app, "--stop-after", options.stopAfter,
                 "end after this phase: 4, shard or 4-shard");
  addPhaseOption(app, "--start-at", options.startAt,
                 "MODEL is the dump of the phase before this one");
  app.add_flag("-q,--quiet", options.quiet, "no notes");
}

std::string tool::commandLine(int argc, const char *const *argv) {
  std::string line;
  for (int i = 0; i < argc; ++i)
    line += (i ? " " : "") + std::string(argv[i]);
  return line;
}

Listener tool::terminalListener(bool quiet) {
  Listener listener;
  if (!quiet)
    listener.onNote = [](const std::string &note) { sayNote(note); };
  if (isTerminal())
    listener.onPhase = [](Phase phase) {
      sayProgress(std::string(folderOf(phase)) + ": " +
                  std::string(meaningOf(phase)));
    };
  return listener;
}

static int listPhases() {
  for (Phase phase = Phase::Import; phase <= lastPhase; phase = after(phase))
    printf("%-11s %s\n", std::string(folderOf(phase)).c_str(),
           std::string(meaningOf(phase)).c_str());
  return 0;
}

int tool::compileCommand(int argc, const char *const *argv) {
  for (int i = 1; i < argc; ++i)
    if (argv[i] == std::string("--list-phases"))
      return listPhases();
  CompileOptions options;
  CLI::App app(
      "compiles a model into one program per rank\n\nexamples:\n"
      "  pcc model.onnx --tp 2 --pp 2 --dim batch=8 --dim seq=128\n"
      "  pcc model.onnx --dp 4 --microbatches 2 --dump-ir=ir -o model.pcc\n"
      "  pcc ir/4-shard.mlir --start-at 5",
      "pcc");
  addCompileOptions(app, options);
  app.add_option("-o,--output", options.bundle,
                 "the bundle (default: MODEL's stem + .pcc)");
  app.add_option("--report", options.report,
                 "write times, peaks, unsupported ops and notes as JSON");
  app.add_flag("--pack-weights", options.packWeights,
               "copy the weights' shards into the bundle");
  if (auto code = parse(app, argc, argv))
    return *code;
  options.command = commandLine(argc, argv);
  if (options.bundle.empty())
    options.bundle =
        std::filesystem::path(options.model).stem().string() + ".pcc";
  return say(compile(options, terminalListener(options.quiet)));
}
