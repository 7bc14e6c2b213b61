//===- SettledOptions.cpp - options that dumps can no longer change -------===//

#include "passes/options/SettledOptions.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pcc/PccDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace pcc;

namespace {
/// A module attribute that holds an option, and the last phase that reads it.
struct Row {
  StringLiteral attribute;
  Phase reader;
};
} // namespace

static constexpr Row rows[] = {
    {graph::boundDimsName, Phase::Import},
    {graph::batchDimsName, Phase::Prepare},
    {graph::trainingName, Phase::Prepare},
    {graph::precisionName, Phase::Prepare},
    {pipe::stageAtName, Phase::Place},
    {pipe::stageOfNodesName, Phase::Place},
    {dist::seedsName, Phase::Shard},
    {dist::presetsName, Phase::Shard},
    {dist::expertsName, Phase::Shard},
    {dist::dividedName, Phase::Shard},
    {pipe::scheduleName, Phase::Schedule},
    {pipe::tableName, Phase::Schedule},
    {pipe::recomputeName, Phase::Schedule},
    {pipe::activationBytesName, Phase::Schedule},
    {pipe::maxHeldBytesName, Phase::Schedule},
};

/// Returns a hash of the module attribute `name`; null if it is absent.
static StringAttr hashOf(ModuleOp module, StringRef name) {
  Attribute value = module->getAttr(name);
  if (!value)
    return {};
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return StringAttr::get(module.getContext(),
                         llvm::toHex(llvm::xxh3_64bits(text) & 0xffffffff,
                                     /*LowerCase=*/true));
}

void pcc::settleOptions(ModuleOp module, Phase passed) {
  NamedAttrList hashes;
  for (const Row &row : rows)
    if (StringAttr hash = hashOf(module, row.attribute);
        hash && row.reader <= passed)
      hashes.set(row.attribute, hash);
  if (StringAttr hash = hashOf(module, optionsName))
    hashes.set(optionsName, hash);
  if (!hashes.empty())
    module->setAttr(settledName, hashes.getDictionary(module.getContext()));
}

void pcc::settleRecord(ModuleOp module) {
  NamedAttrList hashes(module->getAttrOfType<DictionaryAttr>(settledName));
  hashes.set(optionsName, hashOf(module, optionsName));
  module->setAttr(settledName, hashes.getDictionary(module.getContext()));
}

Status pcc::checkRecord(ModuleOp module) {
  auto settled = module->getAttrOfType<DictionaryAttr>(settledName);
  Attribute hash = settled ? settled.get(optionsName) : Attribute();
  if (!hash || hash == hashOf(module, optionsName))
    return Status::success();
  return Status::error(
      CannotRead,
      "'" + optionsName.str() +
          "' was changed, but it only tells with which options the dump was "
          "made",
      {"give options on the command line, or change the attribute that an "
       "option has set"});
}

LogicalResult pcc::checkSettled(ModuleOp module, Phase passed) {
  auto settled = module->getAttrOfType<DictionaryAttr>(settledName);
  if (!settled)
    return success();
  for (const Row &row : rows)
    if (row.reader <= passed &&
        hashOf(module, row.attribute) != settled.get(row.attribute))
      return module.emitError()
             << "'" << row.attribute << "' was changed, but "
             << folderOf(row.reader)
             << " has read it; change it in a dump of an earlier phase";
  return success();
}
