//===- Inputs.cpp - inputs of a model, from files or random ---------------===//

#include "passes/interpret/elements/Inputs.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/interpret/elements/FileElements.h"
#include "passes/interpret/elements/NpyFiles.h"
#include "passes/interpret/elements/RandomElements.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace pcc;
using graph::HostTensor;

/// Returns a number n for the operand `use` of an op. If the op uses the
/// elements of the operand as indices, these elements are valid if each of them
/// is in [0, n). Example: a gather selects rows of a table with 32000 rows.
/// `use` is the operand of the gather that contains the row numbers. The result
/// is 32000.
///
/// Some ops, such as gather_nd, use several elements of the operand together to
/// index several dims. If these dims have the sizes 32000 and 768, the result
/// is the smallest size, 768. Returns nullopt if the op does not use the
/// elements of the operand as indices.
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

/// Sets `tensor` to random elements for the model input `name`, which has no
/// file. `argument` is the argument of the model's function that receives the
/// input. There are three kinds of elements:
///
///  - Floats are uniform in [-1, 1).
///  - Integers that ops use as indices are valid indices. For example, token
///    ids that select rows of a table [32000, 768] are in [0, 32000).
///  - All other integers and all booleans are 0 or 1.
///
/// Returns an error if .npy files cannot hold the element type of the input.
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
  for (StringRef file : files) {
    auto [name, path] = file.split('=');
    given[name] = path.str();
  }
  for (BlockArgument argument : model.getArguments()) {
    StringRef name = inputName(model, argument.getArgNumber());
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
  return Status::error(BadInput, "the model has no input '" +
                                     given.begin()->first().str() + "'");
}

StringRef interpret::inputName(func::FuncOp function, unsigned argument) {
  return function.getArgAttrOfType<StringAttr>(argument, graph::nameName)
      .getValue();
}
