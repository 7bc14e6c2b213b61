//===- OptionAttrs.cpp - options as attributes of the module --------------===//

#include "passes/options/OptionAttrs.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pcc/PccDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "passes/1-import/Import.h"
#include "passes/6-schedule/UserSchedule.h"
#include "passes/options/MergedOptions.h"
#include "passes/options/OptionText.h"
#include "passes/options/OptionValueAttrs.h"
#include "passes/options/TrainingOptionAttrs.h"
#include "passes/plan/cluster/Cluster.h"
#include "runtime/base/QuantityText.h"
#include "status/Suggestions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace pcc;

/// Returns the number of ranks: the product of the number of stages and the
/// sizes of all mesh axes. Returns the largest uint64_t if the product
/// overflows.
static uint64_t worldOf(const CompileOptions &options) {
  uint64_t world = options.axis("pp");
  for (const char *axis : {"tp", "dp", "cp"})
    if (options.mesh.empty())
      world = llvm::SaturatingMultiply<uint64_t>(world, options.axis(axis));
  for (auto &[name, size] : options.mesh)
    world = llvm::SaturatingMultiply<uint64_t>(world, size);
  return world;
}

/// Checks --ep and the preset `expert`. Both divide the experts of a
/// mixture-of-experts layer into groups, which different ranks along dp and cp
/// hold. Returns an error in these cases:
///
/// - exit code 2: --preset expert together with --mesh
/// - exit code 6: --preset expert with only one group of experts
/// - exit code 6: a number of groups that does not divide dp · cp
static Status checkExperts(const CompileOptions &options) {
  int64_t experts = options.axis("ep");
  int64_t lanes = options.axis("dp") * options.axis("cp");
  if (options.hasPreset("expert") && !options.mesh.empty())
    return Status::error(WrongUsage,
                         "--preset expert and --mesh exclude each other: "
                         "experts are divided over dp and cp");
  if (options.hasPreset("expert") && experts == 1)
    return Status::error(
        CannotMeet, "--preset expert needs ranks: give --ep, --dp or --cp");
  if (lanes % experts != 0)
    return Status::error(CannotMeet,
                         "--ep " + std::to_string(experts) +
                             " does not divide dp times cp, which is " +
                             std::to_string(lanes));
  return Status::success();
}

/// Checks the GPU options --gpu-arch and --tf32. Returns an error with exit
/// code 2 if one of them is given without --target cuda, or --tf32 with a
/// --dtype other than f32.
static Status checkTarget(const CompileOptions &options) {
  if (options.target == "cpu" && !options.gpuArch.empty())
    return Status::error(WrongUsage, "--gpu-arch needs --target cuda");
  if (options.target == "cpu" && options.tf32)
    return Status::error(WrongUsage, "--tf32 needs --target cuda");
  if (options.tf32 && !options.dtype.empty() && options.dtype != "f32")
    return Status::error(WrongUsage,
                         "--tf32 applies to products of f32, but --dtype " +
                             options.dtype + " leaves none");
  return Status::success();
}

/// Checks that the cluster file (--cluster) can be parsed. A cluster file is a
/// TOML file that describes the machines: the speed and the memory of the
/// devices, and the network links. The check succeeds if the user gives no
/// cluster file.
static Status checkCluster(const CompileOptions &options) {
  auto read = plan::parseCluster(options.cluster,
                                 *plan::defaultCluster(options.target));
  return read ? Status::success()
              : read.status().prefixed("--cluster '" + options.clusterFile +
                                       "': ");
}

/// Returns whether --mesh may give a mesh axis the name `name`.
static bool isAxisName(llvm::StringRef name) {
  constexpr size_t longest = 64;
  auto isPart = [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '-' || c == '.';
  };
  return !name.empty() && name.size() <= longest &&
         llvm::all_of(name, isPart) &&
         (llvm::isAlpha(name.front()) || name.front() == '_');
}

/// Checks --mesh. Returns an error with exit code 2 if the name of an axis is
/// malformed, reserved (pp or mb) or given twice. Returns the same exit code if
/// the user gives --tp, --dp, --cp or --ep together with --mesh.
static Status checkMesh(const CompileOptions &options) {
  if (options.mesh.empty())
    return Status::success();
  llvm::StringSet<> names;
  for (auto &[name, size] : options.mesh) {
    const std::string claim = "--mesh names axis '" +
                              llvm::StringRef(name).take_front(64).str() + "'";
    if (!names.insert(name).second)
      return Status::error(WrongUsage, claim + " twice");
    if (!isAxisName(name))
      return Status::error(WrongUsage,
                           claim + ", but a name is up to 64 letters, digits, "
                                   "'_', '-' and '.', and begins with a letter "
                                   "or '_'");
    if (name == "pp" || name == "mb")
      return Status::error(
          WrongUsage, claim + ", which is reserved: --pp sets the stages, and "
                              "--microbatches the parts of the batch");
  }
  for (const char *axis : {"tp", "dp", "cp", "ep"})
    if (options.axes.count(axis))
      return Status::error(
          WrongUsage,
          std::string("--") + axis +
              " and --mesh exclude each other: --mesh names all axes");
  return Status::success();
}

/// Checks the options that can be checked without the model. If pcc continues
/// from a dump, `options` must also contain the options that the dump records.
static Status checkAllOptions(const CompileOptions &options) {
  PCC_RETURN_IF_ERROR(checkCluster(options));
  PCC_RETURN_IF_ERROR(checkTarget(options));
  PCC_RETURN_IF_ERROR(checkTraining(options));
  constexpr uint64_t mostRanks = 65536;
  if (uint64_t world = worldOf(options); world > mostRanks)
    return Status::error(WrongUsage, "a world of " + std::to_string(world) +
                                         " ranks is more than " +
                                         std::to_string(mostRanks));
  PCC_RETURN_IF_ERROR(checkMesh(options));
  return checkExperts(options);
}

Status pcc::checkOptions(const CompileOptions &options) {
  if (llvm::sys::path::extension(options.model) == ".mlir")
    return Status::success();
  return checkAllOptions(options);
}

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

/// Checks that the mesh of a stage has the axes over which each sharding preset
/// (--preset) splits tensors. Returns an error with exit code 6 if an axis is
/// absent or has the size 1. The presets megatron and sequence need the axis
/// tp. The presets fsdp, zero1, zero2 and zero3 need an axis other than tp and
/// the time axis. checkExperts() checks the preset `expert`.
static Status checkPresets(const CompileOptions &options,
                           const dist::Mesh &mesh) {
  const bool hasOwn = llvm::any_of(mesh.axes, [](const dist::Axis &axis) {
    return axis.size > 1 && axis.name != dist::timeAxis && axis.name != "tp";
  });
  for (const std::string &preset : options.presets) {
    const bool ofTensors = preset == "megatron" || preset == "sequence";
    if (preset != "expert" && !(ofTensors ? mesh.sizeOf("tp") > 1 : hasOwn))
      return Status::error(CannotMeet,
                           "--preset " + preset + " needs ranks: give " +
                               (ofTensors ? "--tp" : "--dp or --cp"));
  }
  return Status::success();
}

/// Checks that the model has the input and the dim in each --batch-dim, such as
/// ids=0. If not, returns an error with exit code 2.
static Status checkBatchDims(ModuleOp module, const CompileOptions &options) {
  auto model = module.lookupSymbol<func::FuncOp>("main");
  for (StringRef text : options.batchDims) {
    auto [name, number] = text.rsplit('=');
    int64_t dim = 0;
    number.getAsInteger(10, dim);
    BlockArgument input;
    std::vector<std::string> names;
    for (BlockArgument argument :
         model ? model.getArguments() : Block::BlockArgListType())
      if (auto own = model.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                        graph::nameName)) {
        names.push_back(own.str());
        if (own.getValue() == name)
          input = argument;
      }
    std::string given = "--batch-dim '" + text.str() + "': ";
    if (!input)
      return Status::error(WrongUsage, given + "the model has no input '" +
                                           name.str() + "'" +
                                           nearestOf(name, names));
    auto type = dyn_cast<RankedTensorType>(input.getType());
    if (!type || dim >= type.getRank())
      return Status::error(
          WrongUsage, given + "the input has " +
                          runtime::countText(type ? type.getRank() : 0, "dim"));
  }
  return Status::success();
}

/// Checks that --tf32 has an effect. This option lets GPUs round the operands
/// of f32 matrix products to tf32, a type with fewer bits. Returns an error
/// with exit code 2 if the user gives --tf32 but no op of the model has an f32
/// result. If the user also gives --dtype f32, all models pass the check,
/// because pcc then computes in f32.
static Status checkTf32(ModuleOp module, const CompileOptions &options) {
  if (!options.tf32 || options.dtype == "f32")
    return Status::success();
  const auto computes = module.walk([](Operation *op) {
    return llvm::any_of(
               op->getResultTypes(),
               [](Type type) { return getElementTypeOrSelf(type).isF32(); })
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return computes.wasInterrupted()
             ? Status::success()
             : Status::error(WrongUsage, "--tf32 applies to products of f32, "
                                         "but the model has no f32");
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
  PCC_RETURN_IF_ERROR(checkBatchDims(module, options));
  PCC_RETURN_IF_ERROR(checkTf32(module, options));
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

/// Returns the error for a changed option that can no longer take effect. The
/// option `name` has the value `value` in this call of pcc, and the value
/// `before` in the dump from which pcc continues (null if the option was not
/// given). A phase that has run before the dump has read the option.
static Status contradicts(const std::string &name, const std::string &value,
                          StringAttr before) {
  const std::string had =
      before ? "'" + before.str() + "'" : std::string("nothing");
  const Phase reader = rowOf(name).firstReader;
  const std::string remedy =
      reader == Phase::Import
          ? "compile the model again to change it"
          : "phase " + std::string(folderOf(reader)) +
                " has read it; change it with --start-at " +
                std::string(folderOf(reader)) + " or an earlier phase";
  return Status::error(WrongUsage,
                       "option " + name + " is '" + value +
                           "', but the phases before this dump were run with " +
                           had,
                       {remedy});
}

/// Compares the options of this call of pcc with the options of an earlier
/// call, which has written the dump `module` and its attribute `pcc.options`.
/// Adds each option with another value to `changed`, as text. Returns an error
/// with exit code 2 if one of the phases up to `passed` has already read such
/// an option. An option that the earlier call lacked does not differ if it has
/// its default value, such as --tp 1. Ignores options that do not change the
/// result of a compilation, such as --quiet.
static Status findChanges(ModuleOp module, const CompileOptions &options,
                          Phase passed, OptionTexts &changed) {
  auto recorded = module->getAttrOfType<DictionaryAttr>(optionsName);
  for (auto &[name, value] : recordedTextsOf(options)) {
    auto before = recorded ? recorded.getAs<StringAttr>(name) : StringAttr();
    if (before ? before.getValue() == value
               : !value.empty() && value == defaultOf(module, name, options))
      continue;
    if (rowOf(name).firstReader <= passed)
      return contradicts(name, value, before);
    changed[name] = value;
  }
  return Status::success();
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
  return Status::error(
      WrongUsage,
      "--schedule " + given.schedule + " needs " + std::to_string(needed) +
          " stages per pipeline rank, but phase 3-place has cut " +
          std::to_string(cut.getInt()),
      {"give it with --start-at 3-place or an earlier phase"});
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
  PCC_RETURN_IF_ERROR(checkBatchDims(module, options));
  PCC_RETURN_IF_ERROR(checkTf32(module, options));
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

Status pcc::resumeFromDump(ModuleOp module, const CompileOptions &options) {
  auto recorded = module->getAttrOfType<IntegerAttr>(phaseName);
  if (recorded && (recorded.getInt() < 1 ||
                   recorded.getInt() > static_cast<int64_t>(lastPhase)))
    return Status::error(CannotRead, "'" + options.model +
                                         "' says that it is a dump of phase " +
                                         std::to_string(recorded.getInt()) +
                                         ", which does not exist");
  Phase passed = phaseOf(module);
  if (passed == Phase::None && module->hasAttr(optionsName))
    return Status::error(CannotRead, "'" + options.model + "' has '" +
                                         optionsName.str() + "' but lacks '" +
                                         phaseName.str() +
                                         "': it is neither a model nor a dump");
  std::string dumpOf =
      "'" + options.model + "' is a dump of " +
      (passed == Phase::None ? "no phase" : std::string(folderOf(passed)));
  if (options.startAt && *options.startAt != after(passed))
    return Status::error(
        WrongUsage, "--start-at " + std::string(folderOf(*options.startAt)) +
                        " does not fit: " + dumpOf);
  if (options.stopAfter && *options.stopAfter < passed)
    return Status::error(WrongUsage,
                         "--stop-after " +
                             std::string(folderOf(*options.stopAfter)) +
                             " does not fit: " + dumpOf);
  if (passed != Phase::None) {
    OptionTexts changed;
    PCC_RETURN_IF_ERROR(findChanges(module, options, passed, changed));
    return recordChanges(module, options, passed, changed);
  }
  PCC_RETURN_IF_ERROR(checkAllOptions(options));
  if (!options.dims.empty() || !options.shapes.empty())
    return Status::error(WrongUsage,
                         "'" + options.model + "' has no dynamic dims to bind");
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
    if (name.consume_front("--dim ") && !parseSizes(value).empty())
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
