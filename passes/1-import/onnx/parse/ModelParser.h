//===- ModelParser.h - decodes the messages of ONNX -----------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_PARSE_MODELPARSER_H
#define PCC_PASSES_1_IMPORT_ONNX_PARSE_MODELPARSER_H

#include "passes/1-import/onnx/model/Model.h"
#include "passes/1-import/onnx/model/ModelStorage.h"
#include "passes/1-import/onnx/model/ReadLimits.h"
#include "passes/1-import/onnx/model/WireReader.h"

#include <string>
#include <string_view>
#include <vector>

namespace pcc::onnx {

/// Thrown by the parser for messages that are no valid ONNX; never leaves
/// parseModel.
struct InvalidMessage {
  std::string message;
};

/// One method per message type, each of which reads `message` into a fresh
/// struct. All throw WireError and InvalidMessage. Field numbers are those of
/// onnx.proto.
class ModelParser {
public:
  ModelParser(ModelStorage &storage, const ReadLimits &limits)
      : storage(storage), limits(limits) {}

  void model(std::string_view message, Model &model);
  /// The IR version was read, so the file began like a model.
  bool sawVersion() const { return versionSeen; }
  /// After an error: it was in a field of the model, not between them.
  bool failedInside() const { return insideField; }

private:
  class NestingLevel;

  // ParseGraph.cpp
  void modelField(const WireReader &wire, Model &model);
  void graph(std::string_view message, Graph &graph);
  void trainingInfo(std::string_view message, TrainingInfo &info);
  void node(std::string_view message, Node &node);
  void function(std::string_view message, Function &function);
  void operatorSet(std::string_view message, OperatorSetId &opset);
  void metadata(std::string_view message, MetadataEntry &entry);

  // ParseAttribute.cpp
  void attribute(std::string_view message, Attribute &attribute);
  void attributeValue(const WireReader &wire, AttributeType type,
                      Attribute &attribute);

  // ParseType.cpp
  void valueInfo(std::string_view message, ValueInfo &info);
  void type(std::string_view message, Type &type);
  void tensorType(std::string_view message, Type &type);
  void nestedType(std::string_view message, TypeKind kind, Type &type);
  void shape(std::string_view message, std::vector<Dim> &dims);
  void dim(std::string_view message, Dim &dim);

  // ParseTensor.cpp
  void tensor(std::string_view message, Tensor &tensor);
  void sparseTensor(std::string_view message, SparseTensor &tensor);
  void externalEntry(std::string_view message, ExternalLocation &location);
  void typedElements(std::string_view message, Tensor &tensor);
  void checkTensor(const Tensor &tensor) const;

  // ParseDevices.cpp
  void deviceConfiguration(std::string_view message,
                           DeviceConfiguration &configuration);
  void nodeDeviceConfiguration(std::string_view message,
                               NodeDeviceConfiguration &configuration);
  void shardingSpec(std::string_view message, ShardingSpec &spec);
  void shardedDim(std::string_view message, ShardedDim &dim);
  void simpleShardedDim(std::string_view message, SimpleShardedDim &dim);
  void deviceGroup(std::string_view message, DeviceGroup &group);

  /// Reads the field's message into a new last entry of `list`.
  template <typename T>
  void append(const WireReader &wire, std::vector<T> &list,
              void (ModelParser::*read)(std::string_view, T &)) {
    std::string_view message = wire.bytes();
    (this->*read)(message, list.emplace_back());
  }

  ModelStorage &storage;
  const ReadLimits &limits;
  int depth = 0;
  uint64_t messages = 0;
  bool versionSeen = false;
  bool insideField = false;
};

/// Counts one message, and one level of nesting while it lives.
class ModelParser::NestingLevel {
public:
  explicit NestingLevel(ModelParser &parser) : parser(parser) {
    if (++parser.depth > parser.limits.depth)
      throw InvalidMessage{"messages are nested more than " +
                           std::to_string(parser.limits.depth) + " deep"};
    if (++parser.messages > parser.limits.messages)
      throw InvalidMessage{"there are more than " +
                           std::to_string(parser.limits.messages) +
                           " messages"};
  }
  ~NestingLevel() { --parser.depth; }
  NestingLevel(const NestingLevel &) = delete;
  NestingLevel &operator=(const NestingLevel &) = delete;

private:
  ModelParser &parser;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_PARSE_MODELPARSER_H
