//===- MergedOptions.cpp - options of a dump and of a call that resumes ---===//

#include "passes/options/MergedOptions.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/options/OptionText.h"
#include "passes/options/OptionValueAttrs.h"
#include "passes/options/TrainingOptionAttrs.h"

using namespace mlir;
using namespace pcc;

/// Sets the axes of a stage in `options` to those of the mesh of `dump`. Keeps
/// axes that `options` has.
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

/// Sets the options of the pipeline that `options` lacks to those of `dump`.
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

/// Sets the options of training to those of `dump`, except for those in
/// `given`.
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
