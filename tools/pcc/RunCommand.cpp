//===- RunCommand.cpp - pcc run BUNDLE ------------------------------------===//

#include "runtime/engine/RunOptionsCli.h"
#include "runtime/launch/Bundle.h"
#include "runtime/launch/RunBundle.h"
#include "tools/pcc/CompileCommand.h"
#include "tools/pcc/Say.h"

#include <fstream>

using namespace pcc;
using namespace pcc::tool;

/// The number of ranks, with which bundle.json begins; 0 if it does not.
static int recordedWorld(const std::string &bundle) {
  std::ifstream file(bundle + "/bundle.json");
  char text[64] = {};
  file.read(text, sizeof text - 1);
  int world = 0;
  return sscanf(text, " { \"world\" : %d", &world) == 1 ? world : 0;
}

/// Ranks that are gone would look like a smaller world.
static runtime::Status checkComplete(const std::string &bundle) {
  const int present = runtime::countRanks(bundle);
  const int world = recordedWorld(bundle);
  if (present == 0 || present >= world)
    return runtime::Status::success();
  return runtime::Status::error(runtime::DamagedBundle,
                                "bundle '" + bundle + "' of " +
                                    std::to_string(world) + " ranks lacks " +
                                    runtime::rankFileName(present));
}

int tool::runCommand(int argc, const char *const *argv) {
  runtime::RunOptions options;
  std::string bundle;
  CLI::App app("runs all ranks of a bundle\n\nexample:\n"
               "  pcc run model.pcc --input ids=ids.npy --output out",
               "pcc run");
  app.add_option("BUNDLE", bundle, "the directory that pcc wrote")->required();
  runtime::addRunOptions(app, options);
  if (auto code = parse(app, argc, argv))
    return *code;
  // Ranks take the same options; only the bundle is not one of theirs.
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i)
    if (bundle != argv[i])
      arguments.push_back(argv[i]);
  if (isTerminal() && !options.quiet)
    options.onProgress = sayProgress;
  runtime::Status status = checkComplete(bundle);
  if (status.ok())
    status = runtime::runBundle(bundle, options, arguments);
  return say(outcomeOf(status));
}
