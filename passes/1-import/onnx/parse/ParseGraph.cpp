//===- ParseGraph.cpp - models, graphs, nodes and functions ---------------===//

#include "passes/1-import/onnx/parse/Parser.h"

#include "passes/1-import/onnx/model/Error.h"

using namespace pcc::onnx;

/// The two spellings of the standard domain are one.
static std::string_view standardDomain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

void Parser::model(std::string_view message, Model &model) {
  Level level(*this);
  bool hasGraph = false;
  for (Wire wire(message); wire.next();) {
    hasGraph |= wire.field() == 7;
    insideField = true;
    modelField(wire, model);
    insideField = false;
  }
  if (!versionSeen)
    throw WireError{"it has no IR version"};
  if (model.irVersion < 1)
    throw Refusal{"the IR version is " + std::to_string(model.irVersion)};
  if (!hasGraph)
    throw WireError{"it has no graph", /*endsEarly=*/true};
  if (model.opsets.empty())
    throw WireError{"it imports no opset", /*endsEarly=*/true};
}

void Parser::modelField(const Wire &wire, Model &model) {
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
    return append(wire, model.opsets, &Parser::operatorSet);
  case 14:
    return append(wire, model.metadata, &Parser::metadata);
  case 20:
    return append(wire, model.training, &Parser::trainingInfo);
  case 25:
    if (model.functions.size() == limits.functions)
      throw Refusal{"there are more than " + std::to_string(limits.functions) +
                    " functions"};
    return append(wire, model.functions, &Parser::function);
  case 26:
    return append(wire, model.configurations, &Parser::deviceConfiguration);
  default:
    return;
  }
}

void Parser::trainingInfo(std::string_view message, TrainingInfo &info) {
  Level level(*this);
  for (Wire wire(message); wire.next();) {
    switch (wire.field()) {
    case 1:
      graph(wire.bytes(), info.initialization);
      break;
    case 2:
      graph(wire.bytes(), info.algorithm);
      break;
    case 3:
      append(wire, info.initializationBinding, &Parser::metadata);
      break;
    case 4:
      append(wire, info.updateBinding, &Parser::metadata);
      break;
    default:
      break;
    }
  }
}

void Parser::graph(std::string_view message, Graph &graph) {
  Level level(*this);
  for (Wire wire(message); wire.next();) {
    switch (wire.field()) {
    case 1:
      append(wire, graph.nodes, &Parser::node);
      graph.nodes.back().index = graph.nodes.size() - 1;
      break;
    case 2:
      graph.name = wire.bytes();
      break;
    case 5:
      append(wire, graph.initializers, &Parser::tensor);
      break;
    case 11:
      append(wire, graph.inputs, &Parser::valueInfo);
      break;
    case 12:
      append(wire, graph.outputs, &Parser::valueInfo);
      break;
    case 13:
      append(wire, graph.valueInfos, &Parser::valueInfo);
      break;
    case 15:
      append(wire, graph.sparseInitializers, &Parser::sparseTensor);
      break;
    case 16:
      append(wire, graph.metadata, &Parser::metadata);
      break;
    default:
      break;
    }
  }
}

void Parser::node(std::string_view message, Node &node) {
  Level level(*this);
  for (Wire wire(message); wire.next();) {
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
      append(wire, node.attributes, &Parser::attribute);
      break;
    case 7:
      node.domain = standardDomain(wire.bytes());
      break;
    case 8:
      node.overload = wire.bytes();
      break;
    case 9:
      append(wire, node.metadata, &Parser::metadata);
      break;
    case 10:
      append(wire, node.deviceConfigurations, &Parser::nodeDeviceConfiguration);
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

void Parser::function(std::string_view message, Function &function) {
  Level level(*this);
  for (Wire wire(message); wire.next();) {
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
      append(wire, function.nodes, &Parser::node);
      function.nodes.back().index = function.nodes.size() - 1;
      break;
    case 9:
      append(wire, function.opsets, &Parser::operatorSet);
      break;
    case 10:
      function.domain = standardDomain(wire.bytes());
      break;
    case 11:
      append(wire, function.attributeDefaults, &Parser::attribute);
      break;
    case 12:
      append(wire, function.valueInfos, &Parser::valueInfo);
      break;
    case 13:
      function.overload = wire.bytes();
      break;
    case 14:
      append(wire, function.metadata, &Parser::metadata);
      break;
    default:
      break;
    }
  }
}

void Parser::operatorSet(std::string_view message, OperatorSetId &opset) {
  Level level(*this);
  for (Wire wire(message); wire.next();) {
    if (wire.field() == 1)
      opset.domain = standardDomain(wire.bytes());
    else if (wire.field() == 2)
      opset.version = wire.integer();
  }
  if (opset.version < 1)
    throw Refusal{"opset " + quoted(opset.domain) + " has version " +
                  std::to_string(opset.version)};
}

void Parser::metadata(std::string_view message, MetadataEntry &entry) {
  Level level(*this);
  for (Wire wire(message); wire.next();) {
    if (wire.field() == 1)
      entry.key = wire.bytes();
    else if (wire.field() == 2)
      entry.value = wire.bytes();
  }
}
