//===- InspectCommand.cpp - pcc inspect: description of a bundle ----------===//

#include "runtime/base/NumberCheck.h"
#include "runtime/program/bundle/Inspect.h"
#include "status/PrintableText.h"
#include "tools/pcc/CompileCommand.h"
#include "tools/pcc/Console.h"

using namespace pcc;
using namespace pcc::tool;

/// `--schedule` excludes the other output options, because it prints
/// comma-separated values, which `pcc --schedule FILE.csv` reads.
static void declare(CLI::App &app, runtime::InspectOptions &options) {
  app.name("pcc inspect");
  app.description(
      "shows the contents of a bundle\n\nMemory and actions of ranks, "
      "communication with bytes, and the parts of weights that ranks "
      "hold.\n\nexamples:\n  pcc inspect model.pcc\n  pcc inspect model.pcc "
      "--rank 3 --json\n  pcc inspect model.pcc --shards '*.c_attn.weight'\n  "
      "pcc inspect model.pcc --schedule > table.csv");
  app.add_option("BUNDLE", options.bundle, "a directory that pcc has written")
      ->required();
  auto *rank = app.add_option("--rank", options.rank, "show this rank only")
                   ->check([](const std::string &text) {
                     return runtime::checkWholeNumber(text, 0);
                   });
  auto *json =
      app.add_flag("--json", options.json, "print JSON; sizes in bytes");
  auto *schedule = app.add_flag(
      "--schedule", options.schedule,

      "print only the action table: a line per pipeline position, as "
      "pcc --schedule FILE.csv reads it");
  schedule->excludes(rank)->excludes(json);
  auto *shards = app.add_option(
      "--shards", options.shards,
      "draw the parts that ranks hold of weights, inputs and outputs with this "
      "name; globs allowed");
  shards->option_text("GLOB");
  shards->excludes(rank)->excludes(json)->excludes(schedule);
  app.add_flag("-v,--verbose", options.isVerbose,
               "list every collective, transfer and action")
      ->excludes(json)
      ->excludes(schedule)
      ->excludes(shards);
}

void tool::declareInspect(CLI::App &app) {
  static runtime::InspectOptions options;
  declare(app, options);
}

int tool::inspectCommand(int argc, const char *const *argv) {
  runtime::InspectOptions options;
  CLI::App app;
  declare(app, options);
  if (auto code = finishEarly(parseArguments(app, argc, argv)))
    return *code;
  std::string text;
  Status status = runtime::inspectBundle(options, text);
  if (status.ok())
    status =
        printText(options.json ? printableJson(text) : printable(text, "\n"));
  return reportStatus(status);
}
