//===- OptionChecks.cpp - options that contradict each other or the model -===//

#include "passes/options/OptionChecks.h"
#include "dialects/dist/NamePattern.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/options/TrainingOptionAttrs.h"
#include "passes/plan/cluster/Cluster.h"
#include "runtime/base/QuantityText.h"
#include "status/Counted.h"
#include "status/Suggestions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

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
    return Status::error(
        CannotMeet,
        "--ep " + std::to_string(experts) +
            " does not divide dp times cp, which is " + std::to_string(lanes),
        {"it divides --dp " + std::to_string(experts) + ", for instance"});
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

/// Returns whether --mesh may give a mesh axis the name `name`. A name has no
/// '-', which stands for a dim that is not split in shardings such as [tp,-].
static bool isAxisName(llvm::StringRef name) {
  constexpr size_t longest = 64;
  auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; };
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
                                   "'_' and '.', and begins with a letter or "
                                   "'_'");
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

/// Checks that no two of `texts`, such as NAME=VALUE, have different values for
/// the same value of the model. `names` are the names of the model's values.
/// The name in a text may be a glob. Returns an error with exit code 2 that
/// names both texts, else success. `option` is the name of the option, such as
/// "--shard".
static Status checkRepeated(StringRef option, ArrayRef<std::string> texts,
                            std::vector<std::string> names) {
  const auto withoutSpaces = [](StringRef value) {
    std::string text = value.str();
    llvm::erase_if(text, llvm::isSpace);
    return text;
  };
  for (StringRef text : texts)
    names.push_back(text.rsplit('=').first.str());
  for (const std::string &name : names) {
    StringRef taken;
    for (StringRef text : texts) {
      if (!dist::matchesName(text.rsplit('=').first, name))
        continue;
      if (!taken.empty() && withoutSpaces(taken.rsplit('=').second) !=
                                withoutSpaces(text.rsplit('=').second))
        return Status::error(WrongUsage, option.str() + " '" + taken.str() +
                                             "' and '" + text.str() +
                                             "' contradict each other for '" +
                                             name + "'");
      taken = text;
    }
  }
  return Status::success();
}

/// Returns the names that --shard can name: those of weights, of inputs and
/// outputs of @main, and of the results of its ops.
static std::vector<std::string> namesOfValues(ModuleOp module) {
  std::vector<std::string> names;
  const auto add = [&](Attribute name) {
    if (auto text = dyn_cast_or_null<StringAttr>(name))
      names.push_back(text.str());
  };
  for (auto weight : module.getOps<graph::ParameterOp>())
    add(weight.getSymNameAttr());
  auto model = module.lookupSymbol<func::FuncOp>("main");
  if (!model)
    return names;
  for (unsigned i = 0; i < model.getNumArguments(); ++i)
    add(model.getArgAttr(i, graph::nameName));
  for (unsigned i = 0; i < model.getNumResults(); ++i)
    add(model.getResultAttr(i, graph::nameName));
  model.walk([&](Operation *op) { add(op->getAttr(graph::nameName)); });
  return names;
}

Status pcc::checkAllOptions(const CompileOptions &options) {
  PCC_RETURN_IF_ERROR(checkCluster(options));
  PCC_RETURN_IF_ERROR(checkTarget(options));
  PCC_RETURN_IF_ERROR(checkTraining(options));
  constexpr uint64_t mostRanks = 65536;
  if (uint64_t world = worldOf(options); world > mostRanks)
    return Status::error(WrongUsage, "a world of " + counted(world, "rank") +
                                         " is more than " +
                                         std::to_string(mostRanks));
  PCC_RETURN_IF_ERROR(checkMesh(options));
  PCC_RETURN_IF_ERROR(checkRepeated("--batch-dim", options.batchDims, {}));
  PCC_RETURN_IF_ERROR(checkRepeated("--shard", options.shards, {}));
  return checkExperts(options);
}

Status pcc::checkOptions(const CompileOptions &options) {
  if (llvm::sys::path::extension(options.model) == ".mlir")
    return Status::success();
  return checkAllOptions(options);
}

Status pcc::checkPresets(const CompileOptions &options,
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

Status pcc::checkAgainstModel(ModuleOp module, const CompileOptions &options) {
  PCC_RETURN_IF_ERROR(checkBatchDims(module, options));
  if (options.shards.size() > 1)
    PCC_RETURN_IF_ERROR(
        checkRepeated("--shard", options.shards, namesOfValues(module)));
  return checkTf32(module, options);
}
