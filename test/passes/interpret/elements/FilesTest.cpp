//===- FilesTest.cpp - weights and inputs from files ----------------------===//

#include "passes/interpret/elements/Inputs.h"
#include "passes/interpret/elements/NpyFiles.h"
#include "passes/interpret/elements/WeightSource.h"
#include "runtime/tensor/RandomValues.h"
#include "test/passes/interpret/Parsed.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;
using graph::HostTensor;

namespace {
/// A folder of files that exists during one test.
class Files : public ::testing::Test {
protected:
  void SetUp() override {
    folder = std::filesystem::path(::testing::TempDir()) /
             ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string write(const std::string &name, const std::string &bytes) {
    std::string path = folder / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  template <typename T> static std::string bytesOf(std::vector<T> elements) {
    return {reinterpret_cast<const char *>(elements.data()),
            elements.size() * sizeof(T)};
  }

  /// Returns a version 1 .npy file.
  static std::string npy(const std::string &descr, const std::string &shape,
                         const std::string &data) {
    std::string header = "{'descr': '" + descr +
                         "', 'fortran_order': False, 'shape': " + shape +
                         ", }\n";
    std::string length{static_cast<char>(header.size()), 0};
    return std::string("\x93NUMPY\x01\x00", 8) + length + header + data;
  }

  std::filesystem::path folder;
  Parser parser;
};
} // namespace

TEST_F(Files, NpyOfFloatsAndBooleans) {
  HostTensor read;
  auto floats = RankedTensorType::get({2}, Float32Type::get(&parser.context));
  ASSERT_TRUE(
      readNpy(write("x.npy", npy("<f4", "(2,)", bytesOf<float>({1.5, -2}))),
              floats, read)
          .ok());
  EXPECT_EQ(read.floats, (std::vector<double>{1.5, -2}));
  auto booleans =
      RankedTensorType::get({}, IntegerType::get(&parser.context, 1));
  ASSERT_TRUE(
      readNpy(write("b.npy", npy("|b1", "()", "\x01")), booleans, read).ok());
  EXPECT_EQ(read.ints, std::vector<int64_t>{1});
}

TEST_F(Files, NpyOfAnotherTypeIsAnError) {
  HostTensor read;
  auto type = RankedTensorType::get({3}, Float32Type::get(&parser.context));
  std::string path =
      write("x.npy", npy("<i8", "(2,)", bytesOf<int64_t>({1, 2})));
  EXPECT_EQ(readNpy(path, type, read).message(),
            "'" + path + "' holds i64 [2], but this is f32 [3]");
  path = write("y.npy", npy("<f4", "(3,)", "short"));
  EXPECT_EQ(readNpy(path, type, read).message(),
            "'" + path +
                "' is not a valid .npy file: it is truncated: it holds 5 bytes "
                "of elements, but [3] of f32 needs 12 bytes");
}

TEST_F(Files, WhatIsWrittenIsReadRounded) {
  HostTensor values = HostTensor::ofFloats({2}, {0.1, 1.0 + 1.0 / 512}), read;
  std::string path = folder / "x.npy";
  auto floats = RankedTensorType::get({2}, Float32Type::get(&parser.context));
  ASSERT_TRUE(writeNpy(path, floats, values).ok());
  ASSERT_TRUE(readNpy(path, floats, read).ok());
  EXPECT_EQ(read.floats, (std::vector<double>{0.1f, 1.0 + 1.0 / 512}));
  auto brains = RankedTensorType::get({2}, BFloat16Type::get(&parser.context));
  ASSERT_TRUE(writeNpy(path, brains, values).ok());
  ASSERT_TRUE(readNpy(path, brains, read).ok());
  EXPECT_EQ(read.floats, (std::vector<double>{0.10009765625, 1}));
  EXPECT_EQ(writeNpy(folder / "none" / "x.npy", floats, values).code(),
            InputOutput);
}

TEST_F(Files, WeightsAreTransformedInOrder) {
  write("w.bin", "skip" + bytesOf<float>({1, 2, 3, 4, 5, 6}));
  auto module = parser.parse(
      "module attributes {graph.root = \"" + folder.string() +
      "\"} {\n graph.parameter @w : tensor<3x1xf32> = <\"w.bin\", 4, 24, "
      "tensor<2x3xf32>, [#graph.permute<[1, 0]>, #graph.slice<1, 1, 1, 1>]>\n"
      "graph.parameter @a : tensor<2xf32> = <\"none.bin\", 0, 8, "
      "tensor<2xf32>> }");
  ASSERT_TRUE(module);
  WeightSource weights(*module);
  HostTensor w;
  ASSERT_TRUE(weights.read("w", w).ok());
  EXPECT_EQ(w.floats, (std::vector<double>{4, 5, 6}));
  EXPECT_EQ(weights.read("a", w).code(), CannotRead);
}

TEST_F(Files, StandInsAreThoseOfExecutables) {
  auto module =
      parser.parse("module attributes {rank.random_weights = 7} {\n"
                   "graph.parameter @a : tensor<3x2xf32> = <\"\", 0, 24, "
                   "tensor<2x3xf32>, [#graph.permute<[1, 0]>]> }");
  ASSERT_TRUE(module);
  HostTensor a;
  ASSERT_TRUE(WeightSource(*module).read("a", a).ok());
  float last = 0;
  runtime::fillRandom(runtime::randomWeight(7, "a", runtime::ElementType::F32),
                      2, 1, 1, &last);
  EXPECT_EQ(a.floats[4], last);
}

TEST_F(Files, SeededIndicesStayWithinTheirTable) {
  auto module = parser.parse(R"(
    func.func @main(%ids: tensor<1000xi32> {graph.name = "ids"},
                    %t: tensor<5x2xf32> {graph.name = "t"}) {
      %wide = graph.cast %ids : tensor<1000xi32> to tensor<1000xi64>
      %rows = graph.gather %t, %wide along 0 : tensor<5x2xf32>, tensor<1000xi64>
      return
    })");
  ASSERT_TRUE(module);
  Inputs inputs;
  ASSERT_TRUE(
      makeInputs(module->lookupSymbol<func::FuncOp>("main"), {}, inputs).ok());
  auto ids = inputs["ids"].ints;
  EXPECT_EQ(*std::max_element(ids.begin(), ids.end()), 4);
  Status status = makeInputs(module->lookupSymbol<func::FuncOp>("main"),
                             {"idz=x.npy"}, inputs);
  EXPECT_EQ(status.message(),
            "the model has no input 'idz'; nearest: 'ids', 't'");
  EXPECT_EQ(status.code(), BadInput);
}
