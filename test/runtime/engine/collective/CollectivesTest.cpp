//===- CollectivesTest.cpp - collectives of executed programs -------------===//

#include "runtime/program/CollectivePlan.h"
#include "test/runtime/engine/ThreadRun.h"

#include <functional>

using namespace pcc;
using namespace pcc::runtime;
using namespace pcc::test;

namespace {
/// Splits the last collective of the function into start and finish; `between`
/// appends the instructions in between. Only the microbatch `only` runs them;
/// all do if it is -1.
void splitLast(TestProgram &builder, int32_t only,
               const std::function<void()> &between) {
  auto &list = builder.tables.functions[0]->instructions;
  program::CollectiveT whole = *list.back()->body.AsCollective();
  whole.only = only;
  list.pop_back();
  auto emit = [&](program::CollectivePart part) {
    auto &half = builder.instruction<program::CollectiveT>("collective");
    half = whole;
    half.part = part;
  };
  emit(program::CollectivePart::Start);
  between();
  emit(program::CollectivePart::Finish);
}

/// Moves x from layout `from` to y in layout `to` by one collective over axis
/// "tp" of `ranks` ranks. y must equal x.
void checkMove(program::CollectiveKind kind, int64_t ranks,
               const std::vector<int64_t> &shape, const Layout &from,
               const Layout &to, bool split = false) {
  TestProgram builder({{"pp", 1}, {"tp", ranks}});
  const int x = builder.input("x", ElementType::F32, shape, from);
  const int y = builder.output("y", ElementType::F32, shape, to);
  const bool isLocal = kind == program::CollectiveKind::Slice;
  const int group = isLocal ? -1 : builder.group({builder.axis(1)});
  builder.collective(kind, group, x, y, shape, from, to);
  auto &collective =
      *builder.tables.functions[0]->instructions[0]->body.AsCollective();
  const int64_t scratch = collectiveScratchElements(
      collectiveOf(builder.tables, collective), meshOf(builder.tables));
  if (scratch > 0)
    collective.scratch = builder.arena("scratch", ElementType::F32, {scratch});
  if (split)
    splitLast(builder, -1, [] {});
  builder.runAll();
  const Folder folder;
  const auto values = iota(numElements(shape));
  ThreadRun run;
  run.add(builder);
  const Status status =
      run.run({{"x", folder.write("x.npy", ElementType::F32, shape, values)}},
              folder.path);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(folder.read<float>("y.npy"), values);
}

/// Returns the tp axis of size `ranks` as one sub-axis.
SubAxis tp(int64_t ranks) { return {"tp", 1, ranks}; }
} // namespace

TEST(Collectives, GatherOfTheMajorDim) {
  checkMove(program::CollectiveKind::AllGather, 4, {8, 3},
            test::makeLayout({{{8, {tp(4)}}}, {{3}}}),
            test::makeLayout({{{8}}, {{3}}}));
}

TEST(Collectives, GatherOfAnUnevenMinorDim) {
  checkMove(program::CollectiveKind::AllGather, 4, {3, 7},
            test::makeLayout({{{3}}, {{7, {tp(4)}}}}),
            test::makeLayout({{{3}}, {{7}}}));
}

TEST(Collectives, AllToAllMovesTheSplit) {
  checkMove(program::CollectiveKind::AllToAll, 3, {7, 5},
            test::makeLayout({{{7, {tp(3)}}}, {{5}}}),
            test::makeLayout({{{7}}, {{5, {tp(3)}}}}));
}

TEST(Collectives, ExchangeUntanglesFusedColumns) {
  checkMove(program::CollectiveKind::Exchange, 2, {2, 12},
            test::makeLayout({{{2}}, {{12, {tp(2)}}}}),
            test::makeLayout({{{2}}, {{3}, {4, {tp(2)}}}}));
}

TEST(Collectives, SliceIsLocal) {
  checkMove(program::CollectiveKind::Slice, 3, {7, 2},
            test::makeLayout({{{7}}, {{2}}}),
            test::makeLayout({{{7, {tp(3)}}}, {{2}}}));
}

/// A value that all microbatches share is cut at another place in each of them.
TEST(Collectives, SliceFollowsTheMicrobatch) {
  TestProgram builder({{"pp", 1}}, /*microbatches=*/3);
  const std::vector<int64_t> shape = {6, 2};
  const Layout whole = test::makeLayout({{{6}}, {{2}}}),
               cut = test::makeLayout({{{6, {builder.mb()}}}, {{2}}});
  const int x = builder.input("x", ElementType::F32, shape, whole);
  const int y = builder.output("y", ElementType::F32, shape, cut);
  builder.collective(program::CollectiveKind::Slice, -1, x, y, shape, whole,
                     cut);
  builder.runAll();
  const Folder folder;
  ThreadRun run;
  run.add(builder);
  const Status status =
      run.run({{"x", folder.write("x.npy", ElementType::F32, shape, iota(12))}},
              folder.path);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(folder.read<float>("y.npy"), iota(12));
}

// In place, outside of scratch memory, and with pieces of unequal size.
TEST(Collectives, GatherInTwoParts) {
  checkMove(program::CollectiveKind::AllGather, 4, {8, 3},
            test::makeLayout({{{8, {tp(4)}}}, {{3}}}),
            test::makeLayout({{{8}}, {{3}}}),
            /*split=*/true);
  checkMove(program::CollectiveKind::AllGather, 2, {3, 8},
            test::makeLayout({{{3}}, {{8, {tp(2)}}}}),
            test::makeLayout({{{3}}, {{8}}}),
            /*split=*/true);
  checkMove(program::CollectiveKind::AllGather, 4, {3, 7},
            test::makeLayout({{{3}}, {{7, {tp(4)}}}}),
            test::makeLayout({{{3}}, {{7}}}),
            /*split=*/true);
}

TEST(Collectives, MoreRanksThanPieces) {
  checkMove(program::CollectiveKind::AllGather, 4, {2, 2},
            test::makeLayout({{{2, {tp(4)}}}, {{2}}}),
            test::makeLayout({{{2}}, {{2}}}));
}

namespace {
/// Returns partial products of a split contracted dim, summed over tp of
/// `ranks` by `kind`. If `split`, the collective has two parts, and another
/// product is computed in between, in the second of two microbatches.
std::vector<float> contract(program::CollectiveKind kind, const Layout &to,
                            const Folder &folder, int64_t ranks = 2,
                            bool split = false) {
  TestProgram builder({{"pp", 1}, {"tp", ranks}}, /*microbatches=*/2);
  const int x = builder.input("x", ElementType::F32, {3, 4},
                              test::makeLayout({{{3}}, {{4, {tp(ranks)}}}}));
  const int w = builder.input("w", ElementType::F32, {4, 5},
                              test::makeLayout({{{4, {tp(ranks)}}}, {{5}}}));
  const int part = builder.arena("part", ElementType::F32, {3, 5});
  const int y = builder.output("y", ElementType::F32, {3, 5}, to);
  builder.matmul(x, w, part, 3, 5, 4 / ranks);
  builder.collective(kind, builder.group({builder.axis(1)}), part, y, {3, 5},
                     test::makeLayout({{{3}}, {{5}}}), to,
                     builder.arena("scratch", ElementType::F32, {64}));
  if (split)
    splitLast(builder, 1, [&] {
      builder.matmul(x, w, builder.arena("other", ElementType::F32, {3, 5}), 3,
                     5, 1);
    });
  builder.runAll();
  ThreadRun run;
  run.add(builder);
  const Status status = run.run(
      {{"x", folder.write("x.npy", ElementType::F32, {3, 4}, iota(12))},
       {"w", folder.write("w.npy", ElementType::F32, {4, 5}, iota(20))}},
      folder.path);
  EXPECT_TRUE(status.ok()) << status.message();
  return folder.read<float>("y.npy");
}

std::vector<float> product() {
  std::vector<float> y;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j) {
      float sum = 0;
      for (int p = 0; p < 4; ++p)
        sum += float(i * 4 + p) * float(p * 5 + j);
      y.push_back(sum);
    }
  return y;
}
} // namespace

TEST(Collectives, AllReduceSumsPartialProducts) {
  const Folder folder;
  EXPECT_EQ(contract(program::CollectiveKind::AllReduce,
                     test::makeLayout({{{3}}, {{5}}}), folder),
            product());
}

TEST(Collectives, ReduceScatterLeavesEachRankItsRows) {
  const Folder folder;
  EXPECT_EQ(contract(program::CollectiveKind::ReduceScatter,
                     test::makeLayout({{{3, {tp(2)}}}, {{5}}}), folder),
            product());
}

// One share has more elements than the other; with 4 ranks one has fewer.
TEST(Collectives, AllReduceInTwoParts) {
  for (int64_t ranks : {2, 4}) {
    const Folder folder;
    EXPECT_EQ(contract(program::CollectiveKind::AllReduce,
                       test::makeLayout({{{3}}, {{5}}}), folder, ranks,
                       /*split=*/true),
              product());
  }
}

TEST(Collectives, ReduceScatterInTwoParts) {
  for (int64_t ranks : {2, 4}) {
    const Folder folder;
    EXPECT_EQ(contract(program::CollectiveKind::ReduceScatter,
                       test::makeLayout({{{3, {tp(ranks)}}}, {{5}}}), folder,
                       ranks,
                       /*split=*/true),
              product());
  }
}

/// 256 + 1 is no bf16: an addition in bf16 would give 258.
TEST(Collectives, ReduceScatterOfHalvesAddsInFloat) {
  TestProgram builder({{"pp", 1}, {"tp", 4}});
  const Layout split = test::makeLayout({{{4, {tp(4)}}}, {{4}}}),
               partial = test::makeLayout({{{1}}, {{4}}});
  const Layout scattered = test::makeLayout({{{1}}, {{4, {tp(4)}}}});
  const int x = builder.input("x", ElementType::BF16, {4, 4}, split);
  const int y = builder.output("y", ElementType::BF16, {1, 4}, scattered);
  builder.collective(program::CollectiveKind::ReduceScatter,
                     builder.group({builder.axis(1)}), x, y, {1, 4}, partial,
                     scattered,
                     builder.arena("scratch", ElementType::BF16, {64}));
  builder.runAll();
  const Folder folder;
  ThreadRun run;
  run.add(builder);
  const std::vector<float> addends{256, 256, 256, 256, 1, 1, 1, 1,
                                   1,   1,   1,   1,   2, 2, 2, 2};
  const Status status =
      run.run({{"x", folder.write("x.npy", ElementType::F32, {4, 4}, addends)}},
              folder.path);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(folder.read<float>("y.npy"), std::vector<float>(4, 260));
}

TEST(Collectives, BroadcastFromItsRoot) {
  TestProgram builder({{"pp", 1}, {"tp", 3}});
  const Layout split = test::makeLayout({{{3, {tp(3)}}}, {{2}}});
  const Layout whole = test::makeLayout({{{1}}, {{2}}});
  const int x = builder.input("x", ElementType::F32, {3, 2}, split);
  const int y = builder.output("y", ElementType::F32, {1, 2}, whole);
  auto &broadcast = builder.collective(program::CollectiveKind::Broadcast,
                                       builder.group({builder.axis(1)}), x, y,
                                       {1, 2}, whole, whole);
  broadcast.root = 1;
  builder.runAll();
  const Folder folder;
  ThreadRun run;
  run.add(builder);
  ASSERT_TRUE(
      run.run({{"x", folder.write("x.npy", ElementType::F32, {3, 2}, iota(6))}},
              folder.path)
          .ok());
  EXPECT_EQ(folder.read<float>("y.npy"), (std::vector<float>{2, 3}));
}

TEST(Collectives, TooLittleScratchIsRefused) {
  TestProgram builder({{"pp", 1}, {"tp", 2}});
  const Layout split = test::makeLayout({{{3}}, {{4, {tp(2)}}}});
  const int x = builder.input("x", ElementType::F32, {3, 4}, split);
  const int y = builder.output("y", ElementType::F32, {3, 4},
                               test::makeLayout({{{3}}, {{4}}}));
  builder.collective(program::CollectiveKind::AllGather,
                     builder.group({builder.axis(1)}), x, y, {3, 4}, split,
                     test::makeLayout({{{3}}, {{4}}}));
  builder.runAll();
  const Folder folder;
  ThreadRun run;
  run.add(builder);
  const Status status = run.run({}, folder.path);
  EXPECT_EQ(status.code(), DamagedBundle);
  EXPECT_NE(status.message().find("reserves 0 bytes"), std::string::npos);
}
