//===- CheckpointCommand.cpp - pcc checkpoint: export of trained weights --===//

#include "runtime/base/QuantityText.h"
#include "runtime/base/ScopedFolder.h"
#include "runtime/base/claim/FileClaims.h"
#include "runtime/checkpoint/TrainedWeights.h"
#include "tools/pcc/CompileCommand.h"
#include "tools/pcc/Console.h"

#include <filesystem>

using namespace pcc;
using namespace pcc::tool;

namespace {
/// Arguments of `pcc checkpoint export`.
struct ExportOptions {
  std::string directory;
  ModelWithWeightsOptions model;
  bool quiet = false;
};
} // namespace

/// Returns the extension of a path with its dot, such as ".onnx".
static std::string endingOf(const std::string &path) {
  return std::filesystem::path(path).extension();
}

/// Checks that the output is an .onnx or .safetensors file. Returns an error
/// message, or an empty string.
static std::string checkOutput(const std::string &path) {
  const std::string ending = endingOf(path);
  return ending == ".onnx" || ending == ".safetensors"
             ? ""
             : "needs FILE.safetensors or FILE.onnx, got '" + path + "'";
}

/// Adds the options of `pcc checkpoint export`.
static void addExport(CLI::App &app, ExportOptions &options) {
  app.description("writes the trained weights for use elsewhere\n\nexamples:\n"
                  "  pcc checkpoint export ckpt -o trained.safetensors\n"
                  "  pcc checkpoint export ckpt/step-00000010 -o trained.onnx");
  app.add_option("DIR", options.directory,
                 "a folder of checkpoints (the newest is used), or one "
                 "checkpoint in it")
      ->required();
  app.add_option("-o,--output", options.model.output,
                 ".safetensors: the trained weights under their ONNX names; "
                 ".onnx: the model with the trained weights")
      ->type_name("FILE.safetensors|FILE.onnx")
      ->check(CLI::Validator(checkOutput, ""))
      ->required();
  app.add_option("--model", options.model.model,
                 "model for .onnx output (default: the trained model, from the "
                 "path in the checkpoint)")
      ->type_name("FILE.onnx");
  app.add_option("--external-data-root", options.model.externalDataRoot,
                 "additional directory that external data may lie in")
      ->type_name("DIR");
  app.add_flag("-q,--quiet", options.quiet, "suppress notes");
}

/// Writes the model with its weights replaced by the trained weights. Returns
/// an error with exit code 6 if neither the options nor the checkpoint name the
/// model.
static Status writeModel(runtime::TrainedWeights &trained,
                         ModelWithWeightsOptions options) {
  if (options.model.empty())
    options.model = trained.model();
  if (options.model.empty())
    return Status::error(CannotMeet,
                         "checkpoint '" + trained.folder() +
                             "' does not name the trained model",
                         {"--model FILE.onnx does"});
  std::vector<ReplacedWeight> weights;
  for (const runtime::TrainedWeight &weight : trained.list())
    weights.push_back({weight.name, weight.type, weight.shape,
                       [&](std::span<std::byte> elements) {
                         return trained.change(weight, elements);
                       }});
  return writeModelWithWeights(options, weights);
}

/// Checks that `output` would replace no file of the checkpoint in `folder`.
static Status checkIsOutside(const std::string &output,
                             const std::string &folder) {
  runtime::FileClaims claims;
  claims.keep("the export reads", folder);
  claims.write("-o", output);
  return claims.check();
}

/// Opens the newest checkpoint, writes its weights, and tells what was written.
/// The extension of the output file determines the format.
static Status exportCheckpoint(const ExportOptions &options) {
  runtime::TrainedWeights trained;
  PCC_RETURN_IF_ERROR(
      runtime::TrainedWeights::open(options.directory, trained));
  if (!options.quiet)
    for (const std::string &note : trained.notes())
      printNote(note);
  const std::string &output = options.model.output;
  const bool isModel = endingOf(output) == ".onnx";
  PCC_RETURN_IF_ERROR(checkIsOutside(output, trained.folder()));
  PCC_RETURN_IF_ERROR(isModel ? writeModel(trained, options.model)
                              : trained.writeSafetensors(output));
  const size_t count = trained.list().size();
  if (!options.quiet)
    printResult(output + ": " + (isModel ? "the model with " : "") +
                runtime::countText(int64_t(count), "trained weight") + " of " +
                trained.folder());
  return Status::success();
}

/// `export` is the only subcommand.
static void declare(CLI::App &app, ExportOptions &options) {
  app.name("pcc checkpoint");
  app.description("works with checkpoints that 'pcc run --save DIR' writes");
  addExport(*app.add_subcommand("export"), options);
  app.require_subcommand(1);
}

void tool::declareCheckpoint(CLI::App &app) {
  static ExportOptions options;
  declare(app, options);
}

/// Unfinished files are removed if a signal ends the process.
int tool::checkpointCommand(int argc, const char *const *argv) {
  ExportOptions options;
  CLI::App app;
  declare(app, options);
  if (auto code = finishEarly(parseArguments(app, argc, argv)))
    return *code;
  runtime::ScopedFolder::removeAllOnSignals();
  return reportStatus(exportCheckpoint(options));
}
