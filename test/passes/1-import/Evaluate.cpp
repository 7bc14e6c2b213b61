//===- Evaluate.cpp - runs an imported module on the host -----------------===//

#include "test/passes/1-import/Evaluate.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/1-import/Import.h"
#include "passes/1-import/build/DenseElements.h"
#include "test/dialects/graph/reference/EvaluateOn.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <fstream>
#include <map>

using namespace mlir;
using namespace pcc::graph;

namespace {
class Evaluation {
public:
  Evaluation(ModuleOp module, std::string directory,
             std::vector<std::string> &arguments)
      : module(module), directory(std::move(directory)), arguments(arguments) {}

  std::string run() {
    auto main = module.lookupSymbol<func::FuncOp>("main");
    for (BlockArgument argument : main.getArguments())
      readArgument(argument);
    for (Operation &op : main.getBody().front()) {
      if (auto end = dyn_cast<func::ReturnOp>(op))
        writeResults(end);
      else if (auto read = dyn_cast<GetParameterOp>(op))
        readParameter(read);
      else
        evaluateOp(op);
      if (!error.empty())
        return error;
    }
    return {};
  }

private:
  std::string path(const char *stem, unsigned i, const char *suffix) const {
    return directory + "/" + stem + std::to_string(i) + suffix;
  }

  static std::string bytesOf(const std::string &file, uint64_t offset,
                             uint64_t length) {
    std::ifstream in(file, std::ios::binary);
    in.seekg(offset);
    std::string bytes(length, '\0');
    in.read(bytes.data(), length);
    return bytes;
  }

  void readArgument(BlockArgument argument) {
    HostTensor tensor = HostTensor::zeros(tensorType(argument));
    std::string bytes = bytesOf(path("in", argument.getArgNumber(), ".bin"), 0,
                                tensor.numElements() * 8);
    if (tensor.kind == ElementKind::Float)
      std::memcpy(tensor.floats.data(), bytes.data(), bytes.size());
    else
      std::memcpy(tensor.ints.data(), bytes.data(), bytes.size());
    values[argument] = std::move(tensor);
    arguments.push_back(std::move(bytes));
  }

  void readParameter(GetParameterOp read) {
    auto parameter = module.lookupSymbol<ParameterOp>(read.getParameter());
    WeightAttr weight = parameter.getWeightAttr();
    auto root = module->getAttrOfType<StringAttr>(rootName);
    std::string bytes =
        bytesOf((root.getValue() + "/" + weight.getFile().getValue()).str(),
                weight.getOffset(), weight.getLength());
    values[read] =
        toHost(pcc::onnx_import::elementsFromBytes(weight.getStored(), bytes));
  }

  void evaluateOp(Operation &op) {
    if (failed(evaluateOn(values, op, Numerics::Model, error)))
      error = op.getName().getStringRef().str() + ": " + error;
  }

  void writeResults(func::ReturnOp end) {
    for (auto [i, value] : llvm::enumerate(end.getOperands())) {
      const HostTensor &tensor = values.at(value);
      std::ofstream out(path("out", i, ".bin"), std::ios::binary);
      bool real = tensor.kind == ElementKind::Float;
      out.write(real ? reinterpret_cast<const char *>(tensor.floats.data())
                     : reinterpret_cast<const char *>(tensor.ints.data()),
                tensor.numElements() * 8);
      std::string type;
      llvm::raw_string_ostream(type) << value.getType();
      std::ofstream(path("out", i, ".txt")) << type;
    }
  }

  struct Less {
    bool operator()(Value a, Value b) const {
      return a.getAsOpaquePointer() < b.getAsOpaquePointer();
    }
  };

  ModuleOp module;
  std::string directory, error;
  std::vector<std::string> &arguments;
  std::map<Value, HostTensor, Less> values;
};
} // namespace

std::string evaluateModule(ModuleOp module, const std::string &directory,
                           std::vector<std::string> &arguments) {
  return Evaluation(module, directory, arguments).run();
}
