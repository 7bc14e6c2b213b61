//===- Inputs.cpp - what a model is run on --------------------------------===//

#include "passes/interpret/Inputs.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/interpret/Npy.h"
#include "passes/interpret/RandomTensor.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace pcc;
using graph::HostTensor;

/// The size that bounds `use` as an index, if it is one.
static std::optional<int64_t> tableOf(OpOperand &use) {
  Operation *op = use.getOwner();
  auto size = [](Value table, int64_t dim) {
    return graph::tensorType(table).getDimSize(dim);
  };
  if (use.getOperandNumber() != 1)
    return {};
  if (auto gather = dyn_cast<graph::GatherOp>(op))
    return size(gather.getData(), gather.getDim());
  if (auto gather = dyn_cast<graph::GatherElementsOp>(op))
    return size(gather.getData(), gather.getDim());
  if (auto scatter = dyn_cast<graph::ScatterElementsOp>(op))
    return size(scatter.getData(), scatter.getDim());
  if (auto gather = dyn_cast<graph::GatherNdOp>(op))
    return size(gather.getData(), gather.getBatchDims());
  return {};
}

std::optional<int64_t> interpret::tableSize(Value value) {
  std::optional<int64_t> smallest;
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i)
    for (OpOperand &use : reached[i].getUses()) {
      if (auto size = tableOf(use))
        smallest = std::min(smallest.value_or(*size), *size);
      else if (isa<graph::CastOp, graph::ReshapeOp, graph::TransposeOp,
                   graph::BroadcastOp, graph::SliceOp, graph::ConcatOp,
                   graph::SelectOp>(use.getOwner()))
        reached.insert(use.getOwner()->getResult(0));
    }
  return smallest;
}

FailureOr<llvm::StringMap<HostTensor>>
interpret::makeInputs(func::FuncOp model, ArrayRef<std::string> files,
                      std::string &error) {
  llvm::StringMap<std::string> given;
  for (StringRef file : files) {
    auto [name, path] = file.split('=');
    given[name] = path.str();
  }
  llvm::StringMap<HostTensor> inputs;
  for (BlockArgument argument : model.getArguments()) {
    auto name = model.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                   "graph.name");
    RankedTensorType type = graph::tensorType(argument);
    auto path = given.find(name.getValue());
    if (path == given.end()) {
      inputs[name.getValue()] =
          randomTensor(type, llvm::xxh3_64bits(name.getValue()),
                       tableSize(argument).value_or(2));
      continue;
    }
    auto tensor = readNpy(path->second, type, error);
    if (failed(tensor)) {
      error = "input '" + name.str() + "': " + error;
      return failure();
    }
    inputs[name.getValue()] = std::move(*tensor);
    given.erase(path);
  }
  if (!given.empty()) {
    error = "the model has no input '" + given.begin()->first().str() + "'";
    return failure();
  }
  return inputs;
}
