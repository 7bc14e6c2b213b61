//===- HostOpsTest.cpp ----------------------------------------------------===//

#include "test/runtime/device/OneInstruction.h"

#include <cmath>

using namespace pcc;
using namespace pcc::runtime;
using namespace pcc::test;

namespace {
using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

std::pair<Floats, Ints> topK(const Floats &values, Ints shape, int64_t dim,
                             int64_t k, bool largest) {
  TestProgram builder({{"pp", 1}});
  const int x = builder.arena("x", ElementType::F32, shape);
  shape[size_t(dim)] = k;
  const int y = builder.arena("y", ElementType::F32, shape);
  const int indices = builder.arena("indices", ElementType::I64, shape);
  auto &op = builder.instruction<program::HostOpT>("topk");
  op.name = "top_k";
  op.inputs = {x};
  op.outputs = {y, indices};
  op.integers = {dim, largest};
  OneInstruction run(builder);
  run.set(x, values);
  EXPECT_TRUE(run.run().ok());
  return {run.get<float>(y), run.get<int64_t>(indices)};
}

Floats cumSum(const Floats &values, const Ints &shape, Ints attributes) {
  TestProgram builder({{"pp", 1}});
  const int x = builder.arena("x", ElementType::F32, shape);
  const int y = builder.arena("y", ElementType::F32, shape);
  auto &op = builder.instruction<program::HostOpT>("cumsum");
  op.name = "cumsum";
  op.inputs = {x};
  op.outputs = {y};
  op.integers = std::move(attributes);
  OneInstruction run(builder);
  run.set(x, values);
  EXPECT_TRUE(run.run().ok());
  return run.get<float>(y);
}
} // namespace

TEST(TopK, LowerIndexFirstAmongEquals) {
  const auto [values, indices] = topK({3, 1, 3, 2}, {4}, 0, 3, true);
  EXPECT_EQ(values, (Floats{3, 3, 2}));
  EXPECT_EQ(indices, (Ints{0, 2, 3}));
}

TEST(TopK, SmallestAlongTheOuterDim) {
  const auto [values, indices] = topK({5, 1, 2, 4, 3, 3}, {3, 2}, 0, 2, false);
  EXPECT_EQ(values, (Floats{2, 1, 3, 3}));
  EXPECT_EQ(indices, (Ints{1, 0, 2, 2}));
}

TEST(TopK, NanComesBeforeAllNumbers) {
  EXPECT_EQ(topK({1, NAN, 2}, {3}, 0, 2, true).second, (Ints{1, 2}));
  EXPECT_EQ(topK({1, NAN, 2}, {3}, 0, 2, false).second, (Ints{1, 0}));
}

TEST(CumSum, InclusiveExclusiveReverse) {
  EXPECT_EQ(cumSum({1, 2, 3}, {3}, {0, 0, 0}), (Floats{1, 3, 6}));
  EXPECT_EQ(cumSum({1, 2, 3}, {3}, {0, 1, 0}), (Floats{0, 1, 3}));
  EXPECT_EQ(cumSum({1, 2, 3}, {3}, {0, 0, 1}), (Floats{6, 5, 3}));
  EXPECT_EQ(cumSum({1, 2, 3, 4}, {2, 2}, {0, 0, 0}), (Floats{1, 2, 4, 6}));
}

namespace {
Floats scatter(const char *name, const Floats &data, const Ints &shape,
               const Ints &indices, const Ints &indexShape,
               const Floats &updates, const Ints &updateShape,
               Ints attributes) {
  TestProgram builder({{"pp", 1}});
  const int x = builder.arena("data", ElementType::F32, shape);
  const int at = builder.arena("indices", ElementType::I64, indexShape);
  const int values = builder.arena("updates", ElementType::F32, updateShape);
  const int y = builder.arena("y", ElementType::F32, shape);
  auto &op = builder.instruction<program::HostOpT>("scatter");
  op.name = name;
  op.inputs = {x, at, values};
  op.outputs = {y};
  op.integers = std::move(attributes);
  OneInstruction run(builder);
  run.set(x, data);
  run.set(at, indices);
  run.set(values, updates);
  const Status status = run.run();
  EXPECT_TRUE(status.ok()) << status.message();
  return run.get<float>(y);
}
} // namespace

TEST(Scatter, ElementsAlongADim) {
  EXPECT_EQ(scatter("scatter_elements", {1, 2, 3, 4, 5, 6}, {2, 3},
                    {0, -1, 1, 1}, {2, 2}, {10, 20, 30, 40}, {2, 2}, {1, 0}),
            (Floats{10, 2, 20, 4, 40, 6}));
  EXPECT_EQ(scatter("scatter_elements", {1, 2, 3}, {3}, {0, 0, 2}, {3},
                    {10, 20, 30}, {3}, {0, 1}),
            (Floats{31, 2, 33}));
}

TEST(Scatter, SlicesAtTuples) {
  EXPECT_EQ(scatter("scatter_nd", {1, 2, 3, 4, 5, 6}, {3, 2}, {2, 0}, {2, 1},
                    {7, 8, -9, 9}, {2, 2}, {3}),
            (Floats{1, 9, 3, 4, 7, 8}));
  EXPECT_EQ(scatter("scatter_nd", {1, 2, 3, 4}, {2, 2}, {1, 0}, {1, 2}, {9},
                    {1}, {0}),
            (Floats{1, 2, 9, 4}));
}

TEST(HostOps, UnknownNameIsADefect) {
  TestProgram builder({{"pp", 1}});
  builder.instruction<program::HostOpT>("node_7").name = "frobnicate";
  OneInstruction run(builder);
  const Status status = run.run();
  EXPECT_EQ(status.code(), Defect);
  EXPECT_EQ(status.message(),
            "the cpu device has no op 'frobnicate' (node 'node_7')");
}

namespace {
/// Checks `ids`, whose last dim has as many elements as `sizes`.
Status checkIndices(const std::vector<int64_t> &ids,
                    const std::vector<int64_t> &sizes, bool fromZero = false) {
  TestProgram builder({{"pp", 1}});
  const auto tuple = int64_t(sizes.size());
  const int x = builder.arena("ids", ElementType::I64,
                              {int64_t(ids.size()) / tuple, tuple});
  auto &check = builder.instruction<program::CheckIndicesT>("Gather_3");
  check.buffer = x;
  check.sizes = sizes;
  check.from_zero = fromZero;
  check.input = "ids";
  check.table_name = "wte";
  OneInstruction run(builder);
  run.set(x, ids);
  return run.run();
}
} // namespace

TEST(CheckIndices, NamesIndexBoundsNodeAndInput) {
  EXPECT_TRUE(checkIndices({-10, 9}, {10}).ok());
  const Status status = checkIndices({0, 10}, {10});
  EXPECT_EQ(status.code(), BadInput);
  EXPECT_EQ(status.message(), "index 10 in 'ids' is outside wte, which has "
                              "indices -10..9 (node 'Gather_3')");
}

TEST(CheckIndices, LabelsAreNotNegative) {
  EXPECT_TRUE(checkIndices({0, 9}, {10}, /*fromZero=*/true).ok());
  EXPECT_EQ(checkIndices({-1}, {10}, /*fromZero=*/true).message(),
            "index -1 in 'ids' is outside wte, which has indices 0..9 (node "
            "'Gather_3')");
}

TEST(CheckIndices, EachIndexOfATupleHasItsSize) {
  EXPECT_TRUE(checkIndices({1, 4, -2, -5}, {2, 5}).ok());
  EXPECT_EQ(checkIndices({1, 4, 0, 5}, {2, 5}).code(), BadInput);
  EXPECT_EQ(checkIndices({1, 4, 2, 0}, {2, 5}).code(), BadInput);
}

TEST(CheckIndices, AnEmptyDimHasNoIndices) {
  EXPECT_EQ(checkIndices({0}, {0}).message(),
            "index 0 in 'ids' is outside wte, which has no indices (node "
            "'Gather_3')");
}
