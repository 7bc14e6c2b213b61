//===- TrainingOptionAttrs.cpp - options of training as attributes --------===//

#include "passes/options/TrainingOptionAttrs.h"
#include "dialects/graph/StepParts.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "passes/2-prepare/training/TrainingRequest.h"
#include "passes/plan/schedule/Schedules.h"
#include "llvm/ADT/StringExtras.h"

#include <charconv>

using namespace mlir;
using namespace pcc;

namespace {
/// An option with a number: its name, its entry in `graph.training`, and its
/// member.
struct NumberOption {
  const char *option, *entry;
  std::optional<double> TrainingOptions::*value;
};
/// An option with a text.
struct TextOption {
  const char *option, *entry;
  std::string TrainingOptions::*value;
};
/// An option with a list of globs.
struct ListOption {
  const char *option, *entry;
  std::vector<std::string> TrainingOptions::*value;
};
} // namespace

/// The three tables are the only list of the options that pass unchanged into
/// `graph.training`. Recording, restoring and `pcc.options` all read them.
static constexpr NumberOption numbers[] = {
    {"--lr", "lr", &TrainingOptions::lr},
    {"--lr-decay", "lr_decay", &TrainingOptions::lrDecay},
    {"--momentum", "momentum", &TrainingOptions::momentum},
    {"--eps", "eps", &TrainingOptions::eps},
    {"--weight-decay", "weight_decay", &TrainingOptions::weightDecay},
    {"--clip-norm", "clip_norm", &TrainingOptions::clipNorm},
};
static constexpr TextOption texts[] = {
    {"--loss", "loss", &TrainingOptions::loss},
    {"--optimizer", "optimizer", &TrainingOptions::optimizer},
    {"--lr-schedule", "lr_schedule", &TrainingOptions::lrSchedule},
    {"--loss-scale", "loss_scale", &TrainingOptions::lossScale},
    {"--dropout", "dropout", &TrainingOptions::dropout},
    {"--seed", "seed", &TrainingOptions::seed},
};
static constexpr ListOption lists[] = {
    {"--decay", "decay", &TrainingOptions::decay},
    {"--freeze", "freeze", &TrainingOptions::freeze},
    {"--train-only", "train_only", &TrainingOptions::trainOnly},
};

/// Returns the shortest text that is parsed to `number`.
static std::string textOf(double number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

void pcc::addTrainingText(const TrainingOptions &options,
                          std::map<std::string, std::string> &text) {
  if (options.train)
    text["--train"] = "true";
  for (const NumberOption &number : numbers)
    if (auto value = options.*number.value)
      text[number.option] = textOf(*value);
  for (const TextOption &entry : texts)
    if (!(options.*entry.value).empty())
      text[entry.option] = options.*entry.value;
  for (const ListOption &list : lists)
    if (!(options.*list.value).empty())
      text[list.option] = llvm::join(options.*list.value, " ");
  if (!options.recompute.empty())
    text["--recompute"] = options.recompute;
  if (options.reproducible)
    text["--reproducible"] = "true";
  if (!options.betas.empty())
    text["--betas"] = textOf(options.betas[0]) + "," + textOf(options.betas[1]);
}

int64_t pcc::numVirtualStages(const CompileOptions &options) {
  const auto kind = plan::scheduleByName(options.scheduleName());
  return options.virtualStages.value_or(kind ? plan::defaultVirtualStages(*kind)
                                             : 1);
}

Outcome pcc::checkTraining(const CompileOptions &options) {
  const TrainingOptions &training = options.training;
  std::map<std::string, std::string> given;
  addTrainingText(training, given);
  if (!options.schedule.empty())
    given["--schedule"] = options.schedule;
  if (!training.train && !given.empty())
    return {2, "option " + given.begin()->first + " needs --train", {}};
  if (!training.train)
    return {};
  if (options.schedule.empty() || options.hasScheduleFile())
    return {};
  auto kind = plan::scheduleByName(options.schedule);
  if (!kind)
    return {2,
            "no schedule is called '" + options.schedule +
                "', and it is no .csv file",
            {}};
  std::string error =
      plan::scheduleError({*kind, static_cast<int>(options.axis("pp")),
                           static_cast<int>(numVirtualStages(options)),
                           static_cast<int>(options.numMicrobatches())});
  return error.empty() ? Outcome() : Outcome{6, error, {}};
}

/// Checks that no option is given that has an effect only with --loss, because
/// the model's own TrainingInfo fixes loss and optimizer.
static Outcome checkOwnTraining(const TrainingOptions &options) {
  std::map<std::string, std::string> given;
  addTrainingText(options, given);
  for (const char *option : {"--train", "--dropout", "--seed", "--recompute",
                             "--loss-scale", "--reproducible"})
    given.erase(option);
  if (given.empty())
    return {};
  return {2,
          "option " + given.begin()->first +
              " needs a --loss: without one the model is trained as its "
              "TrainingInfo says",
          {}};
}

Outcome pcc::checkLoss(ModuleOp module, const TrainingOptions &options) {
  if (!options.train || !options.loss.empty())
    return {};
  auto model = module.lookupSymbol<func::FuncOp>("main");
  if (model && graph::isTraining(model.front()))
    return checkOwnTraining(options);
  return {2,
          "--train needs a --loss",
          {"for instance --loss 'cross_entropy(logits, labels)', or the name "
           "of an output of one number"}};
}

void pcc::recordTraining(ModuleOp module, const TrainingOptions &options) {
  if (!options.train)
    return;
  Builder builder(module.getContext());
  NamedAttrList entries;
  for (const NumberOption &number : numbers)
    if (auto value = options.*number.value)
      entries.append(number.entry, builder.getF64FloatAttr(*value));
  for (const TextOption &entry : texts)
    if (!(options.*entry.value).empty())
      entries.append(entry.entry, builder.getStringAttr(options.*entry.value));
  for (const ListOption &list : lists)
    if (!(options.*list.value).empty())
      entries.append(list.entry,
                     builder.getStrArrayAttr(
                         llvm::to_vector_of<StringRef>(options.*list.value)));
  if (options.optimizer.empty())
    entries.append("optimizer", builder.getStringAttr("sgd"));
  static constexpr const char *betas[] = {"beta1", "beta2"};
  for (auto [entry, beta] : llvm::zip(betas, options.betas))
    entries.append(entry, builder.getF64FloatAttr(beta));
  if (!options.recompute.empty())
    module->setAttr(pipe::recomputeName,
                    builder.getStringAttr(options.recompute));
  if (options.reproducible)
    module->setAttr(graph::reproducibleName, builder.getUnitAttr());
  module->setAttr(prepare::trainingName,
                  entries.getDictionary(module.getContext()));
}

TrainingOptions pcc::restoreTrainingOptions(ModuleOp module) {
  TrainingOptions options;
  const auto request = prepare::TrainingRequest::of(module);
  if (!request)
    return options;
  options.train = true;
  for (const NumberOption &number : numbers)
    options.*number.value = request->number(number.entry);
  for (const TextOption &entry : texts)
    options.*entry.value = request->text(entry.entry).str();
  for (const ListOption &list : lists)
    for (StringRef text : request->list(list.entry))
      (options.*list.value).push_back(text.str());
  if (auto beta1 = request->number("beta1"))
    options.betas = {*beta1, request->number("beta2", 0.999)};
  options.reproducible = module->hasAttr(graph::reproducibleName);
  return options;
}
