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
  return outcomeOf(runtime::runBundle(run.bundle, options, {}));
}

int tool::verifyCommand(int argc, const char *const *argv) {
  CompileOptions options;
  VerifyOptions verifyOptions;
  CLI::App app("executes all ranks on simulated ranks and compares with the "
               "unpartitioned model, in f64\n\nexample:\n"
               "  pcc verify model.onnx --tp 2 --pp 2 --dim batch=8 --input "
               "ids=ids.npy --report verify.json",
               "pcc verify");
  addCompileOptions(app, options);
  app.add_option(
         "--input", verifyOptions.inputs,
         "NAME=FILE.npy; inputs that are not given are seeded; repeatable")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--report", verifyOptions.report,
                 "write the comparison as JSON");
  std::string dtype = "f64";
  app.add_option("--dtype", dtype,
                 "f64, or 'model' for the model's own types (default f64)")
      ->check(CLI::IsMember({"f64", "model"}));
  bool runs = false;
  app.add_flag("--run", runs,
               "compile and run the executables, too, and compare what they "
               "write, within the precision of the model's types");
  addLaterOptions(app, /*isVerify=*/true);
  if (auto code = parse(app, argc, argv))
    return *code;
  options.command = commandLine(app.get_name(), argc, argv);
  verifyOptions.modelTypes = dtype == "model";
  runtime::UnfinishedFolder::removeAllOnSignals();
  runtime::PrivateFolder folder;
  if (runs) {
    if (runtime::Status status = folder.create(); status.failed())
      return say(outcomeOf(status));
    verifyOptions.scratch = folder.path();
    verifyOptions.run = runHere;
  }
  return say(verify(options, verifyOptions, terminalListener(options.quiet)));
}
