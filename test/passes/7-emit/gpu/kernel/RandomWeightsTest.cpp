//===- RandomWeightsTest.cpp - weights that a GPU makes -------------------===//

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "runtime/tensor/ElementDispatch.h"
#include "runtime/tensor/RandomValues.h"
#include "test/passes/7-emit/gpu/kernel/EmulatedGpu.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace pcc;
using runtime::ElementType;
using runtime::RandomScalars;
using runtime::StridedCopy;

/// Returns the elements of a weight that the GPU's kernel generates. `type` is
/// the weight's type in the syntax of the module, and `copy` selects its
/// elements; the buffer has `bytes` bytes.
static std::vector<char> made(const std::string &type,
                              const std::string &transforms,
                              const runtime::RandomTensor &random,
                              const StridedCopy &copy, size_t bytes) {
  mlir::MLIRContext context;
  context
      .loadDialect<graph::GraphDialect, dist::DistDialect, rank::RankDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "module attributes {dist.target = \"cuda\"} {\n"
      "graph.parameter @w : " +
          type + " = #graph.weight<\"\", 0, 0, " + transforms + ">\n}",
      &context);
  std::vector<char> room(bytes + 16);
  auto *data = reinterpret_cast<char *>(
      (reinterpret_cast<uintptr_t>(room.data()) + 15) / 16 * 16);
  EXPECT_TRUE(module);
  if (!module)
    return {};
  emit::EmulatedGpu gpu(*module);
  runtime::forEachRandomPart(random.key, copy, [&](const RandomScalars &part) {
    std::vector<int64_t> scalars(sizeof part / sizeof(int64_t));
    std::memcpy(scalars.data(), &part, sizeof part);
    int64_t elements = 1;
    for (const runtime::CopyLoop &loop : part.loops)
      elements *= loop.extent;
    EXPECT_EQ(gpu.run(0, elements / RandomScalars::threads + 1,
                      RandomScalars::threads, {data}, scalars),
              "");
  });
  return {data, data + bytes};
}

template <typename T>
static std::vector<char> bytesOf(const std::vector<T> &values) {
  const auto *bytes = reinterpret_cast<const char *>(values.data());
  return {bytes, bytes + values.size() * sizeof(T)};
}

TEST(GpuRandomWeights, BitsAreAProcessors) {
  const auto random = runtime::randomWeight(7, "w", ElementType::F32);
  std::vector<float> expected(1000);
  runtime::fillRandom(random, 5, 3, 1000, expected.data());
  EXPECT_EQ(made("tensor<3005xf32>", "tensor<3005xf32>", random,
                 {5, 0, {{1000, 3, 1}}}, 4000),
            bytesOf(expected));
}

TEST(GpuRandomWeights, EachConversionRounds) {
  const auto random = runtime::randomWeight(7, "w", ElementType::F32);
  std::vector<float> stored(300);
  runtime::fillRandom(random, 0, 1, 300, stored.data());
  std::vector<uint16_t> half(300), brain(300);
  runtime::convertElements(ElementType::F32, stored.data(), 300,
                           ElementType::F16, half.data());
  runtime::convertElements(ElementType::F16, half.data(), 300,
                           ElementType::BF16, brain.data());
  EXPECT_EQ(made("tensor<300xbf16>",
                 "tensor<300xf32>, [#graph.cast<f16>, #graph.cast<bf16>]",
                 random, {0, 0, {{300, 1, 1}}}, 600),
            bytesOf(brain));
}

TEST(GpuRandomWeights, IntegersAreZeroOrOne) {
  const auto random = runtime::randomWeight(7, "w", ElementType::I64);
  std::vector<int64_t> expected(300);
  runtime::fillRandom(random, 0, 1, 300, expected.data());
  EXPECT_EQ(made("tensor<300xi64>", "tensor<300xi64>", random,
                 {0, 0, {{300, 1, 1}}}, 2400),
            bytesOf(expected));
}

/// There are more loops than a kernel has. Elements that no loop writes must
/// not change.
TEST(GpuRandomWeights, LoopsGoOverBothSides) {
  const auto random = runtime::randomWeight(7, "w", ElementType::F32);
  const StridedCopy copy{
      3, 1, {{2, 1, 40}, {2, 2, 20}, {2, 4, 10}, {2, 8, 4}, {3, 16, 1}}};
  std::vector<float> all(64), expected(80);
  runtime::fillRandom(random, 0, 1, 64, all.data());
  runtime::runCopy(copy, all.data(), expected.data(), sizeof(float));
  EXPECT_EQ(made("tensor<64xf32>", "tensor<64xf32>", random, copy, 320),
            bytesOf(expected));
}
