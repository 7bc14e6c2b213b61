//===- TreeReduceTest.cpp - the order in which members are added ----------===//

#include "runtime/comm/TreeReduce.h"
#include "gtest/gtest.h"

#include <random>
#include <vector>

using namespace pcc;
using namespace pcc::runtime;

namespace {
using Vector = std::vector<float>;

/// Returns members of many magnitudes, so that another order gives other bits.
std::vector<Vector> randomMembers(size_t count, size_t size) {
  std::mt19937 random(static_cast<uint32_t>(count));
  std::normal_distribution<float> normal;
  std::vector<Vector> members(count, Vector(size));
  for (Vector &member : members)
    for (float &element : member)
      element = std::exp(4 * normal(random)) * normal(random);
  return members;
}

Vector sumOf(const std::vector<Vector> &members) {
  std::vector<const void *> inputs;
  for (const Vector &member : members)
    inputs.push_back(member.data());
  Vector sum(members[0].size());
  void *output = sum.data();
  reduceInTree(inputs, {&output, 1}, 0, sum.size(), ElementType::F32,
               dist::ReductionKind::Sum);
  return sum;
}

/// Adds neighbours, then neighbours of the sums. A sum without a neighbour goes
/// up unchanged.
Vector byPairs(std::vector<Vector> members) {
  while (members.size() > 1) {
    std::vector<Vector> sums;
    for (size_t i = 0; i < members.size(); i += 2) {
      sums.push_back(members[i]);
      for (size_t j = 0; i + 1 < members.size() && j < sums.back().size(); ++j)
        sums.back()[j] += members[i + 1][j];
    }
    members = sums;
  }
  return members[0];
}
} // namespace

TEST(Combine, AddsNeighboursFirst) {
  for (size_t count = 1; count <= 17; ++count) {
    const auto members = randomMembers(count, 1100);
    EXPECT_EQ(sumOf(members), byPairs(members)) << count << " members";
  }
}

// The sum of 2 or 4 ranks is a branch of the sum of 8.
TEST(Combine, AddsBranchesAlike) {
  const auto members = randomMembers(8, 700);
  for (size_t share : {1, 2, 4}) {
    std::vector<Vector> branches;
    for (size_t i = 0; i < members.size(); i += share)
      branches.push_back(
          sumOf({members.begin() + i, members.begin() + i + share}));
    EXPECT_EQ(sumOf(branches), sumOf(members)) << share << " in a branch";
  }
}
