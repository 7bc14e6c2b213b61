//===- ViewTest.cpp - Dims seen through windows ---------------------------===//
#include "sharding/Runs.h"
#include "sharding/ShardingText.h"

#include <gtest/gtest.h>

#include <random>

using namespace pcc::dist;

namespace {

TEST(View, ShowsElementsAndHoles) {
  // 8 rows on 2 ranks, read by windows of 3.
  View rows{2, 6, 4, 8, {{0, 6, -1, 1}}};
  std::vector<std::optional<int64_t>> seen;
  for (int64_t i = 0; i < rows.size(); ++i)
    seen.push_back(rows.elementAt(i));
  EXPECT_EQ(seen, (std::vector<std::optional<int64_t>>{
                      {}, 0, 1, 2, 3, 4, 3, 4, 5, 6, 7, {}}));
}

TEST(View, FindsIndicesOfElements) {
  View rows{2, 6, 4, 8, {{0, 6, -1, 1}}};
  EXPECT_EQ(rows.indicesOf({{3, 5}}), (Runs{{4, 8}}));
  View roll{1, 8, 0, 8, {{0, 7, 1, 1}, {7, 8, 0, 1}}};
  EXPECT_EQ(roll.indicesOf({{0, 2}}), (Runs{{0, 1}, {7, 8}}));
  View backwards{1, 4, 0, 8, {{0, 4, 7, -2}}};
  EXPECT_EQ(backwards.indicesOf({{0, 4}}), (Runs{{2, 4}}));
}

/// Returns a view of a dim of `size` whose pieces are at random places.
View randomView(std::mt19937 &random, int64_t size) {
  auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  View view{1 + below(4), 1 + below(9), below(7), below(size + 1), {}};
  for (int64_t at = below(3); at < view.length;) {
    int64_t end = std::min(view.length, at + 1 + below(5));
    int64_t step = below(2) ? 1 : below(2) ? 2 : -1;
    view.pieces.push_back({at, end, below(size + 4) - 2, step});
    at = end + below(3);
  }
  return view;
}

TEST(View, IndicesAreThoseOfEachElement) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    int64_t size = 1 + static_cast<int64_t>(random() % 16);
    View view = randomView(random, size);
    ASSERT_FALSE(findError(view, size)) << toString(view);
    int64_t lo = static_cast<int64_t>(random() % (size + 1));
    int64_t hi = lo + static_cast<int64_t>(random() % (size + 1 - lo));
    Runs expected;
    for (int64_t i = 0; i < view.size(); ++i)
      if (auto element = view.elementAt(i);
          element && *element >= lo && *element < hi) {
        if (!expected.empty() && expected.back().hi == i)
          ++expected.back().hi;
        else
          expected.push_back({i, i + 1});
      }
    EXPECT_EQ(view.indicesOf({{lo, hi}}), expected)
        << toString(view) << " of " << lo << ".." << hi;
  }
}

TEST(View, TextIsReadBack) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    Sharding sharding = Sharding::whole(2);
    sharding.dims[1].view = randomView(random, 16);
    if (round % 2)
      sharding.dims[1].factors = {
          {sharding.dims[1].view->blocks, {{"t", 1, 2}}},
          {sharding.dims[1].view->length, {}}};
    std::string text = toString(sharding);
    auto read = parseSharding(text, nullptr, nullptr);
    ASSERT_TRUE(read) << text << ": " << read.status().message();
    EXPECT_EQ(*read, canonical(sharding)) << text;
  }
}

TEST(View, FaultsAreFound) {
  EXPECT_TRUE(findError(View{0, 4, 0, 4, {}}, 4));
  EXPECT_TRUE(findError(View{1, 4, 0, 5, {}}, 4));
  EXPECT_TRUE(findError(View{1, 4, 0, 4, {{0, 5, 0, 1}}}, 4));
  EXPECT_TRUE(findError(View{1, 4, 0, 4, {{0, 2, 0, 1}, {1, 3, 0, 1}}}, 4));
  EXPECT_TRUE(findError(View{1, 4, 0, 4, {{0, 4, 0, 0}}}, 4));
  EXPECT_TRUE(findError(View{1, 4, 0, 4, {{0, 4, INT64_MAX, 1}}}, 4));
  EXPECT_FALSE(findError(View{1, 4, 0, 4, {{0, 4, -2, 1}}}, 4));
}

} // namespace
