//===- Builder.h - writes small ONNX files for tests ----------------------===//

#ifndef PCC_TEST_PASSES_1_IMPORT_ONNX_BUILDER_H
#define PCC_TEST_PASSES_1_IMPORT_ONNX_BUILDER_H

#include <protozero/pbf_writer.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pcc::onnx::build {

using Names = std::vector<std::string>;
using Messages = std::vector<std::string>;

/// A protobuf message. Each call adds a field and returns the message, so that
/// fields are chained in any order: `Message().text(1, "x").number(20, 2)`.
class Message {
public:
  Message &number(uint32_t field, int64_t value) {
    protozero::pbf_writer(bytes).add_int64(field, value);
    return *this;
  }
  Message &real(uint32_t field, float value) {
    protozero::pbf_writer(bytes).add_float(field, value);
    return *this;
  }
  Message &text(uint32_t field, const std::string &value) {
    protozero::pbf_writer(bytes).add_string(field, value);
    return *this;
  }
  Message &texts(uint32_t field, const Names &values) {
    for (const std::string &value : values)
      text(field, value);
    return *this;
  }
  Message &numbers(uint32_t field, const std::vector<int64_t> &values,
                   bool packed = false) {
    if (packed)
      protozero::pbf_writer(bytes).add_packed_int64(field, values.begin(),
                                                    values.end());
    else
      for (int64_t value : values)
        number(field, value);
    return *this;
  }
  operator std::string() const { return bytes; }

private:
  std::string bytes;
};

inline std::string ints(const std::string &name,
                        const std::vector<int64_t> &values) {
  return Message().text(1, name).numbers(8, values).number(20, 7);
}

inline std::string integer(const std::string &name, int64_t value) {
  return Message().text(1, name).number(3, value).number(20, 2);
}

inline std::string real(const std::string &name, float value) {
  return Message().text(1, name).real(2, value).number(20, 1);
}

inline std::string text(const std::string &name, const std::string &value) {
  return Message().text(1, name).text(4, value).number(20, 3);
}

inline std::string tensorAttribute(const std::string &name,
                                   const std::string &tensor) {
  return Message().text(1, name).text(5, tensor).number(20, 4);
}

/// Returns an attribute that takes the value of a function's parameter.
inline std::string reference(const std::string &name,
                             const std::string &parameter, int type) {
  return Message().text(1, name).text(21, parameter).number(20, type);
}

inline std::string graphAttribute(const std::string &name,
                                  const std::string &graph) {
  return Message().text(1, name).text(6, graph).number(20, 5);
}

inline std::string node(const std::string &op, const Names &inputs,
                        const Names &outputs, const std::string &name = "",
                        const Messages &attributes = {},
                        const std::string &domain = "") {
  Message message;
  message.texts(1, inputs).texts(2, outputs).text(4, op);
  message.texts(5, attributes);
  if (!name.empty())
    message.text(3, name);
  if (!domain.empty())
    message.text(7, domain);
  return message;
}

/// Returns a device configuration, to be appended to a model.
inline std::string devices(const std::string &name, int64_t count,
                           const Names &names = {}) {
  return Message().text(
      26, Message().text(1, name).number(2, count).texts(3, names));
}

/// Returns a float tensor whose shape does not matter to a test.
inline std::string value(const std::string &name) {
  const std::string tensor = Message().number(1, 1);
  return Message().text(1, name).text(2, Message().text(1, tensor));
}

/// Returns a float tensor of these dims whose elements are zero.
inline std::string zeros(const std::string &name,
                         const std::vector<int64_t> &dims) {
  int64_t size = 4;
  for (int64_t dim : dims)
    size *= dim;
  return Message().numbers(1, dims).number(2, 1).text(8, name).text(
      9, std::string(size, '\0'));
}

/// Returns a tensor of i64.
inline std::string integers(const std::string &name,
                            const std::vector<int64_t> &dims,
                            const std::vector<int64_t> &values) {
  return Message().numbers(1, dims).number(2, 7).text(8, name).numbers(
      7, values, /*packed=*/true);
}

/// Returns a value of the type with this number; -1 stands for the dynamic dim
/// "n".
inline std::string typed(const std::string &name, int64_t type,
                         const std::vector<int64_t> &dims) {
  Message shape;
  for (int64_t dim : dims)
    shape.text(1, dim < 0 ? Message().text(2, "n") : Message().number(1, dim));
  const std::string tensor = Message().number(1, type).text(2, shape);
  return Message().text(1, name).text(2, Message().text(1, tensor));
}

inline std::string entry(const std::string &key, const std::string &value) {
  return Message().text(1, key).text(2, value);
}

inline std::string
external(const std::string &name, const std::vector<int64_t> &dims,
         const std::vector<std::pair<std::string, std::string>> &entries) {
  Message message;
  message.numbers(1, dims).number(2, 1).text(8, name).number(14, 1);
  for (const auto &[key, value] : entries)
    message.text(13, entry(key, value));
  return message;
}

inline std::string graph(const Messages &nodes, const Names &inputs,
                         const Names &outputs,
                         const Messages &initializers = {}) {
  Message message;
  message.texts(1, nodes).text(2, "g").texts(5, initializers);
  for (const std::string &input : inputs)
    message.text(11, value(input));
  for (const std::string &output : outputs)
    message.text(12, value(output));
  return message;
}

inline std::string opset(const std::string &domain, int64_t version) {
  return Message().text(1, domain).number(2, version);
}

struct FunctionParts {
  std::string domain = "my";
  std::string name;
  Names inputs;
  Names outputs;
  Messages nodes;
  Names attributes = {};
  Messages defaults = {};
  int64_t opsetVersion = 17;
  std::string overload = {};
};

inline std::string function(const FunctionParts &parts) {
  return Message()
      .text(1, parts.name)
      .texts(4, parts.inputs)
      .texts(5, parts.outputs)
      .texts(6, parts.attributes)
      .texts(7, parts.nodes)
      .text(9, opset("", parts.opsetVersion))
      .text(9, opset("my", 1))
      .text(10, parts.domain)
      .texts(11, parts.defaults)
      .text(13, parts.overload);
}

inline std::string model(const std::string &graph,
                         const Messages &functions = {},
                         int64_t opsetVersion = 18) {
  return Message()
      .number(1, 10)
      .text(2, "test")
      .text(7, graph)
      .text(8, opset("", opsetVersion))
      .text(8, opset("my", 1))
      .texts(25, functions);
}

} // namespace pcc::onnx::build

#endif // PCC_TEST_PASSES_1_IMPORT_ONNX_BUILDER_H
