//===- VerifyCommand.cpp - pcc verify MODEL -------------------------------===//

#include "runtime/launch/PrivateFolder.h"
#include "runtime/launch/RunBundle.h"
#include "tools/pcc/CompileCommand.h"
#include "tools/pcc/LaterOptions.h"
#include "tools/pcc/Say.h"

using namespace pcc;
using namespace pcc::tool;

/// Runs a bundle on threads of this process.
static Outcome runHere(const BundleRun &run) {
  runtime::RunOptions options;
  options.inputs = run.inputs;
  options.outputDirectory = run.outputs;
  options.comm = "thread";
  options.quiet = true;
  options.isEmbedded = true;
  return outcomeOf(runtime::runBundle(run.bundle, options, {}));
}

void tool::declareVerify(CLI::App &app, VerifyRequest &request) {
  app.name("pcc verify");
  app.description("executes all ranks on simulated ranks and compares with the "
                  "unpartitioned model, in f64\n\nexample:\n"
                  "  pcc verify model.onnx --tp 2 --pp 2 --dim batch=8 --input "
                  "ids=ids.npy --report verify.json");
  addCompileOptions(app, request.compile);
  app.add_option(
         "--input", request.verify.inputs,
         "NAME=FILE.npy; inputs that are not given are seeded; repeatable")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--report", request.verify.report,
                 "write the comparison as JSON");
  app.add_option_function<std::string>(
         "--dtype",
         [&request](const std::string &dtype) {
           request.verify.modelTypes = dtype == "model";
         },
         "f64, or 'model' for the model's own types (default f64)")
      ->check(CLI::IsMember({"f64", "model"}));
  app.add_flag("--run", request.runs,
               "compile and run the executables, too, and compare what they "
               "write, within the precision of the model's types");
  addLaterOptions(app, /*isVerify=*/true);
}

tool::Reading tool::readVerify(int argc, const char *const *argv,
                               VerifyRequest &request) {
  CLI::App app;
  declareVerify(app, request);
  Reading reading = read(app, argc, argv);
  request.compile.command = commandLine(app.get_name(), argc, argv);
  return reading;
}

Outcome tool::verifyAsAsked(VerifyRequest request, const Listener &listener) {
  runtime::PrivateFolder folder;
  if (request.runs) {
    if (runtime::Status status = folder.create(); status.failed())
      return outcomeOf(status);
    request.verify.scratch = folder.path();
    request.verify.run = runHere;
  }
  return verify(request.compile, request.verify, listener);
}

int tool::verifyCommand(int argc, const char *const *argv) {
  VerifyRequest request;
  if (auto code = answer(readVerify(argc, argv, request)))
    return *code;
  runtime::UnfinishedFolder::removeAllOnSignals();
  return say(verifyAsAsked(request, terminalListener(request.compile.quiet)));
}
