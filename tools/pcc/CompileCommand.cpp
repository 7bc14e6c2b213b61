//===- CompileCommand.cpp - pcc compile, and listeners of all commands ----===//

#include "tools/pcc/CompileCommand.h"
#include "passes/Plan.h"
#include "runtime/base/ScopedFolder.h"
#include "status/ShellWord.h"
#include "tools/pcc/Console.h"
#include "tools/pcc/OptionsCli.h"
#include "tools/pcc/UnimplementedOptions.h"

#include <filesystem>
#include <iomanip>
#include <sstream>

using namespace pcc;
using namespace pcc::tool;

std::string tool::commandLine(const std::string &name, int argc,
                              const char *const *argv) {
  std::string line = name;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--dim")
      ++i;
    else if (word.rfind("--dim=", 0) != 0)
      line += " " + shellWord(word);
  }
  return line;
}

/// If `quiet` is true, the listener has no callbacks of its own. This is valid,
/// because the default callbacks do nothing.
Listener tool::terminalListener(bool quiet) {
  Listener listener;
  if (!quiet)
    listener.onNote = [](const std::string &note) { printNote(note); };
  if (!quiet)
    listener.onResult = printResult;
  if (!quiet && showsProgress())
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

/// Returns the output path that is used if `-o` is not given. An annotated
/// model (`--emit onnx`) goes to the directory of the model, because external
/// data is found relative to it. A bundle goes to the current directory.
static std::string defaultOutput(const CompileOptions &options) {
  const std::filesystem::path model =
      options.transformer.empty() ? options.model : "transformer";
  if (options.emitsOnnx)
    return model.parent_path() / (model.stem().string() + ".sharded.onnx");
  return model.stem().string() + ".pcc";
}

void tool::declareCompile(CLI::App &app, CompileOptions &options) {
  app.name("pcc");
  app.description(
      "compiles a model into one program per rank\n\nexamples:\n"
      "  pcc model.onnx --tp 2 --pp 2 --dim batch=8 --dim seq=32\n"
      "  pcc model.onnx --tp 2 --dim batch=8 --dim seq=32 --dump-ir=ir -o "
      "tp2.pcc\n"
      "  pcc ir/4-shard.mlir --start-at 5 -o resumed.pcc\n"
      "  pcc model.onnx --tp 2 --dim batch=8 --dim seq=32 --stop-after 4 -o -\n"
      "  pcc model.onnx --tp 2 --dim batch=8 --dim seq=32 --emit onnx -o "
      "sharded.onnx\n"
      "  pcc model.onnx --train --loss 'cross_entropy(logits, labels)' "
      "--pp 2 --microbatches 4 --dim batch=8 --dim seq=32 -o training.pcc");
  addOptions(app, options, OptionCommands::All);
  addUnimplementedOptions(app, /*isVerify=*/false);
  addOptions(app, options, OptionCommands::CompileAndExplain);
  app.add_flag_callback(
      "--list-phases", [] { throw CLI::CallForVersion(listPhases(), 0); },
      "print the phases and exit");
  app.add_flag_callback(
      "--list-clusters", [] { throw CLI::CallForVersion(listClusters(), 0); },
      "print the names that --cluster accepts, and exit");
  addOptions(app, options, OptionCommands::Compile);
}

/// The default of `-o` depends on other options, so it is set after parsing.
tool::ParsedArguments tool::parseCompile(int argc, const char *const *argv,
                                         CompileOptions &options) {
  CLI::App app;
  declareCompile(app, options);
  ParsedArguments reading = parseArguments(app, argc, argv);
  options.command = commandLine(app.get_name(), argc, argv);
  if (options.bundle.empty() && !options.stopsEarly())
    options.bundle = defaultOutput(options);
  return reading;
}

int tool::compileCommand(int argc, const char *const *argv) {
  CompileOptions options;
  if (auto code = finishEarly(parseCompile(argc, argv, options)))
    return *code;
  runtime::ScopedFolder::removeAllOnSignals();
  Listener listener = terminalListener(options.quiet);
  // A module on stdout must not begin behind a line of progress.
  if (options.bundle == "-")
    listener.onPhase = [](Phase) {};
  const Status status = compile(options, listener);
  if (options.bundle == "-" && status.code() == InputOutput)
    endWithoutReader();
  return reportStatus(status);
}
