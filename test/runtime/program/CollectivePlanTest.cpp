//===- CollectivePlanTest.cpp ---------------------------------------------===//

#include "runtime/program/CollectivePlan.h"
#include "test/runtime/program/RandomLayouts.h"

#include <gtest/gtest.h>
#include <random>

using namespace pcc;
using namespace pcc::runtime;
using test::RandomLayouts;

namespace {
/// Executes a plan on all ranks of a mesh, on vectors of ints. The value of an
/// element is its global index; padding is -1.
class Simulation {
public:
  Simulation(const CollectiveSpec &spec, const Mesh &mesh)
      : spec(spec), mesh(mesh) {
    for (int64_t rank = 0; rank < numRanks(mesh); ++rank) {
      const Coordinates at = coordinatesOf(mesh, rank);
      plans.push_back(planCollective(spec, mesh, at));
      std::vector<int64_t> &in =
          ins.emplace_back(numElements(localShape(spec.from)), -1);
      for (const auto &[global, local] :
           pcc::test::localOffsets(spec.from, mesh, at))
        in[local] = global;
    }
  }

  std::vector<int64_t> run(int64_t rank) {
    const CollectivePlan &plan = plans[rank];
    const Coordinates at = coordinatesOf(mesh, rank);
    std::vector<int64_t> out(numElements(localShape(spec.to)), -1);
    for (const StridedCopy &copy : plan.local)
      runCopy(copy, ins[rank].data(), out.data(), 8);
    for (const PeerPiece &piece : plan.receives) {
      const Coordinates peer = membersOf(spec.group, mesh, at)[piece.member];
      const std::vector<int64_t> data =
          sent(rankOf(mesh, peer), int(coordinateOf(spec.group, mesh, at)));
      EXPECT_EQ(int64_t(data.size()), piece.elements);
      if (!piece.packed)
        std::copy(data.begin(), data.end(), out.begin() + piece.offset);
      for (const StridedCopy &copy : piece.copies)
        runCopy(copy, data.data(), out.data(), 8);
    }
    if (plan.gathers)
      gather(rank, at, out);
    return out;
  }

  /// Returns whether each message has a sender and a receiver that count the
  /// same elements, and two ranks exchange at most one message in a direction.
  bool messagesMatch() const {
    std::map<std::pair<int64_t, int64_t>, int64_t> sent, received;
    for (int64_t rank = 0; rank < numRanks(mesh); ++rank) {
      const auto members =
          membersOf(spec.group, mesh, coordinatesOf(mesh, rank));
      for (const PeerPiece &piece : plans[rank].sends)
        if (!sent.insert({{rank, rankOf(mesh, members[piece.member])},
                          piece.elements})
                 .second)
          return false;
      for (const PeerPiece &piece : plans[rank].receives)
        if (!received
                 .insert({{rankOf(mesh, members[piece.member]), rank},
                          piece.elements})
                 .second)
          return false;
    }
    return sent == received;
  }

private:
  std::vector<int64_t> sent(int64_t rank, int member) {
    for (const PeerPiece &piece : plans[rank].sends) {
      if (piece.member != member)
        continue;
      std::vector<int64_t> data(piece.elements);
      if (!piece.packed)
        std::copy_n(ins[rank].begin() + piece.offset, piece.elements,
                    data.begin());
      for (const StridedCopy &copy : piece.copies)
        runCopy(copy, ins[rank].data(), data.data(), 8);
      return data;
    }
    return {};
  }

  void gather(int64_t rank, const Coordinates &at, std::vector<int64_t> &out) {
    const auto members = membersOf(spec.group, mesh, at);
    for (size_t i = 0; i < members.size(); ++i) {
      const auto &data = ins[rankOf(mesh, members[i])];
      if (plans[rank].gathersDirectly)
        std::copy(data.begin(), data.end(), out.begin() + i * data.size());
      else
        for (const StridedCopy &copy : plans[rank].unpack[i])
          runCopy(copy, data.data(), out.data(), 8);
    }
  }

  const CollectiveSpec &spec;
  const Mesh &mesh;
  std::vector<CollectivePlan> plans;
  std::vector<std::vector<int64_t>> ins;
};
} // namespace

/// For any two layouts, every rank ends with the elements that it holds in
/// `to`.
TEST(CollectivePlan, AnyTwoLayouts) {
  for (uint64_t seed = 0; seed < 600; ++seed) {
    RandomLayouts random(seed);
    const Mesh &mesh = random.mesh();
    const std::vector<int64_t> shape = random.shape();
    CollectiveSpec spec;
    spec.kind = seed % 2 ? dist::CollectiveKind::AllToAll
                         : dist::CollectiveKind::AllGather;
    spec.group = {fullAxis(mesh, "dp"), fullAxis(mesh, "tp")};
    spec.from = random.layout(shape);
    spec.to = seed % 2 ? random.layout(shape) : wholeLayout(shape);
    Simulation simulation(spec, mesh);
    ASSERT_TRUE(simulation.messagesMatch()) << "seed " << seed;
    for (int64_t rank = 0; rank < numRanks(mesh); ++rank) {
      std::vector<int64_t> expected(numElements(localShape(spec.to)), -1);
      for (const auto &[global, local] :
           pcc::test::localOffsets(spec.to, mesh, coordinatesOf(mesh, rank)))
        expected[local] = global;
      ASSERT_EQ(simulation.run(rank), expected)
          << "seed " << seed << " rank " << rank;
    }
  }
}

/// Returns the most scratch that any rank needs in any microbatch.
static int64_t mostScratch(const CollectiveSpec &spec, const Mesh &mesh) {
  int64_t most = 0;
  for (int64_t rank = 0; rank < numRanks(mesh); ++rank)
    for (int64_t m = 0; m < mesh.axes.back().size; ++m) {
      Coordinates at = coordinatesOf(mesh, rank);
      at.back() = m;
      most = std::max(most, planCollective(spec, mesh, at).scratchElements);
    }
  return most;
}

/// The plans of few members are enough where all members have equal ones.
TEST(CollectivePlan, ScratchIsThatOfTheMemberWithMost) {
  constexpr dist::CollectiveKind kinds[] = {
      dist::CollectiveKind::AllGather, dist::CollectiveKind::ReduceScatter,
      dist::CollectiveKind::AllToAll, dist::CollectiveKind::Exchange,
      dist::CollectiveKind::Slice};
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    RandomLayouts random(seed);
    const Mesh &mesh = random.mesh();
    const std::vector<int64_t> shape = random.shape();
    CollectiveSpec spec;
    spec.kind = kinds[seed % 5];
    spec.group = {fullAxis(mesh, seed % 3 ? "tp" : "dp")};
    if (seed % 7 == 0)
      spec.group = {fullAxis(mesh, "dp"), fullAxis(mesh, "tp")};
    const bool isReduced = spec.kind == dist::CollectiveKind::ReduceScatter,
               isGathered = spec.kind == dist::CollectiveKind::AllGather;
    spec.from = isReduced ? wholeLayout(shape) : random.layout(shape);
    spec.to = isGathered ? wholeLayout(shape) : random.layout(shape);
    EXPECT_EQ(collectiveScratchElements(spec, mesh), mostScratch(spec, mesh))
        << "seed " << seed;
  }
}

/// Returns a dim of `size` elements, or of 2 * `size` if `form` is not 0, whose
/// `size` is divided over tp.
static DimSharding dividedDim(int64_t size, int64_t members, int form) {
  const Factor split{size, {{"tp", 1, members}}}, pair{2, {}};
  if (form == 0)
    return {{split}};
  return form == 1 ? DimSharding{{pair, split}} : DimSharding{{split, pair}};
}

/// All-to-alls whose shards differ in size: a plan of one member of each shape
/// is enough.
TEST(CollectivePlan, ScratchOfUnevenTransposes) {
  for (int seed = 0; seed < 4000; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int limit) { return int(random() % limit); };
    const int64_t members = 2 + below(5);
    const int64_t numRows = 1 + below(13), numColumns = 1 + below(13);
    const int rowForm = below(3), columnForm = below(3);
    const auto whole = [](int64_t size, int form) {
      return DimSharding{{{form == 0 ? size : 2 * size, {}}}};
    };
    const DimSharding other = {{{1 + below(3), {}}}};
    CollectiveSpec spec{dist::CollectiveKind::AllToAll, {{"tp", 1, members}}};
    spec.from.dims = {dividedDim(numRows, members, rowForm),
                      whole(numColumns, columnForm)};
    spec.to.dims = {whole(numRows, rowForm),
                    dividedDim(numColumns, members, columnForm)};
    const int place = below(3);
    for (Layout *layout : {&spec.from, &spec.to})
      layout->dims.insert(layout->dims.begin() + place, other);
    const Mesh mesh = test::makeMesh({1, members, 1});
    EXPECT_EQ(collectiveScratchElements(spec, mesh), mostScratch(spec, mesh))
        << "seed " << seed;
  }
}

/// The plans of all members of such a group would take minutes.
TEST(CollectivePlan, LargeGroupsAreFast) {
  const Mesh mesh = test::makeMesh({1, 16384, 1});
  const auto split = [](int64_t rows, bool isFirst) {
    const DimSharding whole = {{{rows}}},
                      parts = {{{rows, {{"tp", 1, 16384}}}}};
    return isFirst ? Layout{{parts, whole}} : Layout{{whole, parts}};
  };
  const Layout whole = wholeLayout(std::vector<int64_t>{32768, 32768});
  const SubAxes group = {{"tp", 1, 16384}};
  EXPECT_EQ(collectiveScratchElements({dist::CollectiveKind::AllGather, group,
                                       split(32768, true), whole},
                                      mesh),
            0);
  EXPECT_GT(collectiveScratchElements({dist::CollectiveKind::AllToAll, group,
                                       split(32768, true), split(32768, false)},
                                      mesh),
            0);
  const auto unevenly = [](bool isFirst) {
    const DimSharding whole = {{{30001}}},
                      parts = {{{30001, {{"tp", 1, 16384}}}}};
    return isFirst ? Layout{{parts, whole}} : Layout{{whole, parts}};
  };
  EXPECT_GT(collectiveScratchElements({dist::CollectiveKind::AllToAll, group,
                                       unevenly(true), unevenly(false)},
                                      mesh),
            0);
  // Each member needs one row more on each side of its own rows.
  Layout halo = split(32768, true);
  halo.dims[0] = {{{int64_t(4) * 16384, {{"tp", 1, 16384}}}}};
  halo.dims[0].view = View{16384, 4, 2, 32768, {{0, 4, -1, 1}}};
  EXPECT_EQ(collectiveScratchElements({dist::CollectiveKind::Exchange, group,
                                       split(32768, true), halo},
                                      mesh),
            0);
  EXPECT_GT(collectiveScratchElements({dist::CollectiveKind::ReduceScatter,
                                       group, whole, split(32768, true)},
                                      mesh),
            0);
}

/// ZeRO-3 of a bias that has fewer elements than the group has members, and
/// whose parts are uneven: 96 elements in 64 parts, each with many holders.
TEST(CollectivePlan, LargeGroupsOfFewElementsAreFast) {
  const Mesh mesh = test::makeMesh({1, 16384, 1});
  const SubAxes group = {{"tp", 1, 16384}};
  const Layout whole = wholeLayout(std::vector<int64_t>{96});
  const Layout split = test::makeLayout({{{96, {{"tp", 1, 64}}}}});
  EXPECT_EQ(collectiveScratchElements(
                {dist::CollectiveKind::AllGather, group, split, whole}, mesh),
            0);
  EXPECT_EQ(
      collectiveScratchElements(
          {dist::CollectiveKind::ReduceScatter, group, whole, split}, mesh),
      2 * 16384);
  EXPECT_EQ(collectiveScratchElements(
                {dist::CollectiveKind::Slice, group, whole, split}, mesh),
            0);
}

TEST(CollectivePlan, EvenGatherOfTheMajorDimIsDirect) {
  const Mesh mesh = test::makeMesh({1, 4, 1});
  const Layout split = test::makeLayout({{{8, {{"tp", 1, 4}}}}, {{3}}});
  const CollectiveSpec spec{dist::CollectiveKind::AllGather,
                            {{"tp", 1, 4}},
                            split,
                            wholeLayout(std::vector<int64_t>{8, 3})};
  const CollectivePlan plan = planCollective(spec, mesh, {0, 1, 0});
  EXPECT_TRUE(plan.gathers);
  EXPECT_TRUE(plan.gathersDirectly);
  EXPECT_EQ(plan.scratchElements, 0);
}

TEST(CollectivePlan, GatherOfTheMinorDimGoesThroughScratch) {
  const Mesh mesh = test::makeMesh({1, 2, 1});
  const Layout split = test::makeLayout({{{3}}, {{8, {{"tp", 1, 2}}}}});
  const CollectiveSpec spec{dist::CollectiveKind::AllGather,
                            {{"tp", 1, 2}},
                            split,
                            wholeLayout(std::vector<int64_t>{3, 8})};
  EXPECT_FALSE(planCollective(spec, mesh, {0, 0, 0}).gathersDirectly);
  EXPECT_EQ(collectiveScratchElements(spec, mesh), 24);
}

// 4 rows in 2 microbatches of 3 parts: microbatch 0 has rows 0, 1 and 2, and
// microbatch 1 has row 3 and two empty parts. Only an empty part is gathered
// through scratch.
TEST(CollectivePlan, ScratchSufficesInEveryMicrobatch) {
  const Mesh mesh{{{"d", 3}, {"t", 2}, {"mb", 2}}};
  const dist::Factor rows{4, {{"mb", 1, 2}, {"d", 1, 3}}};
  const CollectiveSpec spec{dist::CollectiveKind::AllGather,
                            {{"t", 1, 2}},
                            {{{{rows}}, {{{6, {{"t", 1, 2}}}}}}},
                            {{{{rows}}, {{{6}}}}}};
  EXPECT_EQ(planCollective(spec, mesh, {0, 0, 0}).scratchElements, 0);
  EXPECT_EQ(planCollective(spec, mesh, {1, 0, 1}).scratchElements, 6);
  EXPECT_EQ(collectiveScratchElements(spec, mesh), 6);
}

TEST(CollectivePlan, ReduceScatterSendsEachMemberItsPiece) {
  const Mesh mesh = test::makeMesh({1, 3, 1});
  const CollectiveSpec spec{dist::CollectiveKind::ReduceScatter,
                            {{"tp", 1, 3}},
                            wholeLayout(std::vector<int64_t>{7}),
                            test::makeLayout({{{7, {{"tp", 1, 3}}}}})};
  const CollectivePlan last = planCollective(spec, mesh, {0, 2, 0});
  ASSERT_EQ(last.sends.size(), 2u);
  ASSERT_EQ(last.receives.size(), 3u);
  EXPECT_EQ(last.receives[0].elements, 1);
  EXPECT_EQ(collectiveScratchElements(spec, mesh), 9);
}

TEST(CollectivePlan, HoldersOfEqualPiecesShareTheSending) {
  // Ranks 0 and 1 hold the first half, ranks 2 and 3 the second; all want all.
  const Mesh mesh = test::makeMesh({1, 4, 1});
  const CollectiveSpec spec{dist::CollectiveKind::Exchange,
                            {{"tp", 1, 4}},
                            test::makeLayout({{{8, {{"tp", 1, 2}}}}}),
                            wholeLayout(std::vector<int64_t>{8})};
  for (int64_t rank = 0; rank < 4; ++rank)
    EXPECT_EQ(planCollective(spec, mesh, {0, rank, 0}).sends.size(), 1u);
}
