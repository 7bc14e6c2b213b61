//===- RunCommand.cpp - pcc run BUNDLE ------------------------------------===//

#include "runtime/engine/RunOptionsCli.h"
#include "runtime/launch/RunBundle.h"
#include "tools/pcc/CompileCommand.h"
#include "tools/pcc/Say.h"

using namespace pcc;
using namespace pcc::tool;

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
  runtime::Status status = runtime::runBundle(bundle, options, arguments);
  if (status.ok())
    return 0;
  return say(
      {static_cast<int>(status.code()), status.message(), status.notes()});
}
