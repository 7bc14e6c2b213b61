//===- DumpWeights.cpp - weight files that a .mlir file may refer to ------===//

#include "passes/driver/DumpWeights.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pcc/PccDialect.h"
#include "passes/1-import/onnx/ExternalData.h"
#include "runtime/base/MissingFile.h"
#include "runtime/program/Program.h"
#include "runtime/program/WeightFile.h"
#include "status/Counted.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

#include <filesystem>
#include <map>
#include <set>

using namespace mlir;
using namespace pcc;
namespace fs = std::filesystem;

/// Returns the parameters of `module` whose weights are bytes of a file.
static auto storedParameters(ModuleOp module) {
  return llvm::make_filter_range(
      module.getOps<graph::ParameterOp>(), [](graph::ParameterOp parameter) {
        graph::WeightAttr weight = parameter.getWeightAttr();
        return weight && !weight.isAbsent();
      });
}

/// Returns the names of the weight files of the module, each once.
static std::set<std::string> namesOf(ModuleOp module) {
  std::set<std::string> names;
  for (graph::ParameterOp parameter : storedParameters(module))
    names.insert(parameter.getWeightAttr().getFile().str());
  return names;
}

/// Returns the path of a weight file of `module`. A weight file is a file with
/// the elements of weights. The attribute `graph.root` of `module` contains the
/// directory of the weight files. If the attribute is absent, the directory is
/// ".". `name` is the path of the weight file relative to this directory. For
/// example, the result is "/models/w.bin" if the directory is "/models" and
/// `name` is "w.bin".
static std::string pathOf(ModuleOp module, const std::string &name) {
  auto root = module->getAttrOfType<StringAttr>(graph::rootName);
  return (root ? root.str() : std::string(".")) + "/" + name;
}

/// Computes a text that identifies the content of the weight file at `path`,
/// and stores the text in `fingerprint`. The text consists of the size of the
/// file in bytes and a hash. The hash covers only samples of the file, because
/// a weight file may be large: at most 16 blocks, each of at most 4096 bytes.
/// Returns an error if the file cannot be read.
static Status takeFingerprint(const std::string &path,
                              std::string &fingerprint) {
  program::WeightFileT file;
  PCC_RETURN_IF_ERROR(runtime::describeWeightFile(path, file));
  std::string facts;
  for (const program::PageHash &page : file.pages)
    facts += std::to_string(page.offset()) + " " + std::to_string(page.hash()) +
             "\n";
  const auto hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(facts));
  fingerprint = std::to_string(file.size) + " " +
                llvm::toHex(ArrayRef(hash).take_front(16), /*LowerCase=*/true);
  return Status::success();
}

Status pcc::recordWeightFiles(ModuleOp module) {
  Builder builder(module.getContext());
  SmallVector<NamedAttribute> recorded;
  for (const std::string &name : namesOf(module)) {
    std::error_code error;
    if (!fs::exists(pathOf(module, name), error))
      continue;
    std::string fingerprint;
    PCC_RETURN_IF_ERROR(takeFingerprint(pathOf(module, name), fingerprint));
    recorded.push_back(
        builder.getNamedAttr(name, builder.getStringAttr(fingerprint)));
  }
  if (!recorded.empty())
    module->setAttr(weightFilesName, builder.getDictionaryAttr(recorded));
  return Status::success();
}

/// Returns an error unless the weight file at `path` has the size and hash in
/// `recorded`, which recordWeightFiles() has written.
static Status checkUnchanged(const std::string &path, StringRef recorded) {
  std::string fingerprint;
  PCC_RETURN_IF_ERROR(takeFingerprint(path, fingerprint));
  if (recorded == fingerprint)
    return Status::success();
  const std::string before = recorded.split(' ').first.str(),
                    now = StringRef(fingerprint).split(' ').first.str();
  return Status::error(
      CannotRead,
      "weight file '" + path + "' has changed since the dump was made" +
          (before == now
               ? ""
               : ": its size in bytes was " + before + ", now it is " + now),
      {"compile the model again; --external-data-root DIR takes the files in "
       "DIR as they are"});
}

/// Returns an error if pcc must not read the weight file `name` that `module`
/// refers to. If `module` records the size and the hash of the file, the file
/// must still have them, unless the user gives --external-data-root. Otherwise
/// `permitted` must accept the file. A file that does not exist is no error.
static Status checkFile(ModuleOp module, const std::string &name,
                        const onnx::ExternalData &permitted,
                        const CompileOptions &options) {
  const std::string path = pathOf(module, name);
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error)))
    return Status::success();
  auto files = module->getAttrOfType<DictionaryAttr>(weightFilesName);
  auto recorded = files ? files.getAs<StringAttr>(name) : StringAttr();
  Status unchanged =
      recorded ? checkUnchanged(path, recorded.getValue()) : Status::success();
  if (recorded && (unchanged.ok() || options.externalDataRoot.empty()))
    return unchanged;
  Status status = permitted.check(path, path);
  if (status.failed())
    status = status.prefixed("a weight of '" + options.model + "': ")
                 .addNote("nor is it recorded as a file that the dump was made "
                          "from; --external-data-root DIR permits the files in "
                          "DIR");
  return status;
}

void pcc::addWeightFiles(ModuleOp module, runtime::FileClaims &claims) {
  for (const std::string &name : namesOf(module))
    claims.keep("the model has weights in", pathOf(module, name));
}

LogicalResult pcc::checkWeightsExist(ModuleOp module) {
  std::error_code error;
  if (const std::string folder = pathOf(module, "");
      !namesOf(module).empty() && !fs::exists(folder, error))
    return module.emitError("names the folder '")
           << StringRef(folder).drop_back() << "' as " << graph::rootName
           << ", which " << runtime::describeMissing(folder);
  for (graph::ParameterOp parameter : storedParameters(module)) {
    graph::WeightAttr weight = parameter.getWeightAttr();
    const std::string file = weight.getFile().str(),
                      path = pathOf(module, file);
    if (!runtime::isInsideRoot(file))
      return parameter.emitOpError("has a weight in '")
             << file << "', expected a path below " << graph::rootName;
    if (!fs::exists(path, error))
      return parameter.emitOpError("has a weight in '")
             << path << "', which " << runtime::describeMissing(path);
  }
  return success();
}

LogicalResult pcc::checkWeightRanges(ModuleOp module) {
  std::map<std::string, uint64_t> sizes;
  for (graph::ParameterOp parameter : storedParameters(module)) {
    graph::WeightAttr weight = parameter.getWeightAttr();
    const std::string path = pathOf(module, weight.getFile().str());
    auto [size, isNew] = sizes.try_emplace(path, UINT64_MAX);
    // A file that does not exist keeps the largest size: it may be needed by no
    // later phase.
    std::error_code error;
    if (isNew && fs::exists(path, error))
      size->second = fs::file_size(path, error);
    const auto offset = static_cast<uint64_t>(weight.getOffset()),
               length = static_cast<uint64_t>(weight.getLength());
    if (offset > size->second || length > size->second - offset)
      return parameter.emitOpError("has a weight of ")
             << counted(length, "byte") << " at byte " << offset << " of '"
             << path << "', which has " << counted(size->second, "byte");
  }
  return success();
}

Status pcc::checkWeightFiles(ModuleOp module, const CompileOptions &options) {
  if (auto file = module->getAttrOfType<StringAttr>(graph::modelName);
      file && (file.getValue().contains('/') || file.getValue() == ".." ||
               file.getValue().contains('\0')))
    return Status::error(CannotRead, "'" + options.model + "' names '" +
                                         file.str() +
                                         "' as its model, expected the name "
                                         "of a file in graph.root");
  const onnx::ExternalData permitted(
      options.model,
      {options.externalDataRoot, options.randomWeights.has_value()});
  for (const std::string &name : namesOf(module))
    PCC_RETURN_IF_ERROR(checkFile(module, name, permitted, options));
  return Status::success();
}
