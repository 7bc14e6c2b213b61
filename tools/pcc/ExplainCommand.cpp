//===- ExplainCommand.cpp - pcc explain: reasons of all collectives -------===//

#include "runtime/base/NumberCheck.h"
#include "status/PrintableText.h"
#include "tools/pcc/CompileCommand.h"
#include "tools/pcc/Console.h"
#include "tools/pcc/OptionsCli.h"
#include "tools/pcc/UnimplementedOptions.h"

using namespace pcc;
using namespace pcc::tool;

/// Takes the options of `pcc compile`, because explain makes the same decisions
/// as a compilation, but emits nothing.
void tool::declareExplain(CLI::App &app, ExplainRequest &request) {
  auto &[options, explainOptions] = request;
  app.name("pcc explain");
  app.description(
      "explains what a plan costs, and why it communicates\n\nFirst a tree: "
      "what a step costs, the stages, the dearest collectives and cuts, and "
      "lints by code (from PCC-L001) with the option that mends them and what "
      "it saves and costs. With -v for each collective: the op that needs it, "
      "its node and source line, bytes and seconds, the decision behind it and "
      "the alternatives. For a value: where its sharding comes from.\n\n"
      "examples:\n"
      "  pcc explain model.onnx --tp 2 --dim batch=8 --dim seq=32\n"
      "  pcc explain model.onnx --tp 2 --dim batch=8 --dim seq=32 -v\n"
      "  pcc explain model.onnx --tp 2 --dim batch=8 --dim seq=32 "
      "'*h.0.*weight'\n"
      "  pcc explain ir/5-localize.mlir --json");
  addOptions(app, options, OptionCommands::All);
  addUnimplementedOptions(app, /*isVerify=*/false);
  addOptions(app, options, OptionCommands::CompileAndExplain);
  app.add_option(
      "VALUE", explainOptions.value,
      "explain only this weight, input, output, value or node; globs allowed");
  auto *json = app.add_flag("--json", explainOptions.json,
                            "print JSON; sizes in bytes, times in seconds");
  auto *verbose =
      app.add_flag("-v,--verbose", explainOptions.isVerbose,
                   "show all collectives, and the choices that lost");
  verbose->excludes(json);
  app.add_option("--top", explainOptions.top,
                 "show this many of the dearest collectives and cuts (default "
                 "4)")
      ->option_text("N")
      ->check([](const std::string &text) {
        return runtime::checkWholeNumber(text, 1, INT32_MAX);
      })
      ->excludes(json)
      ->excludes(verbose);
}

void tool::declareExplain(CLI::App &app) {
  static ExplainRequest request;
  declareExplain(app, request);
}

tool::ParsedArguments tool::parseExplain(int argc, const char *const *argv,
                                         ExplainRequest &request) {
  CLI::App app;
  declareExplain(app, request);
  ParsedArguments reading = parseArguments(app, argc, argv);
  request.compile.command = commandLine(app.get_name(), argc, argv);
  return reading;
}

int tool::explainCommand(int argc, const char *const *argv) {
  ExplainRequest request;
  if (auto code = finishEarly(parseExplain(argc, argv, request)))
    return *code;
  ExplainedModel explained;
  const Status status =
      explainModel(request.compile, request.explain, explained,
                   terminalListener(request.compile.quiet));
  const int code = reportStatus(status);
  const Status printed =
      printText(request.explain.json ? printableJson(explained.json)
                                     : printable(explained.text, "\n"));
  return code != Done ? code : reportStatus(printed);
}
