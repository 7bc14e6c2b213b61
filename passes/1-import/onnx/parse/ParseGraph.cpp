//===- ParseGraph.cpp - parser of models, graphs, nodes and functions -----===//

#include "passes/1-import/onnx/parse/ModelParser.h"

#include "passes/1-import/onnx/model/MessageText.h"

using namespace pcc::onnx;

/// Returns the name under which pcc stores the op domain `domain`. The domain
/// of ONNX's standard ops has two names in ONNX files, "" and "ai.onnx". pcc
/// uses the name "", so the result for "ai.onnx" is "". The function returns
/// every other name unchanged.
static std::string_view standardDomain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

/// Parses a ModelProto. Throws a WireError if the IR version, the graph or the
/// opsets are missing, as in a truncated file.
void ModelParser::model(std::string_view message, Model &model) {
  NestingLevel level(*this);
  bool hasGraph = false;
  for (WireReader wire(message); wire.next();) {
    hasGraph |= wire.field() == 7;
    insideField = true;
    modelField(wire, model);
    insideField = false;
  }
  if (!versionSeen)
    throw WireError{"it has no IR version"};
  if (model.irVersion < 1)
    throw InvalidMessage{"the IR version is " +
                         std::to_string(model.irVersion)};
  if (!hasGraph)
    throw WireError{"it has no graph", /*endsEarly=*/true};
  if (model.opsets.empty())
    throw InvalidMessage{"it imports no opset: opset_import is missing, or the "
                         "file is cut off before it"};
}

/// Parses one field of a ModelProto, the message that holds a whole ONNX model.
/// The field is the current field of `wire`: the field that `wire` decoded
/// last. Stores the value of the field in `model`. Each field has a number in
/// the file onnx.proto. Example: the field graph of a ModelProto has the number
/// 7, so `case 7` of the switch statement parses the graph. The other functions
/// in this source file use numbers of fields, too.
void ModelParser::modelField(const WireReader &wire, Model &model) {
  switch (wire.field()) {
  case 1:
    model.irVersion = wire.integer();
    versionSeen = true;
    return;
  case 2:
    model.producerName = wire.bytes();
    return;
  case 3:
    model.producerVersion = wire.bytes();
    return;
  case 4:
    model.domain = wire.bytes();
    return;
  case 5:
    model.modelVersion = wire.integer();
    return;
  case 7:
    graph(wire.bytes(), model.graph);
    return;
  case 8:
    return append(wire, model.opsets, &ModelParser::operatorSet);
  case 14:
    return append(wire, model.metadata, &ModelParser::metadata);
  case 20:
    return append(wire, model.training, &ModelParser::trainingInfo);
  case 25:
    if (model.functions.size() == limits.functions)
      throw InvalidMessage{"there are more than " +
                           std::to_string(limits.functions) + " functions"};
    return append(wire, model.functions, &ModelParser::function);
  case 26:
    return append(wire, model.configurations,
                  &ModelParser::deviceConfiguration);
  default:
    return;
  }
}

void ModelParser::trainingInfo(std::string_view message, TrainingInfo &info) {
  NestingLevel level(*this);
  for (WireReader wire(message); wire.next();) {
    switch (wire.field()) {
    case 1:
      graph(wire.bytes(), info.initialization);
      break;
    case 2:
      graph(wire.bytes(), info.algorithm);
      break;
    case 3:
      append(wire, info.initializationBinding, &ModelParser::metadata);
      break;
    case 4:
      append(wire, info.updateBinding, &ModelParser::metadata);
      break;
    default:
      break;
    }
  }
}

/// Parses a GraphProto, without its quantization annotations and doc strings.
void ModelParser::graph(std::string_view message, Graph &graph) {
  NestingLevel level(*this);
  for (WireReader wire(message); wire.next();) {
    switch (wire.field()) {
    case 1:
      append(wire, graph.nodes, &ModelParser::node);
      graph.nodes.back().index = graph.nodes.size() - 1;
      break;
    case 2:
      graph.name = wire.bytes();
      break;
    case 5:
      append(wire, graph.initializers, &ModelParser::tensor);
      break;
    case 11:
      append(wire, graph.inputs, &ModelParser::valueInfo);
      break;
    case 12:
      append(wire, graph.outputs, &ModelParser::valueInfo);
      break;
    case 13:
      append(wire, graph.valueInfos, &ModelParser::valueInfo);
      break;
    case 15:
      append(wire, graph.sparseInitializers, &ModelParser::sparseTensor);
      break;
    case 16:
      append(wire, graph.metadata, &ModelParser::metadata);
      break;
    default:
      break;
    }
  }
}

/// Parses a NodeProto. A node may omit optional operands and results. In the
/// lists of operands and results, the name "" stands for an omitted one. The
/// method removes each "" at the end of the two lists. Example: the operands
/// ["a", "", "c", "", ""] become ["a", "", "c"].
void ModelParser::node(std::string_view message, Node &node) {
  NestingLevel level(*this);
  for (WireReader wire(message); wire.next();) {
    switch (wire.field()) {
    case 1:
      node.inputs.push_back(wire.bytes());
      break;
    case 2:
      node.outputs.push_back(wire.bytes());
      break;
    case 3:
      node.name = wire.bytes();
      break;
    case 4:
      node.opType = wire.bytes();
      break;
    case 5:
      append(wire, node.attributes, &ModelParser::attribute);
      break;
    case 7:
      node.domain = standardDomain(wire.bytes());
      break;
    case 8:
      node.overload = wire.bytes();
      break;
    case 9:
      append(wire, node.metadata, &ModelParser::metadata);
      break;
    case 10:
      append(wire, node.deviceConfigurations,
             &ModelParser::nodeDeviceConfiguration);
      break;
    default:
      break;
    }
  }
  while (!node.inputs.empty() && node.inputs.back().empty())
    node.inputs.pop_back();
  while (!node.outputs.empty() && node.outputs.back().empty())
    node.outputs.pop_back();
}

/// Parses a FunctionProto, which is the definition of one function of the
/// model. `message` is the encoded FunctionProto. The method stores the
/// definition in `function`. It sets the member `index` of each node of the
/// function to the index of the node in the function, which counts from 0.
void ModelParser::function(std::string_view message, Function &function) {
  NestingLevel level(*this);
  for (WireReader wire(message); wire.next();) {
    switch (wire.field()) {
    case 1:
      function.name = wire.bytes();
      break;
    case 4:
      function.inputs.push_back(wire.bytes());
      break;
    case 5:
      function.outputs.push_back(wire.bytes());
      break;
    case 6:
      function.attributes.push_back(wire.bytes());
      break;
    case 7:
      append(wire, function.nodes, &ModelParser::node);
      function.nodes.back().index = function.nodes.size() - 1;
      break;
    case 9:
      append(wire, function.opsets, &ModelParser::operatorSet);
      break;
    case 10:
      function.domain = standardDomain(wire.bytes());
      break;
    case 11:
      append(wire, function.attributeDefaults, &ModelParser::attribute);
      break;
    case 12:
      append(wire, function.valueInfos, &ModelParser::valueInfo);
      break;
    case 13:
      function.overload = wire.bytes();
      break;
    case 14:
      append(wire, function.metadata, &ModelParser::metadata);
      break;
    default:
      break;
    }
  }
}

void ModelParser::operatorSet(std::string_view message, OperatorSetId &opset) {
  NestingLevel level(*this);
  for (WireReader wire(message); wire.next();) {
    if (wire.field() == 1)
      opset.domain = standardDomain(wire.bytes());
    else if (wire.field() == 2)
      opset.version = wire.integer();
  }
  if (opset.version < 1)
    throw InvalidMessage{"opset " + quoted(opset.domain) + " has version " +
                         std::to_string(opset.version)};
}

void ModelParser::metadata(std::string_view message, MetadataEntry &entry) {
  NestingLevel level(*this);
  for (WireReader wire(message); wire.next();) {
    if (wire.field() == 1)
      entry.key = wire.bytes();
    else if (wire.field() == 2)
      entry.value = wire.bytes();
  }
}
