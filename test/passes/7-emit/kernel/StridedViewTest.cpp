//===- StridedViewTest.cpp - views against moved elements -----------------===//

#include "passes/7-emit/kernel/StridedView.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace llvm;
using namespace pcc::emit;

/// Returns the elements of the dense tensor 0, 1, 2 … that a view shows, in
/// order.
static std::vector<int64_t> elementsOf(const StridedView &view) {
  std::vector<int64_t> elements = {view.offset};
  for (auto [size, stride] : zip_equal(view.shape, view.strides)) {
    std::vector<int64_t> next;
    for (int64_t element : elements)
      for (int64_t i = 0; i < size; ++i)
        next.push_back(element + i * stride);
    elements = next;
  }
  return elements;
}

TEST(StridedView, DenseIsInOrder) {
  std::vector<int64_t> all(24);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(elementsOf(StridedView::dense({2, 3, 4})), all);
}

TEST(StridedView, HeadsOfASlice) {
  auto slice = StridedView::dense({4, 12}).sliced({0, 4}, {4, 4}, {1, 1});
  auto heads = slice.reshaped({4, 2, 2});
  ASSERT_TRUE(heads);
  StridedView first = heads->transposed({1, 0, 2});
  EXPECT_EQ(first.offset, 4);
  EXPECT_EQ(ArrayRef(first.shape), ArrayRef<int64_t>({2, 4, 2}));
  EXPECT_EQ(ArrayRef(first.strides), ArrayRef<int64_t>({2, 12, 1}));
}

/// A reshape shows the same elements in the same order, or does not exist.
TEST(StridedView, ReshapesKeepTheOrder) {
  const std::vector<std::vector<int64_t>> shapes = {
      {24},      {4, 6},       {6, 4},          {2, 12},   {12, 2},
      {2, 3, 4}, {4, 3, 2},    {1, 24, 1},      {3, 1, 8}, {8, 3},
      {3, 8},    {2, 2, 2, 3}, {1, 4, 1, 6, 1}, {2, 6, 2}};
  const std::vector<StridedView> views = {
      StridedView::dense({4, 6}),
      StridedView::dense({6, 4}).transposed({1, 0}),
      StridedView::dense({4, 12}).sliced({0, 3}, {4, 6}, {1, 1}),
      StridedView::dense({8, 6}).sliced({1, 0}, {4, 6}, {2, 1}),
      StridedView::dense({2, 3, 4}).transposed({0, 2, 1}),
      StridedView::dense({2, 3, 4}).transposed({1, 2, 0}),
      StridedView::dense({2, 4, 4}).sliced({0, 1, 0}, {2, 3, 4}, {1, 1, 1})};
  int numPossible = 0;
  for (const StridedView &view : views)
    for (const auto &shape : shapes)
      if (auto reshaped = view.reshaped(shape)) {
        ++numPossible;
        EXPECT_EQ(ArrayRef(reshaped->shape), ArrayRef(shape));
        EXPECT_EQ(elementsOf(*reshaped), elementsOf(view));
      }
  // Every reshape of a dense view, and some of each other view.
  EXPECT_GT(numPossible, 14 + 6);
  EXPECT_LT(numPossible, 7 * 14);
}

TEST(StridedView, ReshapesThatNeedACopy) {
  EXPECT_FALSE(StridedView::dense({4, 6}).transposed({1, 0}).reshaped({24}));
  EXPECT_FALSE(StridedView::dense({4, 12})
                   .sliced({0, 0}, {4, 6}, {1, 1})
                   .reshaped({2, 12}));
  EXPECT_TRUE(StridedView::dense({4, 12})
                  .sliced({0, 0}, {4, 6}, {1, 1})
                  .reshaped({2, 2, 6}));
  EXPECT_TRUE(StridedView::dense({0, 4}).transposed({1, 0}).reshaped({0}));
}
