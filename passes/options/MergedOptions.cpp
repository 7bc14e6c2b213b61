//===- MergedOptions.cpp - options of a dump and of a call that resumes ---===//

#include "passes/options/MergedOptions.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/options/OptionText.h"
#include "passes/options/OptionValueAttrs.h"
#include "passes/options/TrainingOptionAttrs.h"

using namespace mlir;
using namespace pcc;

/// Copies the mesh axes within a stage, such as dp and tp, from `dump` to
/// `options`. Changes no axis that `options` already has, and nothing if
/// `options` has a mesh (--mesh).
static void mergeMesh(ModuleOp dump, CompileOptions &options) {
  if (!options.mesh.empty())
    return;
  const std::vector<dist::Axis> axes = dist::meshOf(dump).spatial().axes;
  const bool hasOwnNames = llvm::any_of(axes, [](const dist::Axis &axis) {
    return axis.name != "dp" && axis.name != "cp" && axis.name != "tp";
  });
  for (const dist::Axis &axis : axes)
    if (hasOwnNames)
      options.mesh.push_back({axis.name, axis.size});
    else
      options.axes.try_emplace(axis.name, axis.size);
  auto experts = dump->getAttrOfType<IntegerAttr>(dist::expertsName);
  if (experts && !hasOwnNames)
    options.axes.try_emplace("ep", experts.getInt());
}

/// Copies the options of the pipeline, such as the number of microbatches, from
/// `dump` to `options`. Changes no option that `options` already has. If
/// `options` already has a schedule, also leaves out the number of virtual
/// stages, because this number belongs to the schedule of `dump`.
static void mergePipeline(ModuleOp dump, CompileOptions &options) {
  const auto countOf = [&](StringRef name) {
    return std::max<int64_t>(pipe::countOf(dump, name), 1);
  };
  const int64_t virtualStages = countOf(pipe::virtualStagesName);
  options.axes.try_emplace("pp", countOf(pipe::stagesName) / virtualStages);
  if (!options.microbatches)
    options.microbatches = countOf(pipe::microbatchesName);
  if (!options.schedule.empty())
    return;
  if (!options.virtualStages)
    options.virtualStages = virtualStages;
  auto schedule = dump->getAttrOfType<StringAttr>(pipe::scheduleName);
  auto table = dump->getAttrOfType<StringAttr>(pipe::tableName);
  if (table)
    options.scheduleTable = table.str();
  if (schedule && schedule.getValue() != "forward")
    options.schedule = table ? "recorded.csv" : schedule.str();
}

/// Sets the options of training in `options`. An option that the user has given
/// has the value in `given`. Any other option has the value with which `dump`
/// was made.
static void mergeTraining(ModuleOp dump, const CompileOptions &given,
                          CompileOptions &options) {
  restoreTrainingOptions(dump, options);
  for (const OptionRow &row : optionTable()) {
    OptionTexts text;
    if (row.group == std::string_view(trainingGroup))
      addText(row, given, text);
    if (!text.empty())
      std::visit(
          [&](const auto &value) {
            if constexpr (requires { value.in(options); })
              value.in(options) = value.in(given);
          },
          row.value);
  }
}

CompileOptions pcc::mergedOptions(ModuleOp dump, const CompileOptions &given) {
  CompileOptions merged = given;
  for (const OptionRow &row : optionTable())
    if (row.attribute == std::string_view(dist::targetName) ||
        (row.attribute == std::string_view(dist::presetsName) &&
         given.presets.empty()))
      setFromAttribute(row, dump->getAttr(StringRef(row.attribute)), merged);
  mergeTraining(dump, given, merged);
  mergeMesh(dump, merged);
  mergePipeline(dump, merged);
  return merged;
}
