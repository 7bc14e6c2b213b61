//===- ModelParser.h - parser of the messages of onnx.proto ---------------===//

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

/// The exception that the parser throws for a message that is well-formed but
/// not valid ONNX. parseModel (ReadModel.cpp) turns it into an Error.
struct InvalidMessage {
  std::string message;
};

/// Parses an encoded ModelProto into a Model. The parser has one method per
/// message type of onnx.proto. Each method parses `message` into a struct that
/// is in its initial state, and throws WireError or InvalidMessage. Unknown
/// fields are skipped.
///
/// The parser checks each message by itself. Checks across messages follow in
/// the folder check/.
class ModelParser {
public:
  /// Prepares the parsing of one model. Strings that have to be decoded go to
  /// `storage`. Both arguments must outlive the parser.
  ModelParser(ModelStorage &storage, const ReadLimits &limits)
      : storage(storage), limits(limits) {}

  /// Parses the whole file. Views in `model` refer to `message`.
  void model(std::string_view message, Model &model);
  /// Returns whether an IR version was found, which tells a damaged model from
  /// a file of another kind.
  bool sawVersion() const { return versionSeen; }
  /// Returns, after an error, whether the error is in the contents of a field
  /// of the ModelProto, rather than in the sequence of its fields.
  bool failedInside() const { return insideField; }

private:
  class NestingLevel;

  // ParseGraph.cpp
  /// Parses the current field of a ModelProto.
  void modelField(const WireReader &wire, Model &model);
  void graph(std::string_view message, Graph &graph);
  void trainingInfo(std::string_view message, TrainingInfo &info);
  void node(std::string_view message, Node &node);
  void function(std::string_view message, Function &function);
  void operatorSet(std::string_view message, OperatorSetId &opset);
  void metadata(std::string_view message, MetadataEntry &entry);

  // ParseAttribute.cpp
  void attribute(std::string_view message, Attribute &attribute);
  /// Parses the current field of an AttributeProto, which holds a value or list
  /// entry of type `type`.
  void attributeValue(const WireReader &wire, AttributeType type,
                      Attribute &attribute);

  // ParseType.cpp
  void valueInfo(std::string_view message, ValueInfo &info);
  void type(std::string_view message, Type &type);
  /// Parses the type of a dense or sparse tensor.
  void tensorType(std::string_view message, Type &type);
  /// Parses the type of a sequence, map or optional.
  void nestedType(std::string_view message, TypeKind kind, Type &type);
  void shape(std::string_view message, std::vector<Dim> &dims);
  void dim(std::string_view message, Dim &dim);

  // ParseTensor.cpp
  void tensor(std::string_view message, Tensor &tensor);
  void sparseTensor(std::string_view message, SparseTensor &tensor);
  /// Parses an entry of the list external_data into the member for its key.
  void externalEntry(std::string_view message, ExternalLocation &location);
  /// Converts the elements in typed fields, such as float_data, to
  /// Tensor::raw. `message` is the whole TensorProto.
  void typedElements(std::string_view message, Tensor &tensor);
  /// Throws InvalidMessage unless `tensor` has the guarantees of its struct.
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

  /// Parses the message in the current field into a new last entry of `list`.
  template <typename T>
  void append(const WireReader &wire, std::vector<T> &list,
              void (ModelParser::*read)(std::string_view, T &)) {
    std::string_view message = wire.bytes();
    (this->*read)(message, list.emplace_back());
  }

  ModelStorage &storage;
  const ReadLimits &limits;
  /// Number of messages that enclose the current position.
  int depth = 0;
  /// Number of messages parsed so far.
  uint64_t messages = 0;
  bool versionSeen = false;
  /// Whether a field of the ModelProto is being parsed.
  bool insideField = false;
};

/// RAII object of each parsing method: counts the message, and one level of
/// nesting during the object's lifetime. Throws InvalidMessage beyond the
/// limits, which bounds the recursion of the parser.
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
