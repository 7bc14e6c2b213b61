//===- OptionAttrs.cpp - options as attributes of the module --------------===//

#include "passes/options/OptionAttrs.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pcc/PccDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "passes/1-import/Import.h"
#include "passes/6-schedule/UserSchedule.h"
#include "passes/options/MergedOptions.h"
#include "passes/options/OptionChecks.h"
#include "passes/options/OptionText.h"
#include "passes/options/OptionValueAttrs.h"
#include "passes/options/SettledOptions.h"
#include "passes/options/TrainingOptionAttrs.h"
#include "status/Counted.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace pcc;

/// Returns a checksum of `text`, the content of a file that an option names.
/// The module attribute `pcc.options` records the values of options. For an
/// option that names a file, the attribute records the checksum of the file. If
/// the user gives the option again in a later call of pcc, pcc compares the
/// checksums.
static std::string checksumOf(const std::string &text) {
  return llvm::utohexstr(llvm::xxh3_64bits(text));
}

/// Returns the given options that change the result of a compilation, as texts:
/// --tp 2 gives "--tp" = "2". A file in --schedule or --cluster gives a
/// checksum of its content. The checksum lets a later call of pcc detect a
/// changed file.
static OptionTexts recordedTextsOf(const CompileOptions &options) {
  OptionTexts texts = textsOf(options);
  if (options.hasScheduleFile())
    texts["--schedule"] = "of checksum " + checksumOf(options.scheduleTable);
  if (!options.clusterFile.empty())
    texts["--cluster"] = "of checksum " + checksumOf(options.cluster);
  return texts;
}

/// Returns whether the user gives an axis of the mesh of a pipeline stage, by
/// --mesh, --dp, --cp, --tp or --ep. The option --pp does not count.
static bool givesMesh(const CompileOptions &options) {
  return !options.mesh.empty() || options.axes.count("dp") ||
         options.axes.count("cp") || options.axes.count("tp") ||
         options.axes.count("ep");
}

/// Returns the mesh of one pipeline stage. If there are several microbatches,
/// the first axis is a time axis, which counts them. The other axes are:
///
/// - if the user gives neither --mesh, --dp, --cp, --tp nor --ep, and the ONNX
///   model has a mesh: the axes of `annotated`, the mesh of the ONNX model
/// - otherwise, if the user gives --mesh: the axes of --mesh
/// - otherwise: dp, cp and tp
static dist::Mesh meshOf(const CompileOptions &options,
                         const dist::Mesh &annotated) {
  dist::Mesh mesh;
  if (const int64_t count = options.numMicrobatches(); count > 1)
    mesh.axes.push_back({std::string(dist::timeAxis), count});
  if (!givesMesh(options) && !annotated.axes.empty())
    mesh.axes.insert(mesh.axes.end(), annotated.axes.begin(),
                     annotated.axes.end());
  else if (options.mesh.empty())
    for (const char *name : {"dp", "cp", "tp"})
      mesh.axes.push_back({name, options.axis(name)});
  for (auto &[name, size] : options.mesh)
    mesh.axes.push_back({name, size});
  return mesh;
}

/// Stores the pipeline in the `pipe.*` attributes of `module`. If annotations
/// of the ONNX model assign nodes to stages, keeps the number of stages from
/// the import. --stage-at is then an error with exit code 6.
static Status recordPipeline(ModuleOp module, const CompileOptions &options) {
  Builder builder(module.getContext());
  const int64_t virtualStages = numVirtualStages(options);
  if (!module->hasAttr(pipe::stageOfNodesName))
    module->setAttr(pipe::stagesName, builder.getI64IntegerAttr(
                                          options.axis("pp") * virtualStages));
  else if (!options.stageAt.empty())
    return Status::error(CannotMeet, "the model's annotations assign its nodes "
                                     "to stages, so --stage-at is not allowed");
  module->setAttr(pipe::virtualStagesName,
                  builder.getI64IntegerAttr(virtualStages));
  module->setAttr(pipe::microbatchesName,
                  builder.getI64IntegerAttr(options.numMicrobatches()));
  module->setAttr(pipe::scheduleName,
                  builder.getStringAttr(options.scheduleName()));
  if (!options.scheduleTable.empty())
    module->setAttr(pipe::tableName,
                    builder.getStringAttr(options.scheduleTable));
  return Status::success();
}

/// Sets the module attribute `graph.precision` to the element type in --dtype.
/// Does nothing without --dtype.
static void recordPrecision(ModuleOp module, const CompileOptions &options) {
  if (!options.dtype.empty())
    module->setAttr(
        graph::precisionName,
        TypeAttr::get(mlir::parseType(options.dtype, module.getContext())));
}

/// Sets the module attribute `dist.experts` to the number of groups into which
/// the experts of a mixture-of-experts layer are divided. Different ranks hold
/// different groups. The option --ep or the preset `expert` determines this
/// number. Does nothing if the number is 1.
static void recordExperts(ModuleOp module, const CompileOptions &options) {
  if (int64_t experts = options.axis("ep"); experts > 1)
    module->setAttr(dist::expertsName,
                    Builder(module.getContext()).getI64IntegerAttr(experts));
}

/// Sets the module attribute `pipe.max_held_bytes` to 0 if the user gives the
/// preset fsdp or zero3. With these presets, ranks store only shards of
/// weights. A rank gathers a whole weight from the shards before it uses the
/// weight. The attribute limits the bytes of gathered weights that a stage
/// keeps in memory from one microbatch to the next. With 0, a rank gathers each
/// weight again in every microbatch.
static void recordHeldBytes(ModuleOp module, const CompileOptions &options) {
  if (options.hasPreset("fsdp") || options.hasPreset("zero3"))
    module->setAttr(pipe::maxHeldBytesName,
                    Builder(module.getContext()).getI64IntegerAttr(0));
}

/// Stores values of options in attributes of `module`. Some options have a
/// function of their own: --dtype, --ep, and the presets that divide experts or
/// weights. The other options have the name of their attribute in
/// optionTable(), for example --target.
static void recordValues(ModuleOp module, const CompileOptions &options) {
  Builder builder(module.getContext());
  recordPrecision(module, options);
  recordExperts(module, options);
  recordHeldBytes(module, options);
  for (const OptionRow &row : optionTable())
    if (!row.attribute.empty())
      if (Attribute value = attributeOf(row, options, builder))
        module->setAttr(llvm::StringRef(row.attribute), value);
}

/// Stores `texts`, options as text, in the attribute `pcc.options`.
static void recordTexts(ModuleOp module, const OptionTexts &texts) {
  Builder builder(module.getContext());
  NamedAttrList recorded(module->getAttrOfType<DictionaryAttr>(optionsName));
  for (auto &[name, value] : texts)
    recorded.set(name, builder.getStringAttr(value));
  module->setAttr(optionsName, recorded.getDictionary(module.getContext()));
  settleRecord(module);
}

/// Checks that each axis dp, cp or tp that a --shard names exists. An axis
/// exists if the user gives the option of its name, such as --tp, or if its
/// size is greater than 1. Returns an error with exit code 6 that lists the
/// existing axes if an axis does not exist. Checks nothing if the axes come
/// from --mesh or from the mesh `annotated` of the ONNX model. Phase 4-shard
/// checks the axis names in these cases.
static Status checkShardAxes(const CompileOptions &options,
                             const dist::Mesh &annotated) {
  if (!options.mesh.empty() || (!givesMesh(options) && !annotated.axes.empty()))
    return Status::success();
  std::string axes;
  for (const char *axis : {"dp", "cp", "tp"})
    if (options.axes.count(axis) || options.axis(axis) > 1)
      axes += (axes.empty() ? "" : ", ") + std::string(axis) + "=" +
              std::to_string(options.axis(axis));
  for (const std::string &shard : options.shards) {
    SmallVector<StringRef> words;
    llvm::SplitString(StringRef(shard).rsplit('=').second, words,
                      "[],|+:()-?@ ");
    for (StringRef axis : {"dp", "cp", "tp"})
      if (llvm::is_contained(words, axis) && !options.axes.count(axis.str()) &&
          options.axis(axis.str()) == 1)
        return Status::error(
            CannotMeet,
            "--shard '" + shard + "' names the axis " + axis.str() + ", but " +
                (axes.empty() ? "there are no axes" : "the axes are " + axes),
            {"--" + axis.str() + " N adds the axis"});
  }
  return Status::success();
}

Status pcc::recordOptions(ModuleOp module, const CompileOptions &options) {
  PCC_RETURN_IF_ERROR(checkAgainstModel(module, options));
  const dist::Mesh annotated = dist::meshOf(module);
  PCC_RETURN_IF_ERROR(checkShardAxes(options, annotated));
  const dist::Mesh mesh = meshOf(options, annotated);
  PCC_RETURN_IF_ERROR(checkPresets(options, mesh));
  module->setAttr(dist::meshName,
                  dist::MeshAttr::get(module.getContext(), mesh));
  PCC_RETURN_IF_ERROR(recordPipeline(module, options));
  PCC_RETURN_IF_ERROR(checkLoss(module, options));
  recordTraining(module, options);
  recordValues(module, options);
  recordTexts(module, recordedTextsOf(options));
  return Status::success();
}

/// Returns the default value of the option `name`, such as "--tp", in the
/// earlier call of pcc that wrote the dump `module`. The earlier call used this
/// value if the user did not give the option. For --microbatches and
/// --virtual-stages, an attribute of `module` has the value. For --tp, --pp,
/// --dp, --cp and --ep, the value is "1". For any other option, the result is
/// empty.
static std::string defaultOf(ModuleOp module, StringRef name,
                             const CompileOptions &options) {
  StringRef attribute = name == "--microbatches"     ? pipe::microbatchesName
                        : name == "--virtual-stages" ? pipe::virtualStagesName
                                                     : "";
  if (!attribute.empty())
    return std::to_string(pipe::countOf(module, attribute));
  return name.consume_front("--") && options.axes.count(name.str()) ? "1" : "";
}

/// Returns the row of the option whose text has the key `key`, such as "--tp"
/// or "--dim batch".
static const OptionRow &rowOf(StringRef key) {
  return *llvm::find_if(optionTable(), [&](const OptionRow &row) {
    return key.split(' ').first == row.name;
  });
}

/// Returns the next step of a user who wants to change an option that phase
/// `reader` reads, which has already run.
static std::string remedyText(Phase reader) {
  if (reader == Phase::Import)
    return "compile the model again to change it";
  return "give it for the dump of " + std::string(folderOf(before(reader))) +
         ", with --start-at " + std::string(folderOf(reader)) +
         (before(reader) == Phase::Import ? "" : ", or for an earlier dump");
}

/// Returns the error for a changed option that can no longer take effect. The
/// option `name` has the value `value` in this call of pcc, and the value
/// `before` in the dump from which pcc continues (null if the option was not
/// given). A phase that has run before the dump has read the option.
static Status contradicts(const std::string &name, const std::string &value,
                          StringAttr before) {
  const std::string had =
      before ? "'" + before.str() + "'" : std::string("nothing");
  const Phase reader = rowOf(name).firstReader;
  const std::string cause =
      reader == Phase::Import
          ? ""
          : "phase " + std::string(folderOf(reader)) + " has read it; ";
  return Status::error(WrongUsage,
                       "option " + name + " is '" + value +
                           "', but the phases before this dump were run with " +
                           had,
                       {cause + remedyText(reader)});
}

/// Compares the options of this call of pcc with the options of an earlier
/// call, which has written the dump `module` and its attribute `pcc.options`.
/// Adds each option with another value to `changed`, as text. Returns an error
/// if one of the phases up to `passed` has already read such an option: the
/// error of checkAllOptions() or checkPresets() if no phase could meet the
/// request, else one with exit code 2 about the option that is read first. An
/// option that the earlier call lacked does not differ if it has its default
/// value, such as --tp 1. Ignores options that do not change the result of a
/// compilation, such as --quiet.
static Status findChanges(ModuleOp module, const CompileOptions &options,
                          Phase passed, OptionTexts &changed) {
  auto recorded = module->getAttrOfType<DictionaryAttr>(optionsName);
  Status late;
  Phase reader = after(passed);
  for (auto &[name, value] : recordedTextsOf(options)) {
    auto before = recorded ? recorded.getAs<StringAttr>(name) : StringAttr();
    if (before ? before.getValue() == value
               : !value.empty() && value == defaultOf(module, name, options))
      continue;
    changed[name] = value;
    if (rowOf(name).firstReader >= reader)
      continue;
    reader = rowOf(name).firstReader;
    late = contradicts(name, value, before);
  }
  if (late.ok())
    return late;
  const CompileOptions merged = mergedOptions(module, options);
  PCC_RETURN_IF_ERROR(checkAllOptions(merged));
  PCC_RETURN_IF_ERROR(checkPresets(options, meshOf(merged, dist::Mesh())));
  return late;
}

/// Checks the pipeline schedule (--schedule) that the user gives when pcc
/// continues from the dump `module`. Phase 3-place has already cut the model
/// into stages, with a fixed number of stages per pipeline rank. Returns an
/// error with exit code 2 if the schedule needs another number.
static Status checkCutStages(ModuleOp module, const CompileOptions &given) {
  const int64_t needed = numVirtualStages(given);
  auto cut = module->getAttrOfType<IntegerAttr>(pipe::virtualStagesName);
  if (!cut || cut.getInt() == needed)
    return Status::success();
  return Status::error(WrongUsage,
                       "--schedule " + given.schedule + " needs " +
                           counted(needed, "stage") +
                           " per pipeline rank, but phase 3-place has cut " +
                           std::to_string(cut.getInt()),
                       {remedyText(Phase::Place)});
}

/// Stores the options in `changed` in the dump `module`. Their values differ
/// from those in the dump, and no phase up to `passed` has read them. `options`
/// has all options of this call.
static Status recordChanges(ModuleOp module, const CompileOptions &options,
                            Phase passed, const OptionTexts &changed) {
  const auto isChanged = [&](std::initializer_list<const char *> names) {
    return llvm::any_of(names,
                        [&](const char *name) { return changed.count(name); });
  };
  CompileOptions merged = mergedOptions(module, options);
  if (passed >= Phase::Place) {
    if (isChanged({"--schedule"}))
      PCC_RETURN_IF_ERROR(checkCutStages(module, merged));
    merged.virtualStages = pipe::countOf(module, pipe::virtualStagesName);
  }
  PCC_RETURN_IF_ERROR(checkAllOptions(merged));
  if (changed.empty())
    return Status::success();
  PCC_RETURN_IF_ERROR(checkAgainstModel(module, options));
  const dist::Mesh mesh = meshOf(merged, dist::Mesh());
  PCC_RETURN_IF_ERROR(checkPresets(options, mesh));
  // The mesh of a dump also has the axis pp, which phase 3-place adds again.
  if (isChanged({"--tp", "--dp", "--cp", "--ep", "--mesh", "--microbatches",
                 "--pp", "--virtual-stages"}))
    module->setAttr(dist::meshName,
                    dist::MeshAttr::get(module.getContext(), mesh));
  if (isChanged({"--preset"}))
    module->removeAttr(pipe::maxHeldBytesName);
  if (isChanged({"--pp", "--virtual-stages", "--schedule", "--microbatches",
                 "--stage-at"}))
    PCC_RETURN_IF_ERROR(recordPipeline(module, merged));
  // Phase 2-prepare is the first phase that reads the training options. If it
  // has not run yet, no phase depends on their old values, and their attribute
  // may be overwritten.
  if (passed < Phase::Prepare)
    recordTraining(module, merged);
  CompileOptions values = options;
  values.axes = merged.axes;
  recordValues(module, values);
  recordTexts(module, changed);
  return Status::success();
}

/// Sets `graph.root`, the directory of weight files, to the folder of the model
/// file. Does nothing if `graph.root` is already set.
static void recordRoot(ModuleOp module, StringRef model) {
  SmallString<128> root;
  StringRef folder = llvm::sys::path::parent_path(model);
  if (module->hasAttr(graph::rootName) ||
      llvm::sys::fs::real_path(folder.empty() ? "." : folder, root))
    return;
  module->setAttr(graph::rootName, StringAttr::get(module.getContext(), root));
}

/// Checks that a dump of an inference has the schedule "forward". If not,
/// returns an error with exit code 3.
static Status checkInferenceSchedule(ModuleOp module) {
  auto schedule = module->getAttrOfType<StringAttr>(pipe::scheduleName);
  if (!schedule || schedule == "forward" ||
      module->hasAttr(graph::trainingName))
    return Status::success();
  return Status::error(CannotRead,
                       "attribute '" + pipe::scheduleName.str() + "' is \"" +
                           schedule.str() +
                           "\", but the module does not train, which needs "
                           "\"forward\"");
}

/// Returns the error that a dump of phase `passed` does not start at phase
/// `asked`. `dumpOf` says which dump it is.
static Status doesNotStart(Phase asked, Phase passed,
                           const std::string &dumpOf) {
  const std::string claim = "--start-at " + std::string(folderOf(asked));
  std::vector<std::string> notes;
  if (passed != Phase::None && passed != lastPhase)
    notes.push_back("it goes on with --start-at " +
                    std::string(folderOf(after(passed))));
  if (asked != Phase::Import)
    notes.push_back(claim + " takes the dump of " +
                    std::string(folderOf(before(asked))));
  return Status::error(WrongUsage, claim + " does not fit: " + dumpOf, notes);
}

Status pcc::resumeFromDump(ModuleOp module, const CompileOptions &options) {
  auto recorded = module->getAttrOfType<IntegerAttr>(phaseName);
  if (recorded && (recorded.getInt() < 1 ||
                   recorded.getInt() > static_cast<int64_t>(lastPhase)))
    return Status::error(CannotRead, "'" + phaseName.str() + "' names phase " +
                                         std::to_string(recorded.getInt()) +
                                         ", which does not exist");
  Phase passed = phaseOf(module);
  if (passed == Phase::None && module->hasAttr(optionsName))
    return Status::error(CannotRead, "the module has '" + optionsName.str() +
                                         "' but lacks '" + phaseName.str() +
                                         "': it is neither a model nor a dump");
  std::string dumpOf =
      "'" + options.model + "' is a dump of " +
      (passed == Phase::None ? "no phase" : std::string(folderOf(passed)));
  if (options.startAt && *options.startAt != after(passed))
    return doesNotStart(*options.startAt, passed, dumpOf);
  if (options.stopAfter && *options.stopAfter < passed)
    return Status::error(WrongUsage,
                         "--stop-after " +
                             std::string(folderOf(*options.stopAfter)) +
                             " does not fit: " + dumpOf);
  if (passed != Phase::None) {
    PCC_RETURN_IF_ERROR(checkRecord(module));
    PCC_RETURN_IF_ERROR(checkInferenceSchedule(module));
    OptionTexts changed;
    PCC_RETURN_IF_ERROR(findChanges(module, options, passed, changed));
    return recordChanges(module, options, passed, changed);
  }
  PCC_RETURN_IF_ERROR(checkAllOptions(options));
  if (!options.dims.empty() || !options.shapes.empty())
    return Status::error(WrongUsage,
                         "'" + options.model + "' has no dynamic dims to bind");
  if (!options.configuration.empty() && options.configuration != "none")
    return Status::error(CannotMeet, "the model has no device configuration '" +
                                         options.configuration + "'");
  PCC_RETURN_IF_ERROR(
      checkWeightNames(module, /*others=*/{}, options.training));
  recordRoot(module, options.model);
  return recordOptions(module, options);
}

/// Returns the sizes in `text`, the recorded value of the option --shape or
/// --dim. The value of --shape has the letter x between two sizes: the text
/// "4x16" gives the sizes 4 and 16. The value of --dim is one size: the text
/// "8" gives the size 8.
static std::vector<int64_t> parseSizes(StringRef text) {
  std::vector<int64_t> sizes;
  SmallVector<StringRef> parts;
  text.split(parts, 'x', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts)
    if (int64_t size; !part.getAsInteger(10, size))
      sizes.push_back(size);
  return sizes;
}

Status pcc::restoreImportOptions(ModuleOp module, CompileOptions &options) {
  auto file = module->getAttrOfType<StringAttr>(graph::modelName);
  auto root = module->getAttrOfType<StringAttr>(graph::rootName);
  if (!file || !root)
    return Status::error(
        CannotRead, "the dump does not name the model that it was made from");
  options.model = (root.getValue() + "/" + file.getValue()).str();
  options.transformer.clear();
  // The imported model must be unpartitioned. The ONNX file may have
  // annotations that assign its nodes and tensors to devices. With
  // --configuration none, the import ignores these annotations.
  options.configuration = "none";
  if (auto seed = module->getAttrOfType<IntegerAttr>(rank::randomWeightsName))
    options.randomWeights = seed.getInt();
  restoreTrainingOptions(module, options);
  if (auto type = module->getAttrOfType<TypeAttr>(graph::precisionName))
    llvm::raw_string_ostream(options.dtype) << type.getValue();
  auto recorded = module->getAttrOfType<DictionaryAttr>(optionsName);
  if (!recorded)
    return Status::success();
  for (NamedAttribute option : recorded) {
    StringRef name = option.getName(), value;
    if (auto text = dyn_cast<StringAttr>(option.getValue()))
      value = text.getValue();
    if (name == "--transformer")
      options.transformer = value.str();
    else if (name.consume_front("--dim ") && !parseSizes(value).empty())
      options.dims[name.str()] = parseSizes(value).front();
    else if (name.consume_front("--shape "))
      options.shapes[name.str()] = parseSizes(value);
  }
  return Status::success();
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
