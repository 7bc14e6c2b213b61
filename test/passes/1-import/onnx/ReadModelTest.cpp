//===- ReadModelTest.cpp - what the reader makes of bytes -----------------===//

#include "passes/1-import/onnx/ReadModel.h"
#include "passes/1-import/onnx/model/MessageText.h"
#include "test/passes/1-import/onnx/Builder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

using namespace pcc;
using namespace pcc::onnx;
using namespace pcc::onnx::build;

namespace {

/// Returns a model of one Relu whose initializer `w` is the given TensorProto.
std::string withTensor(const std::string &tensor) {
  return model(graph({node("Relu", {"w"}, {"y"})}, {}, {"y"}, {tensor}));
}

std::string errorOf(const std::string &bytes) {
  const StatusOr<Model> model = readModelFromBytes(bytes, "x.onnx");
  if (model)
    return "";
  EXPECT_EQ(model.status().code(), CannotRead);
  EXPECT_EQ(model.status().message().find('\n'), std::string::npos);
  return model.status().message();
}

/// Returns the raw bytes of the tensor as an array.
template <typename T> std::vector<T> rawOf(const std::string &tensor) {
  const std::string bytes = withTensor(tensor);
  const StatusOr<Model> model = readModelFromBytes(bytes, "x.onnx");
  if (!model) {
    ADD_FAILURE() << model.status().message();
    return {};
  }
  const std::string_view raw = model->graph.initializers.at(0).raw;
  std::vector<T> values(raw.size() / sizeof(T));
  std::memcpy(values.data(), raw.data(), raw.size());
  return values;
}

std::string someModel() {
  const std::string inner =
      graph({node("Relu", {"a"}, {"t"}, "inner")}, {}, {"t"});
  return model(
      graph({node("MatMul", {"x", "w"}, {"a"}, "first"),
             node("If", {"c"}, {"y"}, "second",
                  {graphAttribute("then_branch", inner),
                   graphAttribute("else_branch", inner)}),
             node("Sq", {"y"}, {"z"}, "third", {ints("k", {1, 2, 3})}, "my")},
            {"x", "c"}, {"z"}, {zeros("w", {4, 4})}),
      {function({.name = "Sq",
                 .inputs = {"v"},
                 .outputs = {"r"},
                 .nodes = {node("Mul", {"v", "v"}, {"r"})}})});
}

} // namespace

TEST(Read, FieldsOfAModel) {
  const std::string bytes = someModel();
  const StatusOr<Model> model = readModelFromBytes(bytes, "x.onnx");
  ASSERT_TRUE(model) << model.status().message();
  EXPECT_EQ(model->irVersion, 10);
  EXPECT_EQ(model->producerName, "test");
  EXPECT_EQ(opsetVersion(model->opsets, ""), 18);
  EXPECT_EQ(opsetVersion(model->opsets, "ai.onnx"), 18);
  EXPECT_EQ(opsetVersion(model->opsets, "nobody"), 0);
  ASSERT_EQ(model->graph.nodes.size(), 3u);
  EXPECT_EQ(model->graph.nodes[0].label(), "'first' (MatMul)");
  EXPECT_EQ(model->graph.nodes[0].opset, 18);
  const Attribute *branch = model->graph.nodes[1].attribute("then_branch");
  ASSERT_TRUE(branch);
  EXPECT_EQ(branch->graphs.at(0).nodes.at(0).opset, 18);
}

TEST(Read, RawDataIsAViewOfTheFile) {
  const std::string bytes = withTensor(zeros("w", {2, 3}));
  const StatusOr<Model> model = readModelFromBytes(bytes, "x.onnx");
  ASSERT_TRUE(model);
  const std::string_view raw = model->graph.initializers[0].raw;
  EXPECT_EQ(raw.size(), 24u);
  EXPECT_EQ(model->fileOffset(raw), raw.data() - bytes.data());
  EXPECT_FALSE(model->fileOffset("elsewhere"));
}

TEST(Read, PackedFloatsAreAViewToo) {
  const float values[] = {1, -2};
  const std::string payload(reinterpret_cast<const char *>(values), 8);
  const std::string bytes = withTensor(
      Message().number(1, 2).text(4, payload).number(2, 1).text(8, "w"));
  const StatusOr<Model> model = readModelFromBytes(bytes, "x.onnx");
  ASSERT_TRUE(model);
  EXPECT_TRUE(model->fileOffset(model->graph.initializers[0].raw));
}

TEST(Read, TypedElementsPackedAndNot) {
  EXPECT_EQ(
      rawOf<float>(
          Message().text(8, "w").number(1, 2).number(2, 1).real(4, 1).real(
              4, 2.5)),
      std::vector<float>({1, 2.5}));
  for (bool packed : {false, true}) {
    const auto tensor = [&](int type, uint32_t field,
                            const std::vector<int64_t> &values, int64_t count) {
      return Message().number(1, count).number(2, type).text(8, "w").numbers(
          field, values, packed);
    };
    EXPECT_EQ(rawOf<int64_t>(tensor(7, 7, {-1, 1L << 40}, 2)),
              std::vector<int64_t>({-1, 1L << 40}));
    EXPECT_EQ(rawOf<int32_t>(tensor(6, 5, {-1, 7}, 2)),
              std::vector<int32_t>({-1, 7}));
    EXPECT_EQ(rawOf<int8_t>(tensor(3, 5, {-1, 7, 8}, 3)),
              std::vector<int8_t>({-1, 7, 8}));
    EXPECT_EQ(rawOf<uint16_t>(tensor(10, 5, {0x3c00, 0xbc00}, 2)),
              std::vector<uint16_t>({0x3c00, 0xbc00}));
    EXPECT_EQ(rawOf<uint8_t>(tensor(9, 5, {1, 0}, 2)),
              std::vector<uint8_t>({1, 0}));
    // 4-bit elements are packed, two to a byte, before they become an int32.
    EXPECT_EQ(rawOf<uint8_t>(tensor(22, 5, {0x21, 0x03}, 3)),
              std::vector<uint8_t>({0x21, 0x03}));
    EXPECT_EQ(rawOf<uint32_t>(tensor(12, 11, {1, 4000000000}, 2)),
              std::vector<uint32_t>({1, 4000000000}));
    EXPECT_EQ(rawOf<uint64_t>(tensor(13, 11, {-1}, 1)),
              std::vector<uint64_t>({~0ull}));
  }
}

TEST(Read, Strings) {
  const std::string bytes = withTensor(
      Message().number(1, 2).number(2, 8).text(8, "w").texts(6, {"a", ""}));
  const StatusOr<Model> model = readModelFromBytes(bytes, "x.onnx");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->graph.initializers[0].strings,
            std::vector<std::string_view>({"a", ""}));
}

TEST(Read, TensorsThatContradictThemselves) {
  EXPECT_NE(
      errorOf(withTensor(Message().number(1, 3).number(2, 1).text(8, "w").text(
                  9, "1234")))
          .find("tensor 'w' needs 12 bytes, got 4"),
      std::string::npos);
  EXPECT_NE(
      errorOf(withTensor(Message().number(1, -3).number(2, 1).text(8, "w")))
          .find("negative dim"),
      std::string::npos);
  EXPECT_NE(errorOf(withTensor(Message()
                                   .numbers(1, {1L << 40, 1L << 40})
                                   .number(2, 1)
                                   .text(8, "w")))
                .find("too many elements"),
            std::string::npos);
  EXPECT_NE(errorOf(withTensor(
                        Message().number(1, 1).number(2, 1).text(8, "w").number(
                            7, 5)))
                .find("of type float has elements in field 7"),
            std::string::npos);
  EXPECT_NE(errorOf(withTensor(Message()
                                   .number(1, 1)
                                   .number(2, 1)
                                   .text(8, "w")
                                   .text(9, "1234")
                                   .real(4, 1)))
                .find("both raw and typed"),
            std::string::npos);
  EXPECT_NE(
      errorOf(withTensor(Message().number(1, 2).number(2, 8).text(8, "w").text(
                  6, "a")))
          .find("needs 2 strings, got 1"),
      std::string::npos);
  EXPECT_NE(errorOf(withTensor(Message()
                                   .numbers(1, std::vector<int64_t>(1025, 1))
                                   .number(2, 1)
                                   .text(8, "w")))
                .find("more than 1024 dims"),
            std::string::npos);
}

TEST(Read, TypesOfValues) {
  const std::string dims = Message()
                               .text(1, Message().number(1, 8))
                               .text(1, Message().text(2, "batch"))
                               .text(1, Message().number(1, -1));
  const std::string tensor = Message().number(1, 10).text(2, dims);
  const std::string sequence =
      Message().text(4, Message().text(1, Message().text(1, tensor)));
  const std::string input = Message()
                                .text(1, "x")
                                .text(2, Message().text(1, tensor))
                                .text(4, entry("k", "v"));
  const std::string list = Message().text(1, "s").text(2, sequence);
  const std::string bytes = model(Message().text(11, input).text(11, list));
  const StatusOr<Model> model = readModelFromBytes(bytes, "x.onnx");
  ASSERT_TRUE(model) << model.status().message();
  const ValueInfo &x = model->graph.inputs[0];
  EXPECT_EQ(x.type.kind, TypeKind::Tensor);
  EXPECT_EQ(x.type.elementType, DataType::Float16);
  ASSERT_EQ(x.type.shape->size(), 3u);
  EXPECT_EQ((*x.type.shape)[0].value, 8);
  EXPECT_EQ((*x.type.shape)[1].param, "batch");
  EXPECT_FALSE((*x.type.shape)[2].value);
  EXPECT_EQ(x.metadata.at(0).value, "v");
  const Type &s = model->graph.inputs[1].type;
  EXPECT_EQ(s.kind, TypeKind::Sequence);
  EXPECT_EQ(s.inner.at(0).shape->size(), 3u);
}

TEST(Read, DeviceConfigurations) {
  const auto group = [](int64_t key, const std::vector<int64_t> &members) {
    return Message().number(1, key).numbers(2, members, true);
  };
  const std::string simple = Message().text(2, "n").number(3, 2);
  const std::string sharded = Message().number(1, 1).text(2, simple);
  const std::string spec = Message()
                               .text(1, "x")
                               .numbers(2, {-1, -2})
                               .text(3, group(-1, {0, 1}))
                               .text(3, group(-2, {2, 3}))
                               .text(4, sharded);
  const std::string own = Message().text(1, "conf").text(2, spec).number(3, 2);
  const std::string relu =
      Message().text(1, "x").text(2, "y").text(4, "Relu").text(10, own);
  const std::string bytes = model(graph({relu}, {"x"}, {"y"})) +
                            devices("conf", 4, {"a", "b", "c", "d"});
  const StatusOr<Model> model = readModelFromBytes(bytes, "x.onnx");
  ASSERT_TRUE(model) << model.status().message();
  EXPECT_EQ(model->configurations.at(0).devices.size(), 4u);
  const NodeDeviceConfiguration &found =
      model->graph.nodes[0].deviceConfigurations.at(0);
  EXPECT_EQ(found.configurationId, "conf");
  EXPECT_EQ(found.pipelineStage, 2);
  const ShardingSpec &read = found.shardingSpecs.at(0);
  EXPECT_EQ(read.devices, std::vector<int64_t>({-1, -2}));
  EXPECT_EQ(read.groups.at(0).devices, std::vector<int64_t>({0, 1}));
  EXPECT_EQ(read.shardedDims.at(0).axis, 1);
  EXPECT_EQ(read.shardedDims.at(0).simpleShardings.at(0).numShards, 2);
}

TEST(Read, AttributesThatContradictThemselves) {
  const auto with = [](const std::string &attribute) {
    return errorOf(
        model(graph({node("Op", {}, {"y"}, "n", {attribute})}, {}, {"y"})));
  };
  EXPECT_EQ(with(ints("a", {})), "");
  // Before IR 2 the type was not written.
  EXPECT_EQ(with(Message().text(1, "a").number(3, 1)), "");
  EXPECT_NE(with(Message().text(1, "a").number(20, 4)), "");
  EXPECT_NE(with(Message().text(1, "a").number(20, 99)), "");
  EXPECT_NE(with(Message().text(1, "a").number(20, 1).number(3, 1)), "");
  EXPECT_NE(with(Message().text(1, "a").number(3, 1).real(2, 1)), "");
  EXPECT_NE(with(Message().number(3, 1)), "");
  EXPECT_NE(with(reference("a", "p", 2)).find("in no function"),
            std::string::npos);
}

TEST(Read, FilesThatAreNoModel) {
  const std::string folder = testing::TempDir();
  const auto error = [&](const std::string &path) {
    const StatusOr<Model> model = readModel(path);
    EXPECT_FALSE(model);
    return model.status();
  };
  EXPECT_NE(error(folder + "nothing.onnx").message().find("nothing.onnx"),
            std::string::npos);
  EXPECT_EQ(error(folder + "nothing.onnx").code(), CannotRead);
  EXPECT_EQ(error(folder).code(), CannotRead);
  EXPECT_EQ(error("/dev/null").code(), CannotRead);
  const std::string empty = folder + "empty.onnx";
  std::ofstream(empty).close();
  EXPECT_NE(error(empty).message().find("empty file"), std::string::npos);
  EXPECT_EQ(error(empty).code(), CannotRead);
}

TEST(Read, APipeDoesNotBlock) {
  const std::string path = testing::TempDir() + "pipe.onnx";
  unlink(path.c_str());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(readModel(path));
  unlink(path.c_str());
}

TEST(Read, RandomBytesAreNoModel) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(1 + random() % 4096, '\0');
    for (char &c : bytes)
      c = static_cast<char>(random());
    EXPECT_NE(errorOf(bytes), "");
  }
  EXPECT_NE(errorOf("hello, world").find("is not an ONNX model"),
            std::string::npos);
}

// A prefix that ends after the opset imports may be a valid model without
// functions.
TEST(Read, CutOffFilesAreRefused) {
  const std::string bytes = someModel();
  ASSERT_EQ(errorOf(bytes), "");
  for (size_t size = 0; size < bytes.size() / 2; ++size)
    EXPECT_NE(errorOf(bytes.substr(0, size)), "") << size;
  for (size_t size = bytes.size() / 2; size < bytes.size(); ++size)
    errorOf(bytes.substr(0, size));
  EXPECT_NE(errorOf(bytes.substr(0, bytes.size() / 2)).find("is truncated"),
            std::string::npos);
}

TEST(Read, FlippedBitsNeverCrash) {
  const std::string bytes = someModel();
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] ^= static_cast<char>(1 << bit % 8);
    errorOf(flipped);
  }
}

TEST(Read, DeepNestingIsRefused) {
  // 10^5 nested sequences, built from the inside.
  std::vector<std::string> headers;
  size_t size = 0;
  const auto wrap = [&](uint32_t field) {
    std::string header;
    protozero::pbf_writer(header).add_string(field, "");
    header.pop_back();
    protozero::add_varint_to_buffer(&header, size);
    size += header.size();
    headers.push_back(header);
  };
  for (int i = 0; i < 100000; ++i) {
    wrap(1);
    wrap(4);
  }
  wrap(2);
  wrap(11);
  std::string bytes;
  for (auto header = headers.rbegin(); header != headers.rend(); ++header)
    bytes += *header;
  EXPECT_NE(errorOf(model(bytes)).find("nested more than 100 deep"),
            std::string::npos);
  std::string inner = graph({}, {}, {});
  for (int i = 0; i < 1000; ++i)
    inner =
        graph({node("If", {}, {}, "", {graphAttribute("a", inner)})}, {}, {});
  EXPECT_NE(errorOf(model(inner)).find("nested more than 100 deep"),
            std::string::npos);
}

TEST(Read, TooManyMessagesAreRefused) {
  ReadLimits limits;
  limits.messages = 1000;
  Message entries;
  for (int i = 0; i < 1000; ++i)
    entries.text(14, "");
  const std::string bytes = model(graph({}, {}, {})) + std::string(entries);
  EXPECT_TRUE(readModelFromBytes(bytes, "x.onnx"));
  EXPECT_FALSE(readModelFromBytes(bytes, "x.onnx", limits));
}

// Lengths of more than 32 bits: the tensor is a hole in a sparse file.
TEST(Read, FiveGibibytesInOneFile) {
  const std::string path = testing::TempDir() + "large.onnx";
  const uint64_t size = 5ull << 30;
  const auto open = [](uint32_t field, uint64_t length,
                       const std::string &content) {
    std::string header;
    protozero::add_varint_to_buffer(&header, field << 3 | 2);
    protozero::add_varint_to_buffer(&header, length);
    return header + content;
  };
  const std::string tensorHead =
      Message().number(1, static_cast<int64_t>(size)).number(2, 2).text(8, "w");
  const std::string rawHead = open(9, size, "");
  const uint64_t tensorSize = tensorHead.size() + rawHead.size() + size;
  const std::string graphHead = open(5, tensorSize, "");
  const std::string head =
      std::string(Message().number(1, 10).text(8, opset("", 18))) +
      open(7, graphHead.size() + tensorSize, graphHead) + tensorHead + rawHead;
  std::ofstream(path, std::ios::binary) << head;
  if (truncate(path.c_str(), static_cast<off_t>(head.size() + size)) != 0)
    GTEST_SKIP() << "the file system has no room for a sparse file";
  const StatusOr<Model> model = readModel(path);
  ASSERT_TRUE(model) << model.status().message();
  const std::string_view raw = model->graph.initializers.at(0).raw;
  EXPECT_EQ(raw.size(), size);
  EXPECT_EQ(model->fileOffset(raw), head.size());
  unlink(path.c_str());
}

TEST(Read, NamesInMessagesStayOnOneLine) {
  EXPECT_EQ(pcc::onnx::quoted("a\nb\x1b"), "'a\\x0ab\\x1b'");
  EXPECT_LT(pcc::onnx::quoted(std::string(100000, 'x')).size(), 300u);
}
