//===- read-fuzzer.cpp - any bytes are a model or an error ----------------===//
//
//   onnx-read-seeds CORPUS && onnx-read-fuzzer CORPUS
//
//===----------------------------------------------------------------------===//

#include "passes/1-import/onnx/ExternalData.h"
#include "passes/1-import/onnx/ReadModel.h"

#include <set>

using namespace pcc;
using namespace pcc::onnx;

namespace {

/// Stops the process if a model violates a guarantee of readModel.
void require(bool promise) {
  if (!promise)
    __builtin_trap();
}

using Names = std::set<std::string_view>;

void requireTensor(const Tensor &tensor) {
  const auto size = byteSize(tensor.dataType, tensor.dims);
  require(numElements(tensor.dims).has_value());
  require(tensor.external || !size || tensor.raw.size() == *size);
}

void requireGraph(const Graph &graph, Names names);

void requireNode(const Node &node, Names &names) {
  require(!node.opType.empty() && node.opset > 0);
  for (std::string_view input : node.inputs)
    require(input.empty() || names.count(input));
  for (const Attribute &attribute : node.attributes) {
    require(attribute.refAttrName.empty());
    require(attribute.type != AttributeType::Tensor ||
            attribute.tensors.size() == 1);
    require(attribute.type != AttributeType::Graph ||
            attribute.graphs.size() == 1);
    for (const Tensor &tensor : attribute.tensors)
      requireTensor(tensor);
    for (const Graph &graph : attribute.graphs)
      requireGraph(graph, names);
  }
  for (std::string_view output : node.outputs)
    require(output.empty() || names.insert(output).second);
}

/// Checks a graph. `names` are those that enclosing graphs define before it.
void requireGraph(const Graph &graph, Names names) {
  Names inputs;
  for (const ValueInfo &input : graph.inputs) {
    require(names.insert(input.name).second);
    inputs.insert(input.name);
  }
  for (const Tensor &tensor : graph.initializers) {
    requireTensor(tensor);
    require(names.insert(tensor.name).second || inputs.count(tensor.name));
  }
  for (const SparseTensor &tensor : graph.sparseInitializers)
    names.insert(tensor.values.name);
  for (const Node &node : graph.nodes)
    requireNode(node, names);
  for (const ValueInfo &output : graph.outputs)
    require(names.count(output.name));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char *>(data), size);
  ReadLimits limits;
  limits.messages = 1 << 14;
  const StatusOr<Model> model = readModelFromBytes(bytes, "fuzz.onnx", limits);
  if (!model) {
    require(!model.status().message().empty());
    require(model.status().message().find('\n') == std::string::npos);
    return 0;
  }
  requireGraph(model->graph, {});
  ExternalData external("/nonexistent/fuzz.onnx",
                        {.extraRoot = {}, .allowAbsent = true});
  for (const Tensor &tensor : model->graph.initializers)
    if (const auto found = external.resolve(*model, tensor); found)
      require(found->path.find("..") == std::string::npos || !tensor.external ||
              tensor.external->location.find("..") != std::string_view::npos);
  return 0;
}
