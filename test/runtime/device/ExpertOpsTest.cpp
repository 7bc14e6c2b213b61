//===- ExpertOpsTest.cpp - rows that go to some experts -------------------===//

#include "runtime/tensor/ElementDispatch.h"
#include "test/runtime/device/OneInstruction.h"

#include <cmath>

using namespace pcc;
using namespace pcc::runtime;
using namespace pcc::test;

namespace {
using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

struct Rows {
  Ints token, expert;
  Floats weight;
  Ints counts;
  bool operator==(const Rows &) const = default;
};

/// Returns the rows of three tokens and two experts.
Rows grouped(const Floats &gates, int64_t chosen) {
  const int64_t size = 3 * std::min<int64_t>(chosen, 2);
  TestProgram builder({{"pp", 1}});
  const int gate = builder.arena("gate", ElementType::F32, {3, 2});
  const int token = builder.arena("token", ElementType::I64, {size});
  const int expert = builder.arena("expert", ElementType::I64, {size});
  const int weight = builder.arena("weight", ElementType::F32, {size});
  const int counts = builder.arena("counts", ElementType::I64, {2});
  auto &op = builder.instruction<program::HostOpT>("moe");
  op.name = "group_rows";
  op.inputs = {gate};
  op.outputs = {token, expert, weight, counts};
  op.integers = {chosen};
  OneInstruction run(builder);
  run.set(gate, gates);
  const Status status = run.run();
  EXPECT_TRUE(status.ok()) << status.message();
  return {run.get<int64_t>(token), run.get<int64_t>(expert),
          run.get<float>(weight), run.get<int64_t>(counts)};
}

/// Multiplies three rows [1 2], [3 4], [5 6] by two matrices.
Status multiply(ElementType type, const Ints &counts, bool transposed,
                Floats &result) {
  TestProgram builder({{"pp", 1}});
  const int rows = builder.arena("rows", type, {3, 2});
  const int matrices = builder.arena("matrices", type, {2, 2, 2});
  const int numbers = builder.arena("counts", ElementType::I64,
                                    {static_cast<int64_t>(counts.size())});
  const int y = builder.arena("y", type, {3, 2});
  auto &op = builder.instruction<program::HostOpT>("moe");
  op.name = "grouped_matmul";
  op.inputs = {rows, matrices, numbers};
  op.outputs = {y};
  op.integers = {transposed};
  OneInstruction run(builder);
  const Floats a{1, 2, 3, 4, 5, 6}, b{1, 0, 1, 0, 0, 2, 1, 0};
  dispatch(type, [&](auto element) {
    using T = decltype(element);
    auto set = [&](int buffer, const Floats &values) {
      std::vector<T> converted;
      for (float value : values)
        converted.push_back(T(value));
      run.set(buffer, converted);
    };
    set(rows, a);
    set(matrices, b);
  });
  run.set(numbers, counts);
  const Status status = run.run();
  result.clear();
  dispatch(type, [&](auto element) {
    for (auto value : run.get<decltype(element)>(y))
      result.push_back(static_cast<float>(value));
  });
  return status;
}
} // namespace

TEST(GroupRows, OrderedByExpertsThenTokens) {
  EXPECT_EQ(grouped({0, 0.5, 0.25, 0, 0, 0.125}, 1),
            (Rows{{1, 0, 2}, {0, 1, 1}, {0.25, 0.5, 0.125}, {1, 2}}));
}

TEST(GroupRows, AllTokensToOneExpert) {
  EXPECT_EQ(grouped({0, 0.5, 0, 0.25, 0, 1}, 1),
            (Rows{{0, 1, 2}, {1, 1, 1}, {0.5, 0.25, 1}, {0, 3}}));
}

TEST(GroupRows, PaddingIsZero) {
  EXPECT_EQ(grouped({0, 0, 0, 0.5, 0, 0}, 2), (Rows{{1, 0, 0, 0, 0, 0},
                                                    {1, 0, 0, 0, 0, 0},
                                                    {0.5, 0, 0, 0, 0, 0},
                                                    {0, 1}}));
}

/// The rows of a token with NaN gates take no room from other tokens.
TEST(GroupRows, NanIsNoMoreRows) {
  const Rows rows = grouped({NAN, NAN, 0, 1, 0, 1}, 1);
  EXPECT_EQ(rows.token, (Ints{0, 1, 2}));
  EXPECT_EQ(rows.counts, (Ints{1, 2}));
}

TEST(GroupedMatmul, EachRowHasItsMatrix) {
  for (ElementType type : {ElementType::F32, ElementType::F64,
                           ElementType::BF16, ElementType::F16}) {
    Floats y;
    EXPECT_TRUE(multiply(type, {1, 2}, false, y).ok());
    EXPECT_EQ(y, (Floats{3, 0, 4, 6, 6, 10}));
    EXPECT_TRUE(multiply(type, {0, 3}, true, y).ok());
    EXPECT_EQ(y, (Floats{4, 1, 8, 3, 12, 5}));
  }
}

/// More columns than are widened at a time.
TEST(GroupedMatmul, ManyColumns) {
  const int64_t n = 600;
  TestProgram builder({{"pp", 1}});
  const int rows = builder.arena("rows", ElementType::BF16, {2, 3});
  const int matrices = builder.arena("matrices", ElementType::BF16, {1, 3, n});
  const int counts = builder.arena("counts", ElementType::I64, {1});
  const int y = builder.arena("y", ElementType::BF16, {2, n});
  auto &op = builder.instruction<program::HostOpT>("moe");
  op.name = "grouped_matmul";
  op.inputs = {rows, matrices, counts};
  op.outputs = {y};
  op.integers = {0};
  OneInstruction run(builder);
  std::vector<BFloat16> a, b;
  for (int i = 0; i < 6; ++i)
    a.push_back(BFloat16(float(i)));
  for (int64_t i = 0; i < 3 * n; ++i)
    b.push_back(BFloat16(float(i % 7)));
  run.set(rows, a);
  run.set(matrices, b);
  run.set(counts, Ints{2});
  EXPECT_TRUE(run.run().ok());
  const std::vector<BFloat16> result = run.get<BFloat16>(y);
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t p = 0; p < 3; ++p)
        sum += float(a[size_t(i * 3 + p)]) * float(b[size_t(p * n + j)]);
      EXPECT_EQ(float(result[size_t(i * n + j)]), sum);
    }
}

TEST(GroupedMatmul, PaddingGivesZeros) {
  Floats y;
  EXPECT_TRUE(multiply(ElementType::F32, {0, 1}, false, y).ok());
  EXPECT_EQ(y, (Floats{2, 2, 0, 0, 0, 0}));
}

TEST(GroupedMatmul, CountsOfOtherExpertsAreRefused) {
  Floats y;
  const Status status = multiply(ElementType::F32, {1, 1, 1}, false, y);
  EXPECT_EQ(status.code(), DamagedBundle);
  EXPECT_EQ(status.message(), "op 'grouped_matmul' of node 'moe' has "
                              "operands of another type or shape");
}
