//===- files-test.cpp - weights and inputs from files ---------------------===//

#include "passes/interpret/Inputs.h"
#include "passes/interpret/Npy.h"
#include "passes/interpret/Weights.h"
#include "test/passes/interpret/Parsed.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;

namespace {
/// A folder of files that lives as long as a test.
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

  /// A version 1 .npy file.
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
  std::string error;
  auto floats = RankedTensorType::get({2}, Float32Type::get(&parser.context));
  auto read =
      readNpy(write("x.npy", npy("<f4", "(2,)", bytesOf<float>({1.5, -2}))),
              floats, error);
  ASSERT_TRUE(succeeded(read)) << error;
  EXPECT_EQ(read->floats, (std::vector<double>{1.5, -2}));
  auto booleans =
      RankedTensorType::get({}, IntegerType::get(&parser.context, 1));
  read = readNpy(write("b.npy", npy("|b1", "()", "\x01")), booleans, error);
  ASSERT_TRUE(succeeded(read)) << error;
  EXPECT_EQ(read->ints, std::vector<int64_t>{1});
}

TEST_F(Files, NpyOfAnotherTypeIsAnError) {
  std::string error;
  auto type = RankedTensorType::get({3}, Float32Type::get(&parser.context));
  std::string path =
      write("x.npy", npy("<i8", "(2,)", bytesOf<int64_t>({1, 2})));
  EXPECT_TRUE(failed(readNpy(path, type, error)));
  EXPECT_EQ(error, "'" + path +
                       "' holds <i8 of shape [2], but the input is "
                       "<f4 of shape [3]");
  path = write("y.npy", npy("<f4", "(3,)", "short"));
  EXPECT_TRUE(failed(readNpy(path, type, error)));
  EXPECT_EQ(error, "'" + path + "' ends before its last element");
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
  std::string error;
  auto w = weights.read("w", error);
  ASSERT_TRUE(succeeded(w)) << error;
  EXPECT_EQ(w->floats, (std::vector<double>{4, 5, 6}));
  EXPECT_TRUE(failed(weights.read("a", error)));
  (*module)->setAttr("rank.random_weights",
                     Builder(&parser.context).getI64IntegerAttr(7));
  WeightSource standIns(*module);
  auto a = standIns.read("a", error), again = standIns.read("a", error);
  ASSERT_TRUE(succeeded(a) && succeeded(again));
  EXPECT_EQ(a->floats, again->floats);
  EXPECT_NE(a->floats[0], a->floats[1]);
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
  std::string error;
  auto inputs =
      makeInputs(module->lookupSymbol<func::FuncOp>("main"), {}, error);
  ASSERT_TRUE(succeeded(inputs));
  auto ids = (*inputs)["ids"].ints;
  EXPECT_EQ(*std::max_element(ids.begin(), ids.end()), 4);
  EXPECT_TRUE(failed(makeInputs(module->lookupSymbol<func::FuncOp>("main"),
                                {"idz=x.npy"}, error)));
  EXPECT_EQ(error, "the model has no input 'idz'");
}
