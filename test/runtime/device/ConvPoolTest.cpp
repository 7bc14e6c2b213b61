//===- ConvPoolTest.cpp ---------------------------------------------------===//

#include "runtime/device/MatmulProblem.h"
#include "test/runtime/device/OneInstruction.h"

using namespace pcc;
using namespace pcc::runtime;
using namespace pcc::test;

namespace {
/// A convolution over one or two spatial dims. Two dims have the same
/// sizes.
struct Case {
  int64_t batch = 2, in = 4, out = 6, size = 7, window = 3;
  int64_t stride = 1, dilation = 1, before = 1, after = 1, groups = 1;
  bool transposed = false, bias = true, residual = false;
  program::Activation activation = program::Activation::None;

  int64_t outSize() const {
    if (transposed)
      return (size - 1) * stride - before - after + dilation * (window - 1) + 1;
    return (size + before + after - dilation * (window - 1) - 1) / stride + 1;
  }
};

/// Returns the input position of tap t of output position o, or -1.
int64_t tapOf(const Case &test, int64_t o, int64_t t) {
  int64_t at = o * test.stride - test.before + t * test.dilation;
  if (test.transposed) {
    at = o + test.before - t * test.dilation;
    if (at < 0 || at % test.stride != 0)
      return -1;
    at /= test.stride;
  }
  return at >= 0 && at < test.size ? at : -1;
}

std::vector<double> reference(const Case &test, const std::vector<float> &x,
                              const std::vector<float> &w,
                              const std::vector<float> &bias,
                              const std::vector<float> &residual) {
  std::vector<double> y;
  const int64_t size = test.outSize();
  const int64_t inGroup = test.in / test.groups;
  const int64_t outGroup = test.out / test.groups;
  const auto weight = [&](int64_t o, int64_t c, int64_t i, int64_t j) {
    const int64_t in = o / outGroup * inGroup + c;
    const int64_t row =
        test.transposed ? in * outGroup + o % outGroup : o * inGroup + c;
    return double(w[(row * test.window + i) * test.window + j]);
  };
  for (int64_t b = 0; b < test.batch; ++b)
    for (int64_t o = 0; o < test.out; ++o)
      for (int64_t h = 0; h < size; ++h)
        for (int64_t v = 0; v < size; ++v) {
          double sum = test.bias ? bias[o] : 0;
          for (int64_t c = 0; c < inGroup; ++c)
            for (int64_t i = 0; i < test.window; ++i)
              for (int64_t j = 0; j < test.window; ++j) {
                const int64_t row = tapOf(test, h, i), col = tapOf(test, v, j);
                const int64_t channel = o / outGroup * inGroup + c;
                if (row >= 0 && col >= 0)
                  sum += weight(o, c, i, j) *
                         x[((b * test.in + channel) * test.size + row) *
                               test.size +
                           col];
              }
          if (test.residual)
            sum += residual[y.size()];
          y.push_back(activate(test.activation, sum));
        }
  return y;
}

void check(const Case &test) {
  const int64_t size = test.outSize();
  TestProgram builder({{"pp", 1}});
  const std::vector<int64_t> weights =
      test.transposed ? std::vector<int64_t>{test.in, test.out / test.groups,
                                             test.window, test.window}
                      : std::vector<int64_t>{test.out, test.in / test.groups,
                                             test.window, test.window};
  const std::vector<int64_t> outs = {test.batch, test.out, size, size};
  const int x = builder.arena("x", ElementType::F32,
                              {test.batch, test.in, test.size, test.size});
  const int w = builder.randomParameter("w", weights, wholeLayout(weights));
  const int bias = builder.arena("bias", ElementType::F32, {test.out});
  const int residual = builder.arena("residual", ElementType::F32, outs);
  const int y = builder.arena("y", ElementType::F32, outs);
  auto &conv = builder.instruction<program::ConvT>("conv");
  conv.x = x;
  conv.w = w;
  conv.y = y;
  conv.bias = test.bias ? bias : -1;
  conv.residual = test.residual ? residual : -1;
  conv.strides = {test.stride, test.stride};
  conv.dilations = {test.dilation, test.dilation};
  conv.pads_begin = {test.before, test.before};
  conv.pads_end = {test.after, test.after};
  conv.groups = test.groups;
  conv.transposed = test.transposed;
  conv.activation = test.activation;
  OneInstruction run(builder);
  const auto input = pattern(test.batch * test.in * test.size * test.size, 1);
  const auto weight = pattern(numElements(weights), 2);
  const auto shift = pattern(test.out, 3),
             other = pattern(numElements(outs), 4);
  run.set(x, input);
  run.parameters.pieces[0] = weight;
  run.set(bias, shift);
  run.set(residual, other);
  const Status status = run.run();
  ASSERT_TRUE(status.ok()) << status.message();
  expectNear(run.get<float>(y), reference(test, input, weight, shift, other));
}
} // namespace

TEST(Conv, SameSize) { check({}); }
TEST(Conv, StridedAndUnevenlyPadded) {
  check({.stride = 2, .before = 0, .after = 1});
}
TEST(Conv, Dilated) { check({.dilation = 2, .before = 2, .after = 2}); }
TEST(Conv, Grouped) { check({.groups = 2}); }
TEST(Conv, DepthWise) { check({.in = 6, .groups = 6}); }
TEST(Conv, NegativePads) { check({.before = -1, .after = 0}); }
TEST(Conv, ManyChannelsChooseBlockedLayouts) {
  check({.in = 32,
         .out = 48,
         .residual = true,
         .activation = program::Activation::Relu});
}
TEST(Conv, WithoutBias) { check({.bias = false}); }
TEST(Conv, Transposed) { check({.stride = 2, .transposed = true}); }
TEST(Conv, TransposedGroups) {
  check({.groups = 2,
         .transposed = true,
         .activation = program::Activation::Relu});
}

TEST(Conv, OneSpatialDimInDoubles) {
  TestProgram builder({{"pp", 1}});
  const int x = builder.arena("x", ElementType::F64, {1, 1, 4});
  const int w = builder.arena("w", ElementType::F64, {1, 1, 2});
  const int y = builder.arena("y", ElementType::F64, {1, 1, 3});
  auto &conv = builder.instruction<program::ConvT>("conv");
  conv.x = x;
  conv.w = w;
  conv.y = y;
  conv.strides = conv.dilations = {1};
  conv.pads_begin = conv.pads_end = {0};
  OneInstruction run(builder);
  run.set<double>(x, {1, 2, 3, 4});
  run.set<double>(w, {10, 1});
  ASSERT_TRUE(run.run().ok());
  EXPECT_EQ(run.get<double>(y), (std::vector<double>{12, 23, 34}));
}

namespace {
std::vector<float> pool(program::PoolKind kind,
                        const std::vector<float> &values, int64_t window,
                        int64_t stride, int64_t pad) {
  const auto size = int64_t(values.size());
  const int64_t out = (size + 2 * pad - window) / stride + 1;
  TestProgram builder({{"pp", 1}});
  const int x = builder.arena("x", ElementType::F32, {1, 1, size});
  const int y = builder.arena("y", ElementType::F32, {1, 1, out});
  auto &pool = builder.instruction<program::PoolT>("pool");
  pool.x = x;
  pool.y = y;
  pool.kind = kind;
  pool.window = {window};
  pool.strides = {stride};
  pool.dilations = {1};
  pool.pads_begin = pool.pads_end = {pad};
  OneInstruction run(builder);
  run.set(x, values);
  EXPECT_TRUE(run.run().ok());
  return run.get<float>(y);
}
} // namespace

TEST(Pool, MaximumIgnoresPadding) {
  EXPECT_EQ(pool(program::PoolKind::Max, {-1, -2, -3, -4}, 2, 2, 1),
            (std::vector<float>{-1, -2, -4}));
}
TEST(Pool, AverageWithoutPadding) {
  EXPECT_EQ(pool(program::PoolKind::AverageWithoutPadding, {2, 4, 6}, 2, 2, 1),
            (std::vector<float>{2, 5}));
}
TEST(Pool, AverageWithPadding) {
  EXPECT_EQ(pool(program::PoolKind::AverageWithPadding, {2, 4, 6}, 2, 2, 1),
            (std::vector<float>{1, 5}));
}
