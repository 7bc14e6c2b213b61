//===- KernelCopyTest.cpp - kernels, copies, fills, instruction sets ------===//

#include "runtime/device/cpu/InstructionSet.h"
#include "runtime/device/cpu/ThreadTeam.h"
#include "test/runtime/device/OneInstruction.h"

#include <atomic>
#include <numeric>

using namespace pcc;
using namespace pcc::runtime;
using namespace pcc::test;

/// Kernel out[i] = in[i] * scalar.
static void scale(void *const *buffers, const int64_t *scalars, int64_t begin,
                  int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    static_cast<int64_t *>(buffers[1])[i] =
        static_cast<const int64_t *>(buffers[0])[i] * scalars[0];
}

TEST(ThreadTeam, CoversEveryIterationOnce) {
  for (int threads : {1, 2, 3, 7})
    for (int64_t extent : {0, 1, 2, 13, 1000}) {
      std::vector<std::atomic<int>> hits(static_cast<size_t>(extent));
      ThreadTeam(threads).parallelFor(extent, 1,
                                      [&](int64_t begin, int64_t end) {
                                        for (int64_t i = begin; i < end; ++i)
                                          ++hits[size_t(i)];
                                      });
      for (const auto &count : hits)
        EXPECT_EQ(count, 1);
    }
}

TEST(Kernel, RunsOverItsExtentWithScalars) {
  TestProgram builder({{"pp", 1}});
  const int in = builder.arena("in", ElementType::I64, {100});
  const int out = builder.arena("out", ElementType::I64, {100});
  auto &kernel = builder.kernel({in, out}, 100);
  kernel.scalars.push_back(std::make_unique<program::ScalarT>());
  kernel.scalars[0]->base = 3;
  OneInstruction run(builder);
  const KernelFunction kernels[] = {scale};
  const PccKernelVariant variants[] = {{"x86-64", kernels}};
  run.image.variants = variants;
  run.image.numVariants = 1;
  std::vector<int64_t> values(100);
  std::iota(values.begin(), values.end(), 0);
  run.set(in, values);
  ASSERT_TRUE(run.run().ok());
  for (int64_t &value : values)
    value *= 3;
  EXPECT_EQ(run.get<int64_t>(out), values);
}

TEST(Kernel, ScalarsAreAffineInDigitsAndClamped) {
  const Mesh mesh = test::makeMesh({1, 6, 1});
  program::ScalarT scalar;
  scalar.base = 10;
  scalar.terms.push_back(std::make_unique<program::TermT>());
  scalar.terms[0]->coefficient = 4;
  scalar.terms[0]->part = std::make_unique<program::Part>(1, 2, 3);
  scalar.high = 17;
  EXPECT_EQ(evaluate(scalar, mesh, {0, 3, 0}), 10);
  EXPECT_EQ(evaluate(scalar, mesh, {0, 4, 0}), 14);
  EXPECT_EQ(evaluate(scalar, mesh, {0, 5, 0}), 17);
}

TEST(InstructionSet, LastVariantOfTheHostWins) {
  const KernelFunction plain[] = {scale}, best[] = {scale};
  const PccKernelVariant variants[] = {
      {"x86-64", plain}, {"x86-64-v2,sse4.2", best}, {"quantum-v1", plain}};
  const ProgramImage image{nullptr, 0, variants, 3};
  const KernelFunction *kernels = nullptr;
  ASSERT_TRUE(chooseVariant(image, 1, kernels).ok());
  EXPECT_EQ(kernels, best);
}

TEST(InstructionSet, NoneIsAnErrorThatNamesThem) {
  const PccKernelVariant variants[] = {{"quantum-v1", nullptr}};
  const ProgramImage image{nullptr, 0, variants, 1};
  const KernelFunction *kernels = nullptr;
  const Status status = chooseVariant(image, 1, kernels);
  EXPECT_EQ(status.code(), NoDevice);
  EXPECT_NE(status.message().find("quantum-v1"), std::string::npos);
  EXPECT_TRUE(chooseVariant(image, 0, kernels).ok());
}

TEST(Copy, TransposesByLoops) {
  TestProgram builder({{"pp", 1}});
  const int in = builder.arena("in", ElementType::I32, {2, 3});
  const int out = builder.arena("out", ElementType::I32, {3, 2});
  auto &copy = builder.instruction<program::CopyT>("transpose");
  copy.source = in;
  copy.target = out;
  copy.loops = {{3, 1, 2}, {2, 3, 1}};
  OneInstruction run(builder);
  run.set<int32_t>(in, {1, 2, 3, 4, 5, 6});
  ASSERT_TRUE(run.run().ok());
  EXPECT_EQ(run.get<int32_t>(out), (std::vector<int32_t>{1, 4, 2, 5, 3, 6}));
}

TEST(Copy, LargeOnesAreDivided) {
  TestProgram builder({{"pp", 1}});
  const int in = builder.arena("in", ElementType::I64, {300, 500});
  const int out = builder.arena("out", ElementType::I64, {500, 300});
  auto &copy = builder.instruction<program::CopyT>("transpose");
  copy.source = in;
  copy.target = out;
  copy.loops = {{500, 1, 300}, {300, 500, 1}};
  OneInstruction run(builder, /*threads=*/3);
  std::vector<int64_t> values(150000), expected(150000);
  std::iota(values.begin(), values.end(), 0);
  for (int64_t i = 0; i < 500; ++i)
    for (int64_t j = 0; j < 300; ++j)
      expected[size_t(i * 300 + j)] = j * 500 + i;
  run.set(in, values);
  ASSERT_TRUE(run.run().ok());
  EXPECT_EQ(run.get<int64_t>(out), expected);
}

TEST(Fill, RepeatsItsElement) {
  TestProgram builder({{"pp", 1}});
  const int out = builder.arena("out", ElementType::I16, {5});
  auto &fill = builder.instruction<program::FillT>("fill");
  fill.buffer = out;
  fill.element = {7, 1};
  OneInstruction run(builder);
  ASSERT_TRUE(run.run().ok());
  EXPECT_EQ(run.get<int16_t>(out), std::vector<int16_t>(5, 263));
}
