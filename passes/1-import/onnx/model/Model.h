//===- Model.h - an ONNX file as plain structs ----------------------------===//
//
// Every std::string_view points into the mapped file or into the model's
// ModelStorage, which lives as long as one copy of the Model does. Weight bytes are
// never copied: a tensor that lies in the file is a view of the mapping.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_MODEL_MODEL_H
#define PCC_PASSES_1_IMPORT_ONNX_MODEL_MODEL_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pcc::onnx {

class ModelStorage;
struct Graph;

/// TensorProto.DataType. A file may hold numbers outside of this list.
enum class DataType : int32_t {
  Undefined = 0,
  Float = 1,
  UInt8 = 2,
  Int8 = 3,
  UInt16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  String = 8,
  Bool = 9,
  Float16 = 10,
  Double = 11,
  UInt32 = 12,
  UInt64 = 13,
  Complex64 = 14,
  Complex128 = 15,
  BFloat16 = 16,
  Float8E4M3FN = 17,
  Float8E4M3FNUZ = 18,
  Float8E5M2 = 19,
  Float8E5M2FNUZ = 20,
  UInt4 = 21,
  Int4 = 22,
  Float4E2M1 = 23,
  Float8E8M0 = 24,
  UInt2 = 25,
  Int2 = 26,
};

struct MetadataEntry {
  std::string_view key;
  std::string_view value;
};
using Metadata = std::vector<MetadataEntry>;

/// Where an external tensor says that its bytes lie; numbers as written, empty
/// if absent. ExternalData.h finds the file.
struct ExternalLocation {
  std::string_view location;
  std::string_view offset;
  std::string_view length;
};

/// A constant. Whichever field of the file held the elements, `raw` has them in
/// the layout of raw_data: little endian, row major, 4-bit elements two to a
/// byte with the low nibble first, 2-bit elements four to a byte.
///
/// A tensor of a read model has no negative dim, and unless it is external, of
/// strings or of an unknown type, `raw` has exactly the size that type and dims
/// ask for.
struct Tensor {
  std::string_view name;
  DataType dataType = DataType::Undefined;
  std::vector<int64_t> dims;
  /// Empty if external or of strings.
  std::string_view raw;
  /// Elements of a string tensor, else empty.
  std::vector<std::string_view> strings;
  /// Set if the elements lie in another file.
  std::optional<ExternalLocation> external;
  Metadata metadata;
};

/// Product of the dims, or nothing if a dim is negative or it exceeds 2^63 - 1.
std::optional<uint64_t> numElements(const std::vector<int64_t> &dims);

/// Bits of one element; 0 for strings and unknown types.
unsigned bitWidth(DataType type);

/// "float", "int64", … as in ONNX's text form; "type 77" for an unknown number.
std::string typeName(DataType type);

/// Bytes that `raw` of such a tensor has (4- and 2-bit elements are packed), or
/// nothing if that overflows or the type has no fixed size.
std::optional<uint64_t> byteSize(DataType type,
                                 const std::vector<int64_t> &dims);

struct SparseTensor {
  /// values.name is the name of the sparse tensor.
  Tensor values;
  Tensor indices;
  std::vector<int64_t> dims;
};

/// A dim of a type: a number, a name, or neither. A negative number in the file
/// means unknown.
struct Dim {
  std::optional<int64_t> value;
  std::string_view param;
};

enum class TypeKind { None, Tensor, Sequence, Map, Opaque, Sparse, Optional };

struct Type {
  TypeKind kind = TypeKind::None;
  /// Of a Tensor or Sparse; for Map the type of the keys.
  DataType elementType = DataType::Undefined;
  /// Of a Tensor or Sparse: absent means unknown rank, empty means scalar.
  std::optional<std::vector<Dim>> shape;
  /// One entry for Sequence, Map and Optional: the type inside, else empty.
  std::vector<Type> inner;
};

struct ValueInfo {
  std::string_view name;
  Type type;
  Metadata metadata;
};

// Multi-device annotations (IR >= 11).

struct DeviceConfiguration {
  std::string_view name;
  int32_t numDevices = 0;
  std::vector<std::string_view> devices;
};

struct SimpleShardedDim {
  std::optional<int64_t> dimValue;
  std::string_view dimParam;
  int64_t numShards = 0;
};

struct ShardedDim {
  int64_t axis = 0;
  /// More than one: the dim was fused by a reshape.
  std::vector<SimpleShardedDim> simpleShardings;
};

struct DeviceGroup {
  int64_t key = 0;
  std::vector<int64_t> devices;
};

struct ShardingSpec {
  std::string_view tensorName;
  std::vector<int64_t> devices;
  std::vector<DeviceGroup> groups;
  std::vector<ShardedDim> shardedDims;
};

/// The product over all dims, INT64_MAX where it is more.
int64_t numShards(const ShardingSpec &spec);

struct NodeDeviceConfiguration {
  std::string_view configurationId;
  std::vector<ShardingSpec> shardingSpecs;
  std::optional<int32_t> pipelineStage;
};

enum class AttributeType : int32_t {
  Undefined = 0,
  Float = 1,
  Int = 2,
  String = 3,
  Tensor = 4,
  Graph = 5,
  Floats = 6,
  Ints = 7,
  Strings = 8,
  Tensors = 9,
  Graphs = 10,
  SparseTensor = 11,
  SparseTensors = 12,
  TypeProto = 13,
  TypeProtos = 14,
};

/// In a read model `type` is one of the list and tells which field is set. A
/// single value of type Tensor, Graph, SparseTensor or TypeProto is the one
/// entry of the plural field.
struct Attribute {
  std::string_view name;
  AttributeType type = AttributeType::Undefined;
  /// Only inside a function: the parameter whose value this attribute takes.
  std::string_view refAttrName;
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  std::vector<Tensor> tensors;
  std::vector<Graph> graphs;
  std::vector<SparseTensor> sparseTensors;
  std::vector<Type> types;
};

struct Node {
  /// Optional and not unique in the file.
  std::string_view name;
  std::string_view opType;
  /// "" for the standard ops, however the file spells them ("ai.onnx").
  std::string_view domain;
  std::string_view overload;
  /// Version of `domain` that binds this node; set by readModel. It differs
  /// between the main graph and the body of an inlined function.
  int64_t opset = 0;
  /// Position among the nodes of its graph in the file; of an inlined node that
  /// of the call in the main graph.
  uint32_t index = 0;
  /// "" stands for an omitted optional; trailing ones are left out.
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<Attribute> attributes;
  Metadata metadata;
  std::vector<NodeDeviceConfiguration> deviceConfigurations;

  /// The attribute called `name`, or null.
  const Attribute *attribute(std::string_view name) const;
  /// For messages: `'name' (Op)`, or `#12 (Op)` if it has no name.
  std::string label() const;
};

struct Graph {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<SparseTensor> sparseInitializers;
  /// May name initializers too, which are then default values (IR < 4: always).
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> valueInfos;
  Metadata metadata;
};

struct OperatorSetId {
  std::string_view domain;
  int64_t version = 0;
};

/// The version of `domain` in `opsets`, the highest if it is listed twice; 0 if
/// it is not imported. "ai.onnx" is "".
int64_t opsetVersion(const std::vector<OperatorSetId> &opsets,
                     std::string_view domain);

struct Function {
  std::string_view name;
  std::string_view domain;
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  /// Parameters without and with a default value.
  std::vector<std::string_view> attributes;
  std::vector<Attribute> attributeDefaults;
  std::vector<Node> nodes;
  std::vector<OperatorSetId> opsets;
  std::vector<ValueInfo> valueInfos;
  Metadata metadata;

  /// `domain.name`, and `:overload` if it has one.
  std::string label() const;
};

/// How the model says that it is trained.
struct TrainingInfo {
  /// First values, by the bindings (initializer, its output).
  Graph initialization;
  Metadata initializationBinding;
  /// One step, which goes on where the model's graph ends.
  Graph algorithm;
  /// What the step writes: (initializer, output of both graphs).
  Metadata updateBinding;
};

struct Model {
  int64_t irVersion = 0;
  int64_t modelVersion = 0;
  std::string_view producerName;
  std::string_view producerVersion;
  std::string_view domain;
  std::vector<OperatorSetId> opsets;
  Graph graph;
  /// Empty after readModel, which inlines the calls.
  std::vector<Function> functions;
  std::vector<DeviceConfiguration> configurations;
  Metadata metadata;
  std::vector<TrainingInfo> training;

  /// The path that was given, for messages.
  std::string path;
  /// Keeps the mapping and all other viewed bytes alive.
  std::shared_ptr<ModelStorage> storage;

  /// Keeps `text` as long as the model.
  std::string_view intern(std::string text);
  /// Where `bytes` begin in the file, or nothing if they are not a view of it
  /// (elements that had to be decoded).
  std::optional<uint64_t> fileOffset(std::string_view bytes) const;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_MODEL_MODEL_H
