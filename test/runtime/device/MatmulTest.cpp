//===- MatmulTest.cpp -----------------------------------------------------===//

#include "runtime/device/MatmulProblem.h"
#include "runtime/tensor/FloatConversion.h"
#include "test/runtime/device/OneInstruction.h"

#include <cmath>

using namespace pcc;
using namespace pcc::runtime;
using namespace pcc::test;

namespace {
/// A product, with strides as in the instruction.
struct Case {
  std::vector<int64_t> batch = {};
  int64_t m = 5, n = 7, k = 6;
  std::vector<int64_t> a, b, c;
  int64_t fromA = 0, fromB = 0;
  float alpha = 1;
  bool bias = false;
  bool residual = false;
  program::Activation activation = program::Activation::None;
};

int64_t extentOf(const Case &test, const std::vector<int64_t> &strides,
                 int64_t rows, int64_t columns) {
  std::vector<int64_t> sizes = test.batch;
  sizes.insert(sizes.end(), {rows, columns});
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i)
    last += (sizes[i] - 1) * strides[i];
  return last + 1;
}

std::vector<double> reference(const Case &test, const std::vector<float> &a,
                              const std::vector<float> &b,
                              const std::vector<float> &bias,
                              const std::vector<float> &residual) {
  std::vector<double> c(size_t(extentOf(test, test.c, test.m, test.n)), 0);
  int64_t batches = 1;
  for (int64_t size : test.batch)
    batches *= size;
  for (int64_t batch = 0; batch < batches; ++batch) {
    int64_t rest = batch, atA = test.fromA, atB = test.fromB, atC = 0;
    for (size_t dim = test.batch.size(); dim-- > 0;) {
      const int64_t index = rest % test.batch[dim];
      rest /= test.batch[dim];
      atA += index * test.a[dim];
      atB += index * test.b[dim];
      atC += index * test.c[dim];
    }
    const size_t dims = test.batch.size();
    for (int64_t i = 0; i < test.m; ++i)
      for (int64_t j = 0; j < test.n; ++j) {
        double sum = 0;
        for (int64_t p = 0; p < test.k; ++p)
          sum += double(a[atA + i * test.a[dims] + p * test.a[dims + 1]]) *
                 b[atB + p * test.b[dims] + j * test.b[dims + 1]];
        sum *= test.alpha;
        if (test.bias)
          sum += bias[j];
        sum = activate(test.activation, sum);
        const int64_t at = atC + i * test.c[dims] + j * test.c[dims + 1];
        c[at] = sum + (test.residual ? residual[at] : 0);
      }
  }
  return c;
}

template <typename T>
void checkIn(ElementType type, const Case &test, double tolerance) {
  const auto a =
      pattern(test.fromA + extentOf(test, test.a, test.m, test.k), 1);
  const auto b =
      pattern(test.fromB + extentOf(test, test.b, test.k, test.n), 2);
  const int64_t size = extentOf(test, test.c, test.m, test.n);
  const auto bias = pattern(test.n, 3), residual = pattern(size, 4);
  TestProgram builder({{"pp", 1}});
  const int64_t sizeOfA = int64_t(a.size()), sizeOfB = int64_t(b.size());
  const int inA = builder.arena("a", type, {sizeOfA});
  const int inB = builder.arena("b", type, {sizeOfB});
  const int inBias = builder.arena("bias", type, {test.n});
  const int inResidual = builder.arena("residual", type, {size});
  const int out = builder.arena("c", type, {size});
  auto &matmul = builder.matmul(inA, inB, out, test.m, test.n, test.k);
  matmul.batch = test.batch;
  matmul.a_strides = test.a;
  matmul.b_strides = test.b;
  matmul.c_strides = matmul.residual_strides = test.c;
  matmul.a_offset = test.fromA;
  matmul.b_offset = test.fromB;
  matmul.alpha = test.alpha;
  matmul.activation = test.activation;
  if (test.bias)
    matmul.bias = inBias;
  if (test.residual)
    matmul.residual = inResidual;
  OneInstruction run(builder);
  const auto set = [&](int buffer, const std::vector<float> &values) {
    run.set(buffer, std::vector<T>(values.begin(), values.end()));
  };
  set(inA, a);
  set(inB, b);
  set(inBias, bias);
  set(inResidual, residual);
  const Status status = run.run();
  ASSERT_TRUE(status.ok()) << status.message();
  std::vector<float> got;
  for (T value : run.get<T>(out))
    got.push_back(static_cast<float>(value));
  expectNear(got, reference(test, a, b, bias, residual), tolerance);
}

/// Computes the product. Elements of operands have at most four bits.
void check(const Case &test) {
  checkIn<float>(ElementType::F32, test, 1e-5);
  checkIn<Float16>(ElementType::F16, test, 4e-3);
  checkIn<BFloat16>(ElementType::BF16, test, 3e-2);
}
} // namespace

TEST(Matmul, Plain) { check({.a = {6, 1}, .b = {7, 1}, .c = {7, 1}}); }

TEST(Matmul, TransposedOperandsAreStrides) {
  check({.a = {1, 5}, .b = {1, 6}, .c = {7, 1}});
}

TEST(Matmul, EverythingFused) {
  check({.a = {6, 1},
         .b = {7, 1},
         .c = {7, 1},
         .alpha = 0.5f,
         .bias = true,
         .residual = true,
         .activation = program::Activation::GeluErf});
}

TEST(Matmul, EveryActivation) {
  for (auto activation : program::EnumValuesActivation())
    check({.a = {6, 1},
           .b = {7, 1},
           .c = {7, 1},
           .bias = true,
           .activation = activation});
}

TEST(Matmul, HeadsAreStrides) {
  // q, k of [batch 2, sequence 5, heads 3, 4]: scores of every head.
  check({.batch = {2, 3},
         .m = 5,
         .n = 5,
         .k = 4,
         .a = {60, 4, 12, 1},
         .b = {60, 4, 1, 12},
         .c = {75, 25, 5, 1},
         .alpha = 0.5f});
}

TEST(Matmul, HeadsAreWrittenBackStrided) {
  check({.batch = {2, 3},
         .m = 5,
         .n = 4,
         .k = 5,
         .a = {75, 25, 5, 1},
         .b = {60, 4, 12, 1},
         .c = {60, 4, 12, 1}});
}

TEST(Matmul, HeadsAreSlicesOfAProjection) {
  // q, k, v side by side in [batch 2, sequence 5, 3, heads 3, 4].
  check({.batch = {2, 3},
         .m = 5,
         .n = 5,
         .k = 4,
         .a = {180, 4, 36, 1},
         .b = {180, 4, 1, 36},
         .c = {75, 25, 5, 1},
         .fromA = 0,
         .fromB = 12});
  check({.batch = {2, 3},
         .m = 5,
         .n = 4,
         .k = 5,
         .a = {75, 25, 5, 1},
         .b = {180, 4, 36, 1},
         .c = {60, 4, 12, 1},
         .fromB = 24});
}

TEST(Matmul, SlicesInEveryImplementation) {
  check({.a = {12, 1}, .b = {14, 1}, .c = {7, 1}, .fromA = 6, .fromB = 7});
  // Neither dim is dense, so plain loops compute the product.
  check({.a = {24, 2},
         .b = {28, 2},
         .c = {14, 2},
         .fromA = 3,
         .fromB = 5,
         .bias = true});
  check({.m = 33,
         .n = 70,
         .k = 40,
         .a = {64, 1},
         .b = {1, 64},
         .c = {70, 1},
         .fromA = 8,
         .fromB = 24,
         .bias = true,
         .residual = true,
         .activation = program::Activation::Silu});
}

TEST(Matmul, BroadcastWeightMergesTheBatch) {
  check({.batch = {2, 3},
         .a = {90, 30, 6, 1},
         .b = {0, 0, 7, 1},
         .c = {105, 35, 7, 1},
         .bias = true,
         .residual = true});
}

TEST(Matmul, GroupedHeadsBroadcastKeys) {
  // 2 key heads for 4 query heads.
  check({.batch = {2, 2},
         .m = 3,
         .n = 3,
         .k = 4,
         .a = {24, 12, 4, 1},
         .b = {12, 0, 1, 4},
         .c = {18, 9, 3, 1}});
}

TEST(Matmul, VectorsHaveAnyStrides) {
  check({.m = 1, .a = {0, 1}, .b = {7, 1}, .c = {0, 1}});
  check({.n = 1, .a = {6, 1}, .b = {1, 0}, .c = {1, 0}, .bias = true});
  check({.m = 1, .n = 1, .k = 1, .a = {0, 0}, .b = {0, 0}, .c = {0, 0}});
}

TEST(Matmul, BatchOfVectorsBecomesRows) {
  check({.batch = {4},
         .m = 1,
         .a = {10, 0, 1},
         .b = {0, 7, 1},
         .c = {9, 0, 1},
         .residual = true});
}

TEST(Matmul, StridesThatNoLibraryHas) {
  check({.a = {12, 2}, .b = {14, 2}, .c = {14, 2}, .bias = true});
}

TEST(Matmul, EmptyProductIsZeroPlusBias) {
  check({.k = 0, .a = {1, 1}, .b = {7, 1}, .c = {7, 1}, .bias = true});
}

TEST(Matmul, LargeOddSizes) {
  check({.m = 67,
         .n = 129,
         .k = 95,
         .a = {95, 1},
         .b = {129, 1},
         .c = {129, 1},
         .residual = true});
}

TEST(Matmul, DoublesAreExactInDouble) {
  TestProgram builder({{"pp", 1}});
  const int a = builder.arena("a", ElementType::F64, {2, 2});
  const int b = builder.arena("b", ElementType::F64, {2, 2});
  const int c = builder.arena("c", ElementType::F64, {2, 2});
  builder.matmul(a, b, c, 2, 2, 2);
  OneInstruction run(builder);
  run.set<double>(a, {1, 1e-12, 0, 1});
  run.set<double>(b, {1, 2, 3, 4});
  ASSERT_TRUE(run.run().ok());
  EXPECT_EQ(run.get<double>(c),
            (std::vector<double>{1 + 3e-12, 2 + 4e-12, 3, 4}));
}

TEST(Matmul, BFloat16) {
  TestProgram builder({{"pp", 1}});
  const int a = builder.arena("a", ElementType::BF16, {1, 2});
  const int b = builder.arena("b", ElementType::BF16, {2, 1});
  const int c = builder.arena("c", ElementType::BF16, {1, 1});
  builder.matmul(a, b, c, 1, 1, 2);
  OneInstruction run(builder);
  run.set<uint16_t>(a, {0x3f80, 0x4000}); // 1, 2
  run.set<uint16_t>(b, {0x4040, 0x4080}); // 3, 4
  ASSERT_TRUE(run.run().ok());
  EXPECT_EQ(run.get<uint16_t>(c), std::vector<uint16_t>{0x4130}); // 11
}

namespace {
/// Computes y = x w with a weight of [k, n], transposed in memory or not.
void checkWeight(bool exclusive, bool transposed) {
  constexpr int64_t m = 33, n = 96, k = 64;
  TestProgram builder({{"pp", 1}});
  const int x = builder.arena("x", ElementType::F32, {m, k});
  const int w = builder.randomParameter(
      "w", {k, n}, wholeLayout(std::vector<int64_t>{k, n}));
  const int y = builder.arena("y", ElementType::F32, {m, n});
  auto &matmul = builder.matmul(x, w, y, m, n, k);
  if (transposed)
    matmul.b_strides = {1, k};
  OneInstruction run(builder);
  run.parameters.exclusive = exclusive;
  const auto left = pattern(m * k, 1), right = pattern(k * n, 2);
  run.set(x, left);
  run.parameters.pieces[0] = right;
  ASSERT_TRUE(run.run().ok());
  if (!run.parameters.dropped.empty()) {
    std::fill(run.parameters.pieces[0].begin(), run.parameters.pieces[0].end(),
              NAN);
    ASSERT_TRUE(run.rerun().ok());
  }
  EXPECT_LE(run.parameters.dropped.size(), exclusive ? 1u : 0u);
  std::vector<double> expected;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum +=
            double(left[i * k + p]) * right[transposed ? p + j * k : p * n + j];
      expected.push_back(sum);
    }
  expectNear(run.get<float>(y), expected);
}
} // namespace

TEST(Matmul, ExclusiveWeightIsPackedAndDropped) { checkWeight(true, false); }
TEST(Matmul, TransposedWeightIsPackedAndDropped) { checkWeight(true, true); }
TEST(Matmul, SharedWeightStaysAsItIs) { checkWeight(false, false); }
