//===- RaggedCollectivesTest.cpp - only rows that count travel ------------===//

#include "runtime/program/VerifyProgram.h"
#include "test/runtime/engine/ThreadRun.h"

#include <random>

using namespace pcc;
using namespace pcc::runtime;
using namespace pcc::test;

namespace {
constexpr int64_t kFeatures = 3;

/// Rows that are split over axis "tp" according to `rows` are sent to the ranks
/// that want them, come back and are added.
struct RoundTrip {
  RoundTrip(int64_t ranks, const std::vector<int64_t> &shape,
            const std::vector<test::DimFactors> &rows)
      : ranks(ranks), builder({{"pp", 1}, {"tp", ranks}}), shape(shape) {
    numRows = numElements(shape);
    const std::vector<int64_t> all = with(shape, kFeatures),
                               masks = with(shape, ranks);
    const Layout divided = with(rows, {{kFeatures}}), whole = wholeLayout(all);
    std::vector<test::DimFactors> undivided;
    for (int64_t size : shape)
      undivided.push_back({{size}});
    const int x = builder.input("x", ElementType::F32, all, divided);
    const int asked =
        builder.input("asked", ElementType::Bool, masks, with(rows, {{ranks}}));
    const int wanted =
        builder.input("wanted", ElementType::Bool, masks,
                      with(undivided, {{ranks, {builder.axis(1)}}}));
    const int gathered = builder.arena("gathered", ElementType::F32, all);
    const int y = builder.output("y", ElementType::F32, all, divided);
    fillWithNaN(gathered);
    const int group = builder.group({builder.axis(1)});
    for (auto &collective :
         {std::ref(builder.collective(program::CollectiveKind::AllGather, group,
                                      x, gathered, all, divided, whole)),
          std::ref(builder.collective(program::CollectiveKind::ReduceScatter,
                                      group, gathered, y, all, whole,
                                      divided))}) {
      program::CollectiveT &made = collective.get();
      made.row_dims = int32_t(shape.size());
      made.divided_rows = asked;
      made.whole_rows = wanted;
      const int64_t scratch =
          rowScratchElements(collectiveOf(builder.tables, made), shape.size(),
                             meshOf(builder.tables));
      made.scratch = builder.arena("scratch", ElementType::F32,
                                   {std::max<int64_t>(scratch, 1)});
    }
    builder.runAll();
  }

  /// Checks that each row comes back once for each other rank that wants it (as
  /// `wants(row, rank)` tells), and once more.
  template <typename Wants> void check(Wants wants) {
    std::vector<uint8_t> mask;
    for (int64_t row = 0; row < numRows; ++row)
      for (int64_t rank = 0; rank < ranks; ++rank)
        mask.push_back(wants(row, rank));
    const Folder folder;
    const std::vector<float> values = iota(numRows * kFeatures);
    const std::vector<int64_t> masks = with(shape, ranks);
    ThreadRun run;
    run.add(builder);
    const Status status = run.run(
        {{"x", folder.write("x.npy", ElementType::F32, with(shape, kFeatures),
                            values)},
         {"asked", folder.write("a.npy", ElementType::Bool, masks, mask)},
         {"wanted", folder.write("w.npy", ElementType::Bool, masks, mask)}},
        folder.path);
    ASSERT_TRUE(status.ok()) << status.message();
    const std::vector<float> y = folder.read<float>("y.npy");
    ASSERT_EQ(y.size(), values.size());
    for (size_t i = 0; i < y.size(); ++i) {
      const int64_t row = int64_t(i) / kFeatures;
      float times = 1;
      for (int64_t rank = 0; rank < ranks; ++rank)
        times += rank != ownerOf(row) && wants(row, rank);
      EXPECT_EQ(y[i], times * values[i]) << "row " << row;
    }
  }

  int64_t ranks;
  TestProgram builder;

private:
  template <typename T>
  static std::vector<T> with(std::vector<T> list, const T &last) {
    list.push_back(last);
    return list;
  }
  static Layout with(std::vector<test::DimFactors> dims,
                     const test::DimFactors &last) {
    dims.push_back(last);
    return test::makeLayout(dims);
  }

  void fillWithNaN(int buffer) {
    auto &fill = builder.instruction<program::FillT>("fill");
    fill.buffer = buffer;
    fill.element = {0, 0, 0xc0, 0x7f};
  }

  int64_t ownerOf(int64_t row) const {
    const Mesh mesh = meshOf(builder.tables);
    const Layout layout = layoutOf(*builder.tables.inputs[0]->layout, mesh);
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const auto runs = dist::runsOf(layout, with(shape, kFeatures), mesh,
                                     coordinatesOf(mesh, rank));
      int64_t rest = row;
      bool holds = true;
      for (size_t dim = shape.size(); dim-- > 0; rest /= shape[dim])
        holds &= std::any_of(runs[dim].begin(), runs[dim].end(),
                             [&](const Run &run) {
                               const int64_t index = rest % shape[dim];
                               return run.lo <= index && index < run.hi;
                             });
      if (holds)
        return rank;
    }
    return -1;
  }

  std::vector<int64_t> shape;
  int64_t numRows = 0;
};

/// Returns the tp axis of size `ranks` as one sub-axis.
SubAxis tp(int64_t ranks) { return {"tp", 1, ranks}; }

/// Checks all kinds of requests for rows.
void checkAll(int64_t ranks, const std::vector<int64_t> &shape,
              const std::vector<test::DimFactors> &rows) {
  RoundTrip trip(ranks, shape, rows);
  trip.check([](int64_t, int64_t) { return false; });
  trip.check([](int64_t, int64_t) { return true; });
  trip.check([](int64_t, int64_t rank) { return rank == 1; });
  trip.check([](int64_t row, int64_t) { return row == 0; });
  for (uint32_t seed = 0; seed < 5; ++seed) {
    std::mt19937 random(seed);
    std::vector<bool> mask;
    for (int64_t i = 0; i < numElements(shape) * ranks; ++i)
      mask.push_back(random() % 3 == 0);
    trip.check([&](int64_t row, int64_t rank) {
      return bool(mask[size_t(row * ranks + rank)]);
    });
  }
}
} // namespace

TEST(RowCollectives, ConsecutiveRows) {
  checkAll(2, {6}, {{{6, {tp(2)}}}});
  checkAll(4, {8, 3}, {{{8, {tp(4)}}}, {{3}}});
}

TEST(RowCollectives, UnevenRows) {
  checkAll(3, {7}, {{{7, {tp(3)}}}});
  checkAll(4, {2, 3}, {{{2, {tp(4)}}}, {{3}}});
}

TEST(RowCollectives, RowsAmongThoseOfOthers) {
  checkAll(3, {2, 6}, {{{2}}, {{6, {tp(3)}}}});
  checkAll(2, {3, 5}, {{{3}}, {{5, {tp(2)}}}});
  checkAll(2, {8}, {{{2}, {4, {tp(2)}}}});
}

TEST(RowCollectives, TooLittleScratch) {
  RoundTrip trip(2, {6}, {{{6, {tp(2)}}}});
  auto &collective =
      *trip.builder.tables.functions[0]->instructions[1]->body.AsCollective();
  collective.scratch = trip.builder.arena("little", ElementType::F32, {1});
  const Folder folder;
  ThreadRun run;
  run.add(trip.builder);
  const Status status = run.run({}, folder.path);
  EXPECT_EQ(status.code(), DamagedBundle);
  EXPECT_NE(status.message().find("reserves 4 bytes"), std::string::npos)
      << status.message();
}

namespace {
/// Returns the error that the verifier of programs finds in masks after
/// `change`.
std::string faultAfter(void (*change)(TestProgram &, program::CollectiveT &)) {
  RoundTrip trip(2, {6}, {{{6, {tp(2)}}}});
  change(
      trip.builder,
      *trip.builder.tables.functions[0]->instructions[1]->body.AsCollective());
  return verifyProgram(trip.builder.tables, 0).message();
}
} // namespace

TEST(RowCollectives, MasksThatDoNotFitAreRefused) {
  EXPECT_EQ(faultAfter([](TestProgram &, program::CollectiveT &) {}), "");
  const auto contains = [](const std::string &text, const char *part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  contains(faultAfter([](TestProgram &, program::CollectiveT &c) {
             std::swap(c.divided_rows, c.whole_rows);
             c.row_dims = 0;
           }),
           "rows that no dims count");
  contains(faultAfter([](TestProgram &b, program::CollectiveT &c) {
             c.whole_rows = b.arena("short", ElementType::Bool, {5});
           }),
           "masks that do not fit");
  contains(faultAfter([](TestProgram &, program::CollectiveT &c) {
             c.divided_rows = c.in;
           }),
           "masks that do not fit");
  contains(faultAfter([](TestProgram &, program::CollectiveT &c) {
             c.whole_rows = 99;
           }),
           "buffer");
  contains(faultAfter(
               [](TestProgram &, program::CollectiveT &c) { c.row_dims = 3; }),
           "too few dims");
  contains(faultAfter([](TestProgram &, program::CollectiveT &c) {
             c.kind = program::CollectiveKind::Exchange;
           }),
           "moves no rows");
}
