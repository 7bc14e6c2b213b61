//===- RankIdentityTest.cpp - which rank this process is ------------------===//

#include "runtime/launch/job/RankIdentity.h"

#include <gtest/gtest.h>

namespace pcc::runtime {

static RankIdentity identityIn(const Environment &environment) {
  std::optional<RankIdentity> identity;
  const Status status = findIdentity(environment, identity);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(identity.has_value());
  return identity.value_or(RankIdentity{});
}

static std::string errorIn(const Environment &environment) {
  std::optional<RankIdentity> identity;
  const Status status = findIdentity(environment, identity);
  EXPECT_EQ(status.code(), WrongWorld);
  EXPECT_FALSE(identity.has_value());
  return status.message();
}

static void expectMentions(const std::string &text,
                           std::initializer_list<const char *> parts) {
  for (const char *part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
}

struct LauncherCase {
  const char *launcher;
  Environment environment;
};

class EveryLauncher : public testing::TestWithParam<LauncherCase> {};

TEST_P(EveryLauncher, GivesRankSizeAndLocalRank) {
  const RankIdentity identity = identityIn(GetParam().environment);
  EXPECT_EQ(identity.launcher, GetParam().launcher);
  EXPECT_EQ(identity.rank, 5);
  EXPECT_EQ(identity.worldSize, 8);
  EXPECT_EQ(identity.localRank, 1);
}

INSTANTIATE_TEST_SUITE_P(
    RankIdentity, EveryLauncher,
    testing::Values(
        LauncherCase{"PCC_*",
                     {{"PCC_RANK", "5"},
                      {"PCC_WORLD_SIZE", "8"},
                      {"PCC_LOCAL_RANK", "1"}}},
        LauncherCase{"torchrun",
                     {{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}}},
        LauncherCase{"Open MPI",
                     {{"OMPI_COMM_WORLD_RANK", "5"},
                      {"OMPI_COMM_WORLD_SIZE", "8"},
                      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                      {"PMIX_RANK", "5"}}},
        LauncherCase{
            "Hydra",
            {{"PMI_RANK", "5"}, {"PMI_SIZE", "8"}, {"MPI_LOCALRANKID", "1"}}},
        LauncherCase{"Hydra",
                     {{"PMIX_RANK", "5"},
                      {"PMI_SIZE", "8"},
                      {"PALS_LOCAL_RANKID", "1"}}},
        LauncherCase{"srun",
                     {{"SLURM_STEP_ID", "0"},
                      {"SLURM_PROCID", "5"},
                      {"SLURM_NTASKS", "8"},
                      {"SLURM_LOCALID", "1"}}},
        // Started with --mpi=pmi2.
        LauncherCase{"srun",
                     {{"SLURM_STEP_ID", "0"},
                      {"SLURM_PROCID", "5"},
                      {"SLURM_NTASKS", "8"},
                      {"SLURM_LOCALID", "1"},
                      {"PMI_RANK", "5"},
                      {"PMI_SIZE", "8"}}}));

TEST(RankIdentity, NobodyLaunchedThisProcess) {
  for (const Environment &environment :
       {Environment{}, Environment{{"RANK", "8x"}},
        // A batch script is one process, whatever the job was given.
        Environment{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}}) {
    std::optional<RankIdentity> identity;
    EXPECT_TRUE(findIdentity(environment, identity).ok());
    EXPECT_FALSE(identity.has_value());
  }
}

TEST(RankIdentity, MpirunInsideASlurmJobCounts) {
  const RankIdentity identity = identityIn({{"SLURM_STEP_ID", "0"},
                                            {"SLURM_PROCID", "0"},
                                            {"SLURM_NTASKS", "1"},
                                            {"OMPI_COMM_WORLD_RANK", "3"},
                                            {"OMPI_COMM_WORLD_SIZE", "4"}});
  EXPECT_EQ(identity.rank, 3);
  EXPECT_EQ(identity.worldSize, 4);
}

/// Hydra lets srun start a process on each host, which starts the ranks.
TEST(RankIdentity, HydraInsideASlurmJobCounts) {
  const RankIdentity identity = identityIn({{"SLURM_STEP_ID", "0"},
                                            {"SLURM_PROCID", "1"},
                                            {"SLURM_NTASKS", "2"},
                                            {"PMI_RANK", "5"},
                                            {"PMI_SIZE", "8"}});
  EXPECT_EQ(identity.launcher, "Hydra");
  EXPECT_EQ(identity.rank, 5);
}

TEST(RankIdentity, EqualSetsAgree) {
  const RankIdentity identity = identityIn({{"PCC_RANK", "1"},
                                            {"PCC_WORLD_SIZE", "2"},
                                            {"RANK", "1"},
                                            {"WORLD_SIZE", "2"}});
  EXPECT_EQ(identity.launcher, "PCC_*");
}

TEST(RankIdentity, ContradictionNamesBoth) {
  expectMentions(errorIn({{"RANK", "0"},
                          {"WORLD_SIZE", "2"},
                          {"OMPI_COMM_WORLD_RANK", "1"},
                          {"OMPI_COMM_WORLD_SIZE", "2"}}),
                 {"contradict", "RANK=0", "WORLD_SIZE=2", "torchrun",
                  "OMPI_COMM_WORLD_RANK=1", "Open MPI"});
}

TEST(RankIdentity, GarbageIsNamed) {
  for (const char *garbage :
       {"", "8x", " 1", "+1", "0x1", "1.0", "99999999999999999999", "-1", "4"})
    expectMentions(errorIn({{"RANK", garbage}, {"WORLD_SIZE", "4"}}),
                   {"RANK", garbage});
  for (const char *garbage : {"0", "-4", "65537", "many"})
    expectMentions(errorIn({{"RANK", "0"}, {"WORLD_SIZE", garbage}}),
                   {"WORLD_SIZE", garbage});
  expectMentions(
      errorIn({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "2"}}),
      {"LOCAL_RANK=2"});
}

TEST(RankIdentity, HalfOfOurOwnVariablesIsAMistake) {
  expectMentions(errorIn({{"PCC_RANK", "0"}}), {"PCC_WORLD_SIZE"});
  expectMentions(errorIn({{"PCC_WORLD_SIZE", "2"}}), {"PCC_RANK"});
}

TEST(RankIdentity, WrongWorldNamesBothNumbers) {
  const RankIdentity identity = identityIn(
      {{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "3"}});
  EXPECT_TRUE(checkWorldSize(identity, 3).ok());
  const Status status = checkWorldSize(identity, 2);
  EXPECT_EQ(status.code(), WrongWorld);
  expectMentions(status.message(), {"2 ranks", "started 3", "Open MPI"});
}

} // namespace pcc::runtime
