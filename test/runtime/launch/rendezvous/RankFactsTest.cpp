//===- RankFactsTest.cpp - what ranks tell rank 0 about themselves --------===//

#include "runtime/launch/rendezvous/RankFacts.h"

#include <gtest/gtest.h>

namespace pcc::runtime {

static GpuFacts onGpu(const std::string &machine, const std::string &gpu,
                      const std::string &nccl = "2.28.9") {
  return {machine, "host-" + machine, gpu, nccl, "13.0"};
}

static void expectError(const Status &status, ExitCode code,
                        const std::string &text) {
  EXPECT_EQ(status.code(), code);
  EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
}

TEST(GpuFacts, RanksHaveGpusOfTheirOwn) {
  const std::vector<GpuFacts> ranks = {onGpu("a", "1"), onGpu("a", "2"),
                                       onGpu("b", "1"), onGpu("a", "2")};
  expectError(checkGpus(ranks, false), NoDevice,
              "ranks 1 and 3 both have GPU 2 of host-a");
  EXPECT_TRUE(checkGpus(ranks, true).ok());
  EXPECT_TRUE(checkGpus({ranks.begin(), ranks.begin() + 3}, false).ok());
}

TEST(GpuFacts, RanksHaveOneNccl) {
  expectError(checkGpus({onGpu("a", "1"), onGpu("b", "1", "2.30.7")}, false),
              DamagedBundle,
              "rank 1 has NCCL 2.30.7 for CUDA 13.0, rank 0 has NCCL 2.28.9");
}

TEST(GpuFacts, ComeBack) {
  const GpuFacts facts = GpuFacts::decode(onGpu("a", "1").encode());
  EXPECT_TRUE(checkGpus({onGpu("a", "2"), facts}, false).ok());
  expectError(checkGpus({onGpu("a", "1"), facts}, false), NoDevice, "host-a");
}

TEST(RankFacts, AreCompleteOrNothing) {
  const RankFacts facts = RankFacts::of(2, 4, "b");
  const auto back = RankFacts::fromFields(facts.toFields());
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->text(), facts.text());
  for (const char *name : {"rank", "world", "bundle", "pid"}) {
    Fields fields = facts.toFields();
    fields.erase(name);
    EXPECT_FALSE(RankFacts::fromFields(fields).has_value()) << name;
  }
  for (const char *number : {"", "-1", "1x", "99999999999"}) {
    Fields fields = facts.toFields();
    fields["rank"] = number;
    EXPECT_FALSE(RankFacts::fromFields(fields).has_value()) << number;
  }
}

TEST(RankFacts, RanksOfOneJobAgree) {
  const RankFacts first = RankFacts::of(0, 4, "b");
  EXPECT_TRUE(checkFacts(first, RankFacts::of(3, 4, "b")).ok());
  expectError(checkFacts(first, RankFacts::of(3, 5, "b")), WrongWorld,
              "is one of 5 ranks");
  expectError(checkFacts(first, RankFacts::of(4, 4, "b")), WrongWorld,
              "rank 4 ");
  expectError(checkFacts(first, RankFacts::of(0, 4, "b")), WrongWorld,
              "rank 0 ");
  expectError(checkFacts(first, RankFacts::of(1, 4, "c")), DamagedBundle,
              "has the bundle c, rank 0");
}

} // namespace pcc::runtime
