//===- VerifyCommand.cpp - pcc verify: comparison with the whole model ----===//

#include "runtime/checkpoint/SavedArrays.h"
#include "runtime/engine/options/OneOf.h"
#include "runtime/engine/options/RunOptionsCli.h"
#include "runtime/launch/RunBundle.h"
#include "runtime/launch/job/BundleFiles.h"
#include "runtime/launch/job/PrivateFolder.h"
#include "tools/pcc/CompileCommand.h"
#include "tools/pcc/Console.h"
#include "tools/pcc/OptionsCli.h"
#include "tools/pcc/UnimplementedOptions.h"

using namespace pcc;
using namespace pcc::tool;

/// Runs a bundle and writes its outputs, and the parameters after training
/// steps. Ranks are threads of this process or, if the bundle is for GPUs,
/// separate processes.
static Status runHere(BundleRun &run) {
  runtime::RunOptions options;
  options.inputs = run.inputs;
  options.outputDirectory = run.outputs;
  options.comm = runtime::isForGpus(run.bundle) ? "nccl" : "thread";
  options.quiet = true;
  options.isEmbedded = true;
  std::vector<std::string> words = {"--output", run.outputs, "-q"};
  for (const auto &[name, file] : run.inputs)
    words.insert(words.end(), {"--input", name + "=" + file});
  if (run.steps == 1)
    return runtime::runBundle(run.bundle, options, words);
  options.steps = run.steps;
  options.save = run.parameterFolder + "/checkpoints";
  words.insert(words.end(),
               {"--steps", std::to_string(run.steps), "--save", options.save});
  PCC_RETURN_IF_ERROR(runtime::runBundle(run.bundle, options, words));
  return runtime::writeSavedArrays(options.save, run.parameterFolder,
                                   run.parameters);
}

/// Stores the values of --dtype: a type to compile for, a type to compare in,
/// or both. Throws a usage error if two values of one kind differ.
static void takeTypes(const std::vector<std::string> &words,
                      VerifyRequest &request) {
  std::string compiled, compared;
  for (const std::string &word : words) {
    const bool isCompared = word == "f64" || word == "model";
    std::string &taken = isCompared ? compared : compiled;
    if (!taken.empty() && taken != word)
      throw CLI::ValidationError(
          "--dtype", std::string("takes one precision ") +
                         (isCompared ? "of the comparison" : "to compile for") +
                         ", got " + taken + " and " + word);
    taken = word;
  }
  request.verify.modelTypes = compared == "model";
  request.compile.dtype = compiled;
}

void tool::declareVerify(CLI::App &app, VerifyRequest &request) {
  app.name("pcc verify");
  app.description(
      "simulates all ranks and compares their results with the unpartitioned "
      "model, in f64\n\nexamples:\n  pcc verify model.onnx --tp 2 --pp 2 --dim "
      "batch=8 --dim seq=32 --input input_ids=ids.npy --report verify.json");
  addOptions(app, request.compile, OptionCommands::All);
  app.add_option_function<std::vector<std::string>>(
         "--input",
         [&request](const std::vector<std::string> &texts) {
           std::map<std::string, std::string> named;
           for (const std::string &text : texts)
             runtime::addInput(named, text);
           request.verify.inputs = texts;
         },
         "input values: NAME=FILE.npy; other inputs get seeded random "
         "values; repeatable")
      ->type_name("NAME=FILE.npy")
      ->group(modelGroup)
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--report", request.verify.report,
                 "write the comparison as JSON")
      ->type_name("FILE.json")
      ->group(outputGroup);
  app.add_option_function<std::vector<std::string>>(
         "--dtype",
         [&request](const std::vector<std::string> &words) {
           takeTypes(words, request);
         },
         "compute precision to compile for (f32, bf16 or f16), and precision "
         "of the comparison: f64, where casts between floating-point types "
         "change nothing, or model, the types that are compiled for (default "
         "f64). bf16,model sets both")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->take_all()
      ->check(runtime::oneOf({"f64", "model", "f32", "bf16", "f16"}));
  app.add_flag("--run", request.runs,
               "also compile and run the executables, and compare their "
               "outputs within the precision of the model's types");
  addUnimplementedOptions(app, /*isVerify=*/true);
}

tool::ParsedArguments tool::parseVerify(int argc, const char *const *argv,
                                        VerifyRequest &request) {
  CLI::App app;
  declareVerify(app, request);
  ParsedArguments reading = parseArguments(app, argc, argv);
  request.compile.command = commandLine(app.get_name(), argc, argv);
  return reading;
}

/// The destructor of `folder` removes the bundle, its inputs and its outputs.
Status tool::runVerify(VerifyRequest request, std::string &verdict,
                       const Listener &listener) {
  runtime::PrivateFolder folder;
  if (request.runs) {
    PCC_RETURN_IF_ERROR(folder.create());
    request.verify.scratch = folder.path();
    request.verify.run = runHere;
  }
  return verify(request.compile, request.verify, verdict, listener);
}

/// A signal that ends the process removes the private folder, too. The bundle
/// in that folder is not the user's, so its summary is not printed.
int tool::verifyCommand(int argc, const char *const *argv) {
  VerifyRequest request;
  if (auto code = finishEarly(parseVerify(argc, argv, request)))
    return *code;
  runtime::ScopedFolder::removeAllOnSignals();
  Listener listener = terminalListener(request.compile.quiet);
  listener.onResult = [](const std::string &) {};
  std::string verdict;
  const Status status = runVerify(request, verdict, listener);
  return reportStatus(status.ok() ? printText(verdict + "\n") : status);
}
