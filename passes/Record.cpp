//===- Record.cpp - options as attributes of the module -------------------===//

#include "passes/Record.h"
#include "dialects/dist/DistDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace pcc;

/// Every option that shapes the result, by its name on the command line; lists
/// are joined by spaces.
static std::map<std::string, std::string>
asText(const CompileOptions &options) {
  std::map<std::string, std::string> text;
  auto join = [](const std::vector<std::string> &list) {
    return llvm::join(list, " ");
  };
  for (auto &[name, size] : options.axes)
    text["--" + name] = std::to_string(size);
  for (auto &[name, size] : options.mesh)
    text["--mesh"] += name + "=" + std::to_string(size) + ",";
  for (auto &[name, size] : options.dims)
    text["--dim " + name] = std::to_string(size);
  for (auto &[name, shape] : options.shapes)
    for (int64_t size : shape)
      text["--shape " + name] += std::to_string(size) + "x";
  if (options.microbatches)
    text["--microbatches"] = std::to_string(*options.microbatches);
  if (options.virtualStages)
    text["--virtual-stages"] = std::to_string(*options.virtualStages);
  for (auto &[name, value] : {std::pair("--batch-dim", join(options.batchDims)),
                              std::pair("--schedule", options.schedule),
                              std::pair("--shard", join(options.shards)),
                              std::pair("--stage-at", join(options.stageAt)),
                              std::pair("--cpu", join(options.cpus))})
    if (!value.empty())
      text[name] = value;
  if (options.randomWeights)
    text["--random-weights"] = std::to_string(*options.randomWeights);
  return text;
}

/// The axes that split tensors, major to minor: microbatches lie outside all
/// others. Stages are not an axis of tensors.
static dist::Mesh meshOf(const CompileOptions &options) {
  dist::Mesh mesh;
  if (options.microbatches.value_or(1) > 1)
    mesh.axes.push_back({std::string(dist::timeAxis), *options.microbatches});
  if (options.mesh.empty())
    for (const char *name : {"dp", "cp", "tp"})
      mesh.axes.push_back({name, options.axis(name)});
  for (auto &[name, size] : options.mesh)
    mesh.axes.push_back({name, size});
  return mesh;
}

static ArrayAttr strings(Builder &builder,
                         const std::vector<std::string> &list) {
  return builder.getStrArrayAttr(
      SmallVector<StringRef>(list.begin(), list.end()));
}

Outcome pcc::recordOptions(ModuleOp module, const CompileOptions &options) {
  Builder builder(module.getContext());
  module->setAttr(dist::meshName,
                  dist::MeshAttr::get(module.getContext(), meshOf(options)));
  int64_t virtualStages = options.virtualStages.value_or(1);
  module->setAttr("pipe.stages", builder.getI64IntegerAttr(options.axis("pp") *
                                                           virtualStages));
  module->setAttr("pipe.virtual_stages",
                  builder.getI64IntegerAttr(virtualStages));
  module->setAttr("pipe.microbatches",
                  builder.getI64IntegerAttr(options.microbatches.value_or(1)));
  module->setAttr("pipe.schedule",
                  builder.getStringAttr(
                      options.schedule.empty() ? "forward" : options.schedule));
  if (!options.shards.empty())
    module->setAttr("dist.seeds", strings(builder, options.shards));
  if (!options.stageAt.empty())
    module->setAttr("pipe.stage_at", strings(builder, options.stageAt));
  if (!options.batchDims.empty())
    module->setAttr("graph.batch_dims", strings(builder, options.batchDims));
  if (!options.cpus.empty())
    module->setAttr("rank.cpus", strings(builder, options.cpus));
  if (options.randomWeights)
    module->setAttr("rank.random_weights",
                    builder.getI64IntegerAttr(*options.randomWeights));
  SmallVector<NamedAttribute> recorded;
  for (auto &[name, value] : asText(options))
    recorded.push_back(
        builder.getNamedAttr(name, builder.getStringAttr(value)));
  module->setAttr(optionsName, builder.getDictionaryAttr(recorded));
  return {};
}

Outcome pcc::checkRepeated(ModuleOp module, const CompileOptions &options) {
  auto recorded = module->getAttrOfType<DictionaryAttr>(optionsName);
  for (auto &[name, value] : asText(options)) {
    auto before = recorded ? recorded.getAs<StringAttr>(name) : StringAttr();
    if (before && before.getValue() == value)
      continue;
    std::string had =
        before ? "'" + before.str() + "'" : std::string("nothing");
    return {2,
            "option " + name + " is '" + value +
                "', but the phases before this dump were run with " + had,
            {}};
  }
  return {};
}

Phase pcc::phaseOf(ModuleOp module) {
  auto phase = module->getAttrOfType<IntegerAttr>(phaseName);
  return phase ? static_cast<Phase>(phase.getInt()) : Phase::None;
}

void pcc::setPhase(ModuleOp module, Phase phase) {
  module->setAttr(phaseName,
                  Builder(module.getContext())
                      .getI64IntegerAttr(static_cast<int64_t>(phase)));
}
