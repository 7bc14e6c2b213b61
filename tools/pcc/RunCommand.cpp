//===- RunCommand.cpp - pcc run: runs all ranks of a bundle ---------------===//

#include "runtime/checkpoint/CheckpointFolder.h"
#include "runtime/engine/options/RunOptionsCli.h"
#include "runtime/launch/RunBundle.h"
#include "status/ShellWord.h"
#include "tools/pcc/CompileCommand.h"
#include "tools/pcc/Console.h"
#include "tools/pcc/RunPage.h"

using namespace pcc;
using namespace pcc::tool;

/// The executables of a bundle have the same options as `pcc run`.
/// runtime::addRunOptions() adds them for both.
void tool::declareRun(CLI::App &app, RunRequest &request) {
  app.name("pcc run");
  app.description(
      "runs all ranks of a bundle\n\nexamples:\n"
      "  pcc run model.pcc --input input_ids=ids.npy --output out "
      "--report run.json\n"
      "  pcc run training.pcc --data tokens.bin --tokens u16 --steps 20 "
      "--save ckpt --save-every 10 --save-in-background\n"
      "  pcc run training.pcc --data data --steps 30 --resume ckpt "
      "--metrics m.jsonl --peak-flops 1.2e12 --trace step.json");
  app.add_option("BUNDLE", request.bundle, "the directory that pcc wrote")
      ->required();
  runtime::addRunOptions(app, request.options);
  app.add_option("--html", request.html,
                 "draw the run as one self-contained page, for instance "
                 "run.html: the last step beside the planned one, memory, "
                 "communication, curves")
      ->type_name("FILE");
}

tool::ParsedArguments tool::parseRun(int argc, const char *const *argv,
                                     RunRequest &request) {
  CLI::App app;
  declareRun(app, request);
  return parseArguments(app, argc, argv);
}

/// Returns the arguments with which the processes of the ranks are started:
/// those of this command without the argument BUNDLE and without --html. An
/// option's value is kept, even if it equals the path of the bundle.
static std::vector<std::string>
argumentsOfRanks(int argc, const char *const *argv, const std::string &bundle) {
  RunRequest request;
  CLI::App app;
  declareRun(app, request);
  std::vector<std::string> arguments;
  bool isBundleFound = false;
  for (int i = 1; i < argc; ++i) {
    const CLI::Option *before =
        argv[i - 1][0] == '-' ? app.get_option_no_throw(argv[i - 1]) : nullptr;
    const bool isValue = before && before->get_items_expected_max() > 0;
    const std::string_view word = argv[i];
    if (!isBundleFound && !isValue && bundle == argv[i])
      isBundleFound = true;
    else if (!isValue && word == "--html")
      ++i;
    else if (!isValue && word.starts_with("--html="))
      continue;
    else
      arguments.push_back(argv[i]);
  }
  return arguments;
}

/// Returns the files of a run that its options name, such as "run.json (times
/// and memory), out (outputs)".
static std::string writtenFiles(const runtime::RunOptions &options) {
  const std::pair<const std::string &, const char *> files[] = {
      {options.outputDirectory, "outputs"},
      {options.report, "times and memory"},
      {options.measurements, "measurements"},
      {options.metrics, "metrics of steps"},
      {options.trace, "trace"},
      {options.scheduleSvg, "drawing of the last step"}};
  std::string text;
  for (const auto &[path, what] : files)
    if (!path.empty())
      text += (text.empty() ? "" : ", ") + path + " (" + what + ")";
  return text;
}

/// Prints which checkpoint, files and page a successful run has written.
static void tellWritten(const RunRequest &request) {
  if (const std::string files = writtenFiles(request.options); !files.empty())
    printResult("wrote " + files);
  std::vector<std::string> checkpoints;
  const std::string &folder = request.options.save;
  if (!folder.empty() && runtime::listCheckpoints(folder, checkpoints).ok() &&
      !checkpoints.empty())
    printResult("saved " + folder + "/" + checkpoints.front() +
                "; pcc checkpoint export " + shellWord(folder) +
                " -o FILE writes its weights");
  if (!request.html.empty())
    printResult(request.html + ": the run as a page");
}

/// Shows progress on a terminal, except with `--quiet`, and training steps as
/// lines for people instead of those for scripts.
int tool::runCommand(int argc, const char *const *argv) {
  RunRequest request;
  if (auto code = finishEarly(parseRun(argc, argv, request)))
    return *code;
  const bool isWatched = showsProgress() && !request.options.quiet;
  if (isWatched)
    request.options.onProgress = showProgress;
  if (isStdoutTerminal())
    request.options.onTrainingLine = [=](const runtime::TrainingLine &line) {
      showTrainingLine(line, isWatched);
    };
  request.command = commandLine("pcc run", argc, argv);
  std::vector<std::string> arguments =
      argumentsOfRanks(argc, argv, request.bundle);
  const Status status =
      request.html.empty()
          ? runtime::runBundle(request.bundle, request.options, arguments)
          : runWithPage(request, arguments);
  if (status.ok() && !request.options.quiet)
    tellWritten(request);
  return reportStatus(status);
}
