//===- TrainingOptionAttrs.cpp - options of training as attributes --------===//

#include "passes/options/TrainingOptionAttrs.h"
#include "dialects/dist/NamePattern.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/StepParts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "passes/2-prepare/training/LearningRate.h"
#include "passes/2-prepare/training/LossScale.h"
#include "passes/2-prepare/training/Losses.h"
#include "passes/2-prepare/training/TrainingRequest.h"
#include "passes/options/OptionText.h"
#include "passes/options/OptionValueAttrs.h"
#include "passes/plan/schedule/Schedules.h"
#include "status/Suggestions.h"

using namespace mlir;
using namespace pcc;

/// Value of --optimizer if the user does not give it.
static constexpr llvm::StringLiteral defaultOptimizer("sgd");

int64_t pcc::numVirtualStages(const CompileOptions &options) {
  const auto kind = plan::scheduleByName(options.scheduleName());
  return options.virtualStages.value_or(kind ? plan::defaultVirtualStages(*kind)
                                             : 1);
}

/// Returns an error if the user gives an option that the optimizer ignores.
/// `given` has the training options of the user, such as "--betas".
static Status checkOptimizer(const CompileOptions &options,
                             const OptionTexts &given) {
  static constexpr struct {
    const char *option;
    std::array<llvm::StringLiteral, 3> optimizers;
  } users[] = {{"--momentum", {"sgd", "", ""}},
               {"--betas", {"adam", "adamw", ""}},
               {"--eps", {"adam", "adamw", "adagrad"}},
               {"--lr-decay", {"adagrad", "", ""}}};
  // Without --loss, the model must define its own optimizer (checkLoss).
  const std::string &asked = options.training.optimizer;
  if (asked.empty() && options.training.loss.empty())
    return Status::success();
  const std::string optimizer = asked.empty() ? defaultOptimizer.str() : asked;
  for (const auto &[option, optimizers] : users)
    if (given.contains(option) && !llvm::is_contained(optimizers, optimizer))
      return Status::error(WrongUsage, std::string(option) +
                                           " has no effect on --optimizer " +
                                           optimizer);
  return Status::success();
}

/// Returns an error if --loss, --lr-schedule or --loss-scale is malformed.
static Status checkExpressions(const TrainingOptions &training) {
  const auto check = [](const std::string &claim, const std::string &text,
                        auto parse) {
    if (text.empty())
      return Status::success();
    auto parsed = parse(StringRef(text));
    return parsed ? Status::success()
                  : parsed.status().prefixed(claim + " '" + text + "': ");
  };
  PCC_RETURN_IF_ERROR(
      check("cannot train on --loss", training.loss, prepare::parseLoss));
  PCC_RETURN_IF_ERROR(check("invalid --lr-schedule", training.lrSchedule,
                            prepare::parseLearningRateSchedule));
  return check("invalid --loss-scale", training.lossScale,
               prepare::LossScale::parse);
}

Status pcc::checkTraining(const CompileOptions &options) {
  const TrainingOptions &training = options.training;
  OptionTexts given = trainingTextsOf(options);
  if (!options.schedule.empty())
    given["--schedule"] = options.schedule;
  if (!training.train && !given.empty())
    return Status::error(WrongUsage,
                         "option " + given.begin()->first + " needs --train");
  if (!training.train)
    return Status::success();
  PCC_RETURN_IF_ERROR(checkOptimizer(options, given));
  PCC_RETURN_IF_ERROR(checkExpressions(training));
  if (options.schedule.empty() || options.hasScheduleFile())
    return Status::success();
  auto kind = plan::scheduleByName(options.schedule);
  if (!kind)
    return Status::error(
        WrongUsage, "no schedule is called '" + options.schedule +
                        "', and it is not a .csv file" +
                        nearestOf(options.schedule, plan::scheduleNames()));
  std::string error =
      plan::scheduleError({*kind, static_cast<int>(options.axis("pp")),
                           static_cast<int>(numVirtualStages(options)),
                           static_cast<int>(options.numMicrobatches())});
  return error.empty() ? Status::success() : Status::error(CannotMeet, error);
}

/// Checks the training options for a model that contains a training step (ONNX
/// TrainingInfo). The training step of the model defines the loss and the
/// optimizer. Therefore the user may give only these training options: --train,
/// --dropout, --seed, --recompute, --loss-scale and --reproducible. Any other
/// training option, such as --optimizer or --lr, is an error with exit code 2.
static Status checkOwnTraining(const CompileOptions &options) {
  OptionTexts given = trainingTextsOf(options);
  for (const char *option : {"--train", "--dropout", "--seed", "--recompute",
                             "--loss-scale", "--reproducible"})
    given.erase(option);
  if (given.empty())
    return Status::success();
  return Status::error(WrongUsage, "option " + given.begin()->first +
                                       " needs --loss: without it the model is "
                                       "trained as its TrainingInfo says");
}

Status pcc::checkLoss(ModuleOp module, const CompileOptions &options) {
  if (!options.training.train || !options.training.loss.empty())
    return Status::success();
  auto model = module.lookupSymbol<func::FuncOp>("main");
  if (model && graph::isTraining(model.front()))
    return checkOwnTraining(options);
  return Status::error(WrongUsage, "--train needs --loss",
                       {"for instance --loss 'cross_entropy(logits, labels)', "
                        "or the name of a scalar output"});
}

Status pcc::checkWeightNames(ModuleOp module, std::vector<std::string> others,
                             const TrainingOptions &training) {
  std::vector<std::string> names;
  for (auto weight : module.getOps<graph::ParameterOp>())
    names.push_back(weight.getSymName().str());
  llvm::append_range(names, std::move(others));
  const std::pair<const char *, const std::vector<std::string> &> given[] = {
      {"--freeze", training.freeze},
      {"--train-only", training.trainOnly},
      {"--decay", training.decay}};
  for (const auto &[option, patterns] : given)
    for (const std::string &pattern : patterns)
      if (llvm::none_of(names, [&, &pattern = pattern](const auto &name) {
            return dist::matchesName(pattern, name);
          }))
        return Status::error(WrongUsage, std::string(option) + " '" + pattern +
                                             "': no weight has that name" +
                                             nearestOf(pattern, names));
  return Status::success();
}

void pcc::recordTraining(ModuleOp module, const CompileOptions &options) {
  const TrainingOptions &training = options.training;
  if (!training.train)
    return;
  Builder builder(module.getContext());
  NamedAttrList entries;
  for (const OptionRow &row : optionTable())
    if (row.trainingEntry)
      if (Attribute value = attributeOf(row, options, builder))
        entries.append(row.trainingEntry, value);
  if (training.optimizer.empty())
    entries.append("optimizer", builder.getStringAttr(defaultOptimizer));
  static constexpr const char *betas[] = {"beta1", "beta2"};
  for (auto [entry, beta] : llvm::zip(betas, training.betas))
    entries.append(entry, builder.getF64FloatAttr(beta));
  module->setAttr(graph::trainingName,
                  entries.getDictionary(module.getContext()));
}

void pcc::restoreTrainingOptions(ModuleOp module, CompileOptions &options) {
  options.training = {};
  auto entries = module->getAttrOfType<DictionaryAttr>(graph::trainingName);
  if (!entries)
    return;
  options.training.train = true;
  for (const OptionRow &row : optionTable())
    if (row.trainingEntry)
      setFromAttribute(row, entries.get(row.trainingEntry), options);
  const auto request = *prepare::TrainingRequest::of(module);
  if (auto beta1 = request.number("beta1"))
    options.training.betas = {*beta1, request.number("beta2", 0.999)};
  options.training.reproducible = module->hasAttr(graph::reproducibleName);
}
