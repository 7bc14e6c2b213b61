//===- Inputs.cpp - inputs of a model, from files or random ---------------===//

#include "passes/interpret/elements/Inputs.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/interpret/elements/FileElements.h"
#include "passes/interpret/elements/NpyFiles.h"
#include "passes/interpret/elements/RandomElements.h"
#include "status/Suggestions.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace pcc;
using graph::HostTensor;

/// Returns n if the op of `use` takes the elements of this operand as indices
/// in [0, n), such as row numbers of a table with n rows. If the elements index
/// several dims, n is the smallest size. Returns nullopt for any other operand.
static std::optional<int64_t> tableOf(OpOperand &use) {
  auto indexed = dyn_cast<graph::IndexedOpInterface>(use.getOwner());
  if (!indexed || use.getOperandNumber() != 1 ||
      indexed.getIndices() != use.get() || indexed.getIndexedSizes().empty())
    return {};
  const auto sizes = indexed.getIndexedSizes();
  return *llvm::min_element(sizes);
}

std::optional<int64_t> interpret::tableSize(Value value) {
  std::optional<int64_t> smallest;
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i)
    for (OpOperand &use : reached[i].getUses()) {
      if (auto size = tableOf(use))
        smallest = std::min(smallest.value_or(*size), *size);
      else if (use.getOwner()->hasTrait<graph::IsLayout>() ||
               isa<graph::CastOp, graph::SelectOp>(use.getOwner()))
        reached.insert(use.getOwner()->getResult(0));
    }
  return smallest;
}

/// Seed of the random values for inputs without a file.
static constexpr uint64_t inputSeed = 1;

/// Sets `tensor` to random elements for the model input `name`: floats in [-1,
/// 1), valid indices if ops use the input as indices, and 0 or 1 for other
/// integers and booleans. Returns an error if .npy files cannot hold the
/// element type.
static Status drawInput(BlockArgument argument, StringRef name,
                        HostTensor &tensor) {
  RankedTensorType type = graph::tensorType(argument);
  auto stored = interpret::fileTypeOf(type.getElementType());
  if (!stored)
    return Status::error(Unsupported,
                         ".npy files cannot hold elements of its type");
  tensor = interpret::randomElements(
      runtime::randomInput(inputSeed, name.str(), *stored,
                           interpret::tableSize(argument).value_or(2)),
      type.getShape());
  return Status::success();
}

Status interpret::makeInputs(func::FuncOp model, ArrayRef<std::string> files,
                             Inputs &inputs) {
  llvm::StringMap<std::string> given;
  std::vector<std::string> names;
  for (StringRef file : files) {
    auto [name, path] = file.split('=');
    given[name] = path.str();
  }
  for (BlockArgument argument : model.getArguments()) {
    StringRef name = inputName(model, argument.getArgNumber());
    names.push_back(name.str());
    auto path = given.find(name);
    HostTensor &tensor = inputs[name];
    Status status =
        path == given.end()
            ? drawInput(argument, name, tensor)
            : readNpy(path->second, graph::tensorType(argument), tensor);
    if (status.failed())
      return Status::error(status.code(),
                           "input '" + name.str() + "': " + status.message());
    given.erase(name);
  }
  if (given.empty())
    return Status::success();
  const std::string other = given.begin()->first().str();
  return Status::error(BadInput, "the model has no input '" + other + "'" +
                                     nearestOf(other, names));
}

StringRef interpret::inputName(func::FuncOp function, unsigned argument) {
  return function.getArgAttrOfType<StringAttr>(argument, graph::nameName)
      .getValue();
}
