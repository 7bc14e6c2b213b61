//===- MultiTensorLaunchTest.cpp - one launch for many tensors ------------===//

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/rank/RankDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "runtime/program/TensorTable.h"
#include "test/passes/7-emit/gpu/kernel/EmulatedGpu.h"
#include <gtest/gtest.h>
#include <limits>

using namespace pcc;
using runtime::TensorTable;

namespace {
/// A tensor and its new value, each followed by memory that must not change.
struct Part {
  static constexpr float untouched = -1;
  struct alignas(16) Four {
    float numbers[4];
  };

  explicit Part(int64_t size) : size(size), in(size / 4 + 2), out(in.size()) {
    for (int64_t i = 0; i < int64_t(in.size()) * 4; ++i) {
      in[size_t(i / 4)].numbers[i % 4] = float(i + size);
      at(i) = untouched;
    }
  }
  float &at(int64_t i) { return out[size_t(i / 4)].numbers[i % 4]; }

  int64_t size;
  std::vector<Four> in, out;
};
} // namespace

/// Computes r = s t for parts of these sizes, in tiles of 1,024 elements.
static void expectScaled(const std::vector<int64_t> &sizes) {
  mlir::MLIRContext context;
  context
      .loadDialect<graph::GraphDialect, dist::DistDialect, rank::RankDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    rank.kernel @k(%s: tensor<f32>, %t: tensor<1024xf32>) -> tensor<1024xf32>
        attributes {in_parts} {
      %r = graph.mul %t, %s : tensor<1024xf32>, tensor<f32>
      rank.yield %r : tensor<1024xf32>
    })",
                                                        &context);
  ASSERT_TRUE(module);
  const auto table = TensorTable::largest(/*tensors=*/2, /*shared=*/1);
  std::vector<int64_t> words(size_t(table.words()),
                             std::numeric_limits<int64_t>::max());
  std::vector<Part> parts(sizes.begin(), sizes.end());
  int64_t tiles = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto part = int64_t(i);
    words[size_t(TensorTable::firstAt(part))] = tiles;
    words[size_t(table.elementsAt(part))] = sizes[i];
    words[size_t(table.addressAt(part, 0))] = int64_t(parts[i].in.data());
    words[size_t(table.addressAt(part, 1))] = int64_t(parts[i].out.data());
    tiles += (sizes[i] + 1023) / 1024;
  }
  float scale = 3;
  emit::EmulatedGpu gpu(*module);
  ASSERT_EQ(gpu.run(0, tiles, 256, {words.data(), &scale}, {}), "");
  for (Part &part : parts)
    for (int64_t i = 0; i < part.size + 4; ++i)
      EXPECT_EQ(part.at(i),
                i < part.size ? 3 * float(i + part.size) : Part::untouched)
          << i << " of " << part.size;
}

TEST(GpuParts, EachTileFindsItsTensor) {
  expectScaled({5, 1024, 3001, 1, 2048, 1023});
}

TEST(GpuParts, OneIsEnough) { expectScaled({1500}); }

/// AdamW's update has four tensors (gradient, weight and two moments), three of
/// which are written, and six numbers.
TEST(GpuParts, AllTensorsOfGpt2) {
  EXPECT_GE(TensorTable::mostParts(/*tensors=*/7, /*shared=*/6), 148);
}

TEST(GpuParts, AFullTable) {
  expectScaled(std::vector<int64_t>(
      size_t(TensorTable::mostParts(/*tensors=*/2, /*shared=*/1)), 6));
}
