//===- ShardingTest.cpp - Canonical forms, text and index runs ------------===//
#include "sharding/Sharding.h"
#include "sharding/Runs.h"
#include "sharding/ShardingText.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace pcc::dist;

namespace {

const Mesh mesh{{{"x", 2}, {"tp", 4}}};

Sharding parsed(const std::string &text, const Shape &shape) {
  auto sharding = parseSharding(text, mesh, shape);
  EXPECT_TRUE(sharding) << text << ": " << sharding.status().message();
  return sharding ? *sharding : Sharding::whole(shape.size());
}

std::string errorOf(const std::string &text, const Shape &shape) {
  auto sharding = parseSharding(text, mesh, shape);
  EXPECT_FALSE(sharding) << text;
  return sharding.status().message();
}

/// Returns the text of the canonical form of a one-dim sharding.
std::string canonicalText(const std::string &text, int64_t size) {
  return toString(parsed("[" + text + "]", {size}), &mesh);
}

TEST(Canonical, FactorsMergeWhereNoRankSeesIt) {
  EXPECT_EQ(canonicalText("4@tp|3", 12), "[12@tp]");
  EXPECT_EQ(canonicalText("30@tp|64", 1920), "[30@tp|64]");
  EXPECT_EQ(canonicalText("3|64@tp", 192), "[3|64@tp]");
  EXPECT_EQ(canonicalText("3|2|64@tp", 384), "[6|64@tp]");
  EXPECT_EQ(canonicalText("2@x|8@tp", 16), "[16@x+tp]");
  EXPECT_EQ(canonicalText("2@x|5@tp", 10), "[2@x|5@tp]");
  EXPECT_EQ(canonicalText("1|12@tp|1", 12), "[12@tp]");
  EXPECT_EQ(canonicalText("1@tp", 1), "[1@tp]");
}

TEST(Parse, AxesWithoutASizeDivideTheRestOfTheDim) {
  EXPECT_EQ(canonicalText("3|tp", 192), "[3|64@tp]");
  EXPECT_EQ(canonicalText("3|2@x|tp", 192), "[3|64@x+tp]");
  EXPECT_EQ(canonicalText("1|tp", 12), "[12@tp]");
  EXPECT_EQ(errorOf("[5|tp]", {12}),
            "expected factors whose product divides 12, the size of dim 0, at "
            "character 6, got '[5|tp]'");
  EXPECT_NE(errorOf("[0|tp]", {12}), "");
  EXPECT_NE(errorOf("[9223372036854775807|9|tp]", {12}), "");
  EXPECT_NE(errorOf("[tp|3]", {12}), "");
}

TEST(Parse, TheGrammarIsCheckedWithoutMeshAndShape) {
  for (const char *text :
       {"[tp,-]", "[ x+y , ? ]", "[3|tp]", "[-,tp:(2)4]", "[]", "[a.b]"})
    EXPECT_EQ(checkSyntax(text), "") << text;
  EXPECT_EQ(checkSyntax("[tp,]"),
            "expected an axis, - or ? at character 5, got '[tp,]'");
  for (const char *text : {"[tp", "tp", "[tp|3]", "[tp+]", "[tp:]", "[-] x"})
    EXPECT_NE(checkSyntax(text), "") << text;
}

TEST(Canonical, WholeDimsHaveNoFactors) {
  EXPECT_EQ(canonicalText("3|4", 12), "[-]");
  EXPECT_EQ(canonicalText("12@x:(2)1", 12), "[-]");
}

TEST(Canonical, NeighbouringSubAxesMerge) {
  EXPECT_EQ(canonicalText("tp:(1)2+tp:(2)2", 16), "[16@tp]");
  EXPECT_EQ(canonicalText("tp:(2)2+tp:(1)2", 16), "[16@tp:(2)2+tp:(1)2]");
  EXPECT_EQ(toString(parsed("[-] partial sum(tp:(2)2+x+tp:(1)2)", {4}), &mesh),
            "[-] partial sum(tp+x)");
}

TEST(Canonical, PlacementForgetsWhatGuidesPropagation) {
  EXPECT_TRUE(samePlacement(parsed("[?, tp] replicated {x}", {4, 8}),
                            parsed("[-, tp? p2]", {4, 8})));
  EXPECT_FALSE(
      samePlacement(parsed("[tp, -]", {4, 8}), parsed("[-, tp]", {4, 8})));
}

/// Uneven heads that another op cuts once more: all ranks hold the same
/// elements.
TEST(Canonical, UnevenPartsAreEqualHoweverTheyAreCut) {
  auto same = [](const std::string &a, const std::string &b, int64_t size) {
    return samePlacement(parsed("[" + a + "]", {size}),
                         parsed("[" + b + "]", {size}));
  };
  EXPECT_TRUE(same("3@tp|16", "6@tp|8", 48));
  EXPECT_TRUE(same("30@tp|64", "15@tp|128", 1920));
  EXPECT_TRUE(same("3@tp|8@x", "6@tp+x|4", 24));
  EXPECT_TRUE(same("3@tp|8@x", "12@tp+x|2", 24));
  EXPECT_FALSE(same("3@tp|8@x", "24@tp+x", 24));
  EXPECT_FALSE(same("3@tp|16", "12@tp|4", 48));
  EXPECT_FALSE(same("30@tp|64", "1920@tp", 1920));
  EXPECT_FALSE(same("5@tp|8", "10@tp|4", 40));
}

/// Returns every way to cut `size` into up to three factors and to assign
/// `digits`, in this or the reverse order.
std::vector<DimSharding> allForms(int64_t size, const SubAxes &digits) {
  std::vector<DimSharding> forms;
  for (int64_t a = 1; a <= size; ++a)
    for (int64_t b = 1; a * b <= size; ++b)
      for (int choice = 0; size % (a * b) == 0 && choice < 128; ++choice) {
        DimSharding dim;
        dim.factors = {{a, {}}, {b, {}}, {size / (a * b), {}}};
        SubAxes order = digits;
        if (choice >= 64)
          std::reverse(order.begin(), order.end());
        for (size_t i = 0; i < order.size(); ++i)
          if (int place = choice >> (2 * i) & 3; place < 3)
            dim.factors[place].axes.push_back(order[i]);
        if (std::none_of(dim.factors.begin(), dim.factors.end(),
                         [](const Factor &factor) {
                           return factor.size == 1 && !factor.axes.empty();
                         }))
          forms.push_back(canonical(dim));
      }
  return forms;
}

/// Returns the indices that all ranks hold, and the size of their buffers.
std::vector<int64_t> signature(const DimSharding &dim, int64_t size) {
  std::vector<int64_t> numbers = {localDim(dim, size)};
  for (int64_t rank = 0; rank < mesh.size(); ++rank) {
    for (const Run &run : runsOf(dim, size, mesh, mesh.coordinates(rank)))
      numbers.insert(numbers.end(), {run.lo, run.hi});
    numbers.push_back(-1);
  }
  return numbers;
}

bool hasRoom(const Sharding &sharding) {
  const std::vector<Factor> &factors = sharding.dims[0].factors;
  return std::all_of(factors.begin(), factors.end(), [](const Factor &factor) {
    return factor.size >= factor.numParts();
  });
}

TEST(Canonical, OnlyEqualPlacementsAreTheSame) {
  const SubAxes digits = {{"x", 1, 2}, {"tp", 1, 2}, {"tp", 2, 2}};
  for (int64_t size : {6, 8, 12, 24}) {
    std::vector<std::pair<Sharding, std::vector<int64_t>>> known;
    for (const DimSharding &form : allForms(size, digits)) {
      Sharding sharding;
      sharding.dims = {form};
      if (std::none_of(known.begin(), known.end(), [&](const auto &other) {
            return other.first == sharding;
          }))
        known.push_back({sharding, signature(form, size)});
    }
    // If a factor has fewer elements than parts, several forms can express
    // which ranks are empty, and one canonical form does not cover them all.
    for (const auto &[a, heldA] : known)
      for (const auto &[b, heldB] : known)
        if (samePlacement(a, b) || (hasRoom(a) && hasRoom(b)))
          EXPECT_EQ(samePlacement(a, b), heldA == heldB)
              << toString(a, &mesh) << " and " << toString(b, &mesh);
  }
}

TEST(Sharding, LocalShapesAreCeilings) {
  EXPECT_EQ(localShape(parsed("[tp, x]", {10, 7}), {10, 7}), (Shape{3, 4}));
  EXPECT_EQ(localShape(parsed("[30@tp|64]", {1920}), {1920}), (Shape{512}));
  EXPECT_TRUE(isPadded(parsed("[tp, -]", {10, 7}).dims[0]));
  EXPECT_FALSE(isPadded(parsed("[tp, -]", {12, 7}).dims[0]));
  EXPECT_EQ(numParts(parsed("[tp, x]", {10, 7})), 8);
  EXPECT_TRUE(isReplicated(parsed("[-, ?]", {10, 7})));
  EXPECT_FALSE(isReplicated(parsed("[-] partial sum(x)", {10})));
}

TEST(Sharding, EqualShardingsHashEqually) {
  EXPECT_EQ(hashValue(parsed("[4@tp|3]", {12})),
            hashValue(parsed("[tp]", {12})));
  EXPECT_NE(hashValue(parsed("[x,-]", {4, 4})),
            hashValue(parsed("[-,x]", {4, 4})));
}

TEST(WithoutAxes, TheOthersKeepTheirParts) {
  auto text = [](const std::string &dim, int64_t size, const SubAxes &axes) {
    auto rest = withoutAxes(parsed("[" + dim + "]", {size}).dims[0], axes);
    return rest ? toString(*rest, &mesh) : "none";
  };
  EXPECT_EQ(text("x+tp", 16, {{"x", 1, 2}}), "2|8@tp");
  EXPECT_EQ(text("x+tp", 16, {{"tp", 1, 4}}), "16@x");
  EXPECT_EQ(text("tp", 16, {{"tp", 1, 2}}), "2|8@tp:(2)2");
  EXPECT_EQ(text("tp", 10, {{"tp", 1, 4}}), "-");
  EXPECT_EQ(text("x+tp", 12, {{"x", 1, 2}}), "none");
  EXPECT_EQ(text("3|16@x+tp", 48, {{"x", 1, 2}}), "6|8@tp");
}

TEST(FindError, NamesTheAxisAndTheDims) {
  EXPECT_EQ(errorOf("[tp,tp]", {4, 4}),
            "dim 1 uses axis 'tp', which dim 0 already uses");
  EXPECT_EQ(errorOf("[tq,-]", {4, 4}),
            "axis 'tq' is not in the mesh; its axes are x and tp");
  EXPECT_EQ(errorOf("[tp:(1)3,-]", {4, 4}),
            "dim 0 uses sub-axis tp:(1)3, which does not divide axis 'tp' of "
            "size 4");
  EXPECT_EQ(errorOf("[tp]", {4, 4}), "sharding has 1 dim, the tensor has 2");
  EXPECT_EQ(errorOf("[3|5@tp]", {16}),
            "dim 0 has factors that multiply to 15, got size 16");
  EXPECT_EQ(errorOf("[tp] partial sum(tp)", {16}),
            "the partial list uses axis 'tp', which dim 0 already uses");
  EXPECT_EQ(errorOf("[-] partial sum(tp) partial max(x)", {16}),
            "partial over axes of different kinds, got sum and max");
}

TEST(Text, RejectsWhatItCannotRead) {
  for (const char *text :
       {"", "[", "[tp", "[tp,]", "tp", "[tp]x", "[8@]", "[-] partial avg(tp)",
        "[tp|3]", "[tp:(0)2]", "[99999999999999999999@tp]",
        "[tp:(4294967296)4294967296]", "[-]]"})
    EXPECT_NE(errorOf(text, {8}), "") << text;
}

TEST(Text, WithoutMeshItReadsWhatItPrints) {
  for (const char *text :
       {"[]", "[-, ?, 8@tp? p1]", "[3|64@tp:(2)2+x, -] partial max(tp:(1)2)",
        "[-] replicated {x}"}) {
    Shape shape = {192, 4, 8};
    auto sharding = parseSharding(text, &mesh, &shape);
    ASSERT_TRUE(sharding) << text << ": " << sharding.status().message();
    auto again = parseSharding(toString(*sharding), nullptr, nullptr);
    ASSERT_TRUE(again) << toString(*sharding) << ": "
                       << again.status().message();
    EXPECT_EQ(*again, *sharding);
  }
  EXPECT_EQ(toBriefString(parsed("[ tp , x ]", {8, 8}), mesh), "[tp, x]");
}

/// Returns the indices that a rank holds, by the definition: digits of the
/// index by factor, parts of ceil size.
std::vector<int64_t> heldIndices(const DimSharding &dim, int64_t size,
                                 const Coordinates &where) {
  std::vector<int64_t> held;
  for (int64_t index = 0; index < size; ++index) {
    bool mine = true;
    int64_t rest = index;
    for (size_t i = dim.factors.size(); i-- > 0; rest /= dim.factors[i].size) {
      const Factor &factor = dim.factors[i];
      mine &= rest % factor.size / factor.localSize() ==
              coordinateOf(factor.axes, mesh, where);
    }
    if (mine)
      held.push_back(index);
  }
  return held;
}

TEST(Runs, EqualBruteForceForEveryRank) {
  for (const char *text :
       {"-", "48@tp", "48@tp+x", "3|16@tp", "3@x|16@tp", "6@tp|8", "2|3@x|8@tp",
        "3|4@tp:(2)2|4", "5@tp|2@x|3", "10@tp", "2@tp", "1@tp"}) {
    std::optional<Sharding> sharding;
    Shape shape = {48};
    for (int64_t size : {48, 30, 10, 2, 1}) {
      shape = {size};
      if (auto read =
              parseSharding("[" + std::string(text) + "]", mesh, shape)) {
        sharding = *read;
        break;
      }
    }
    ASSERT_TRUE(sharding) << text;
    for (int64_t rank = 0; rank < mesh.size(); ++rank) {
      Runs runs =
          runsOf(sharding->dims[0], shape[0], mesh, mesh.coordinates(rank));
      std::vector<int64_t> expanded;
      for (size_t i = 0; i < runs.size(); ++i) {
        EXPECT_TRUE(i == 0 || runs[i - 1].hi < runs[i].lo) << text;
        for (int64_t index = runs[i].lo; index < runs[i].hi; ++index)
          expanded.push_back(index);
      }
      EXPECT_EQ(expanded, heldIndices(sharding->dims[0], shape[0],
                                      mesh.coordinates(rank)))
          << text << " " << rank;
    }
  }
}

TEST(Runs, CanonicalFormHoldsTheSameIndices) {
  for (int64_t outer : {1, 2, 3, 4, 5, 6})
    for (int64_t inner : {1, 2, 3, 4, 6, 8})
      for (const auto &[first, second] :
           std::vector<std::pair<SubAxes, SubAxes>>{
               {{{"x", 1, 2}}, {{"tp", 1, 4}}},
               {{{"tp", 1, 4}}, {}},
               {{}, {{"tp", 1, 4}}},
               {{{"tp", 1, 4}}, {{"x", 1, 2}}}}) {
        DimSharding dim{{{outer, first}, {inner, second}}};
        DimSharding simple = canonical(dim);
        for (int64_t rank = 0; rank < mesh.size(); ++rank)
          EXPECT_EQ(runsOf(dim, outer * inner, mesh, mesh.coordinates(rank)),
                    runsOf(simple, outer * inner, mesh, mesh.coordinates(rank)))
              << toString(dim) << " = " << toString(simple);
        EXPECT_EQ(localDim(dim, outer * inner), localDim(simple, outer * inner))
            << toString(dim);
      }
}

TEST(Runs, UnevenShardsAreShortOrEmptyAtTheEnd) {
  DimSharding dim = parsed("[tp]", {2}).dims[0];
  EXPECT_EQ(runsAt(dim, 2, {1}), (Runs{{1, 2}}));
  EXPECT_EQ(runsAt(dim, 2, {3}), Runs{});
  EXPECT_EQ(runsAt(parsed("[tp]", {10}).dims[0], 10, {3}), (Runs{{9, 10}}));
}

TEST(Runs, IntersectionsAreCommonIndices) {
  Runs a = {{0, 4}, {8, 12}}, b = {{2, 9}, {11, 20}};
  EXPECT_EQ(intersect(a, b), (Runs{{2, 4}, {8, 9}, {11, 12}}));
  EXPECT_EQ(countIntersection(a, b), 4);
}

} // namespace
