//===- AddressTest.cpp - where the ranks of a job meet --------------------===//

#include "runtime/launch/rendezvous/Address.h"
#include "runtime/launch/rendezvous/JobToken.h"
#include "runtime/launch/rendezvous/SlurmNodeList.h"
#include "runtime/launch/rendezvous/UnixPlace.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace pcc::runtime {

static Environment operator+(Environment first, const Environment &more) {
  first.insert(more.begin(), more.end());
  return first;
}

/// Returns the address at which a process with this environment would meet its
/// peers.
static Status find(const Environment &environment, Address &address) {
  std::optional<RankIdentity> identity;
  Status status = findIdentity(environment, identity);
  if (status.failed() || !identity)
    return status;
  return findAddress(environment, *identity, address);
}

static const Environment kTorch = {
    {"RANK", "1"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "node7"}};
static const Environment kMpi = {
    {"OMPI_COMM_WORLD_RANK", "1"},
    {"OMPI_COMM_WORLD_SIZE", "4"},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
    {"PMIX_NAMESPACE", "598605825"},
    {"OMPI_MCA_orte_hnp_uri",
     "598605824.0;tcp://192.0.2.2,10.0.0.1:56635;tcp6://[fd00::2]:46641"}};
static const Environment kSlurm = {{"SLURM_PROCID", "1"},
                                   {"SLURM_NTASKS", "4"},
                                   {"SLURM_STEP_ID", "0"},
                                   {"SLURM_JOB_ID", "4097"},
                                   {"SLURM_STEP_NODELIST", "gpu[007-009,12]"}};
static const Environment kHand = {{"PCC_RANK", "1"}, {"PCC_WORLD_SIZE", "4"}};

static std::string named(const std::string &rest) {
  return "unix:@pcc-" + std::to_string(geteuid()) + "-" + rest;
}

struct Place {
  std::string name;
  Environment environment;
  std::string address;
};

class EveryPlace : public testing::TestWithParam<Place> {};

TEST_P(EveryPlace, IsFound) {
  Address address;
  const Status status = find(GetParam().environment, address);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(address.text(), GetParam().address);
}

INSTANTIATE_TEST_SUITE_P(
    Address, EveryPlace,
    testing::Values(
        Place{"Tcp", kHand + Environment{{"PCC_RENDEZVOUS", "tcp://h:5"}},
              "tcp://h:5"},
        Place{"Tcp6", kHand + Environment{{"PCC_RENDEZVOUS", "tcp://[::1]:5"}},
              "tcp://[::1]:5"},
        Place{"File", kHand + Environment{{"PCC_RENDEZVOUS", "unix:/a/b"}},
              "unix:/a/b"},
        Place{"ExplicitBeforeAll",
              kSlurm + Environment{{"PCC_RENDEZVOUS", "tcp://h:5"}},
              "tcp://h:5"},
        Place{"HandWithMaster",
              kHand + Environment{{"MASTER_ADDR", "h"}, {"MASTER_PORT", "5"}},
              "tcp://h:5"},
        Place{"MasterPort", kTorch + Environment{{"MASTER_PORT", "7000"}},
              "tcp://node7:7000"},
        Place{"MasterPortByDefault", kTorch, "tcp://node7:29500"},
        // 61440 + 7000 % 4096, where 7000 is the port of torchrun.
        Place{"TorchrunHasThePort",
              kTorch + Environment{{"MASTER_PORT", "7000"},
                                   {"TORCHELASTIC_RUN_ID", "none"}},
              "tcp://node7:64344"},
        Place{"TorchrunOnOneHost",
              kTorch + Environment{{"MASTER_PORT", "7000"},
                                   {"LOCAL_WORLD_SIZE", "4"},
                                   {"TORCHELASTIC_RUN_ID", "a/b"},
                                   {"TORCHELASTIC_RESTART_COUNT", "2"}},
              named("torchrun-7000-a-b-2")},
        Place{"MasterOnTheLoopback",
              Environment{{"MASTER_ADDR", "127.0.0.1"}} + kTorch,
              named("torchrun-29500--0")},
        Place{"MpiOnOneHost",
              Environment{{"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}} + kMpi,
              named("mpirun-598605825")},
        // 61440 + 598605824 / 4096 % 4096
        Place{"MpiOnManyHosts", kMpi, "tcp://192.0.2.2:64224"},
        Place{"MpiInsideSlurm", kMpi + kSlurm, "tcp://192.0.2.2:64224"},
        Place{"SlurmOnManyHosts", kSlurm, "tcp://gpu007:61441"},
        Place{"SlurmOnOneHost",
              Environment{{"SLURM_STEP_NODELIST", "gpu[007]"}} + kSlurm,
              named("slurm-4097.0")},
        Place{"SlurmWithMaster",
              kSlurm + Environment{{"MASTER_ADDR", "h"}, {"MASTER_PORT", "5"}},
              "tcp://h:5"}),
    [](const auto &place) { return place.param.name; });

class NoPlace : public testing::TestWithParam<Place> {};

TEST_P(NoPlace, IsRefusedWithWhatWasRead) {
  Address address;
  const Status status = find(GetParam().environment, address);
  EXPECT_EQ(status.code(), WrongWorld);
  EXPECT_NE(status.message().find(GetParam().address), std::string::npos)
      << status.message();
}

INSTANTIATE_TEST_SUITE_P(
    Address, NoPlace,
    testing::Values(
        Place{"NoneAtAll", kHand, "(PCC_*) does not say where"},
        Place{"Hydra", {{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}, "(Hydra)"},
        Place{"NoPort", kHand + Environment{{"PCC_RENDEZVOUS", "tcp://h"}},
              "'tcp://h'"},
        Place{"NoHost", kHand + Environment{{"PCC_RENDEZVOUS", "tcp://:5"}},
              "'tcp://:5'"},
        Place{"PortTooGreat",
              kHand + Environment{{"PCC_RENDEZVOUS", "tcp://h:65536"}},
              "tcp://h:65536"},
        Place{"PortIsText",
              kHand + Environment{{"PCC_RENDEZVOUS", "tcp://h:5x"}}, "5x"},
        Place{"NoPath", kHand + Environment{{"PCC_RENDEZVOUS", "unix:"}},
              "'unix:'"},
        Place{"OtherKind", kHand + Environment{{"PCC_RENDEZVOUS", "file:/a"}},
              "file:/a"},
        Place{"MasterPortIsText", kTorch + Environment{{"MASTER_PORT", "-1"}},
              "MASTER_PORT is '-1'"},
        Place{"MasterIsNoHost", Environment{{"MASTER_ADDR", "a b"}} + kTorch,
              "MASTER_ADDR is 'a b'"},
        Place{"MpiSaysNothing",
              Environment{{"OMPI_MCA_orte_hnp_uri", ""}} + kMpi,
              "OMPI_MCA_orte_hnp_uri is not set"},
        Place{"MpiSaysRubbish",
              Environment{{"OMPI_MCA_orte_hnp_uri", "x.0;tcp://1.2.3.4:5"}} +
                  kMpi,
              "x.0;tcp://1.2.3.4:5"},
        Place{"MpiHasNoTcp",
              Environment{{"OMPI_MCA_orte_hnp_uri", "4096.0;ud://12"}} + kMpi,
              "4096.0;ud://12"},
        Place{"SlurmListIsCut",
              Environment{{"SLURM_STEP_NODELIST", "gpu[007-"}} + kSlurm,
              "gpu[007-"},
        Place{"SlurmJobIsText", Environment{{"SLURM_JOB_ID", "12a"}} + kSlurm,
              "SLURM_JOB_ID is '12a'"}),
    [](const auto &place) { return place.param.name; });

struct Nodes {
  const char *text;
  const char *first; ///< null: it is no list
  bool isOnlyOne;
};

TEST(SlurmNodeList, HasItsFirstHost) {
  const Nodes lists[] = {{"node", "node", true},
                         {"node7,node8", "node7", false},
                         {"gpu[007]", "gpu007", true},
                         {"gpu[007-009]", "gpu007", false},
                         {"gpu[12,7]", "gpu12", false},
                         {"a[1-2]b[03-04].x", "a1b03.x", false},
                         {"rack-1.node_2", "rack-1.node_2", true},
                         {"a[1],b", "a1", false},
                         {"", nullptr, false},
                         {",a", nullptr, false},
                         {"a,", nullptr, false},
                         {"a[1", nullptr, false},
                         {"a[]", nullptr, false},
                         {"a[x]", nullptr, false},
                         {"a[[1]]", nullptr, false},
                         {"a]", nullptr, false},
                         {"a b", nullptr, false},
                         {"$(id)", nullptr, false}};
  for (const Nodes &nodes : lists) {
    const auto read = readSlurmNodeList(nodes.text);
    ASSERT_EQ(read.has_value(), nodes.first != nullptr) << nodes.text;
    if (!read)
      continue;
    EXPECT_EQ(read->first, nodes.first) << nodes.text;
    EXPECT_EQ(read->isOnlyOne, nodes.isOnlyOne) << nodes.text;
  }
}

static Status tokenFor(const std::string &address, const std::string &token) {
  Address at;
  PCC_RETURN_IF_ERROR(readAddress(address, at));
  Environment environment;
  if (!token.empty())
    environment[kTokenVariable] = token;
  JobToken found;
  return findToken(environment, at, found);
}

TEST(JobToken, IsNeededForTcp) {
  EXPECT_TRUE(tokenFor("unix:/a", "").ok());
  for (const char *address : {"tcp://node7:5", "tcp://127.0.0.1:5",
                              "tcp://localhost:5", "tcp://[::1]:5"}) {
    const Status status = tokenFor(address, "");
    EXPECT_EQ(status.code(), WrongWorld);
    ASSERT_EQ(status.notes().size(), 1u);
    EXPECT_NE(status.notes()[0].find("export PCC_JOB_TOKEN="),
              std::string::npos);
  }
  EXPECT_TRUE(
      tokenFor("tcp://node7:5", "00112233445566778899AABBccddeeff").ok());
}

TEST(JobToken, OfOpenMpiServesOnOneHost) {
  const Environment environment = {{"OMPI_MCA_orte_precondition_transports",
                                    "0011223344556677-8899aabbccddeeff"}};
  JobToken found;
  ASSERT_TRUE(findToken(environment, {Address::Kind::Name, "a"}, found).ok());
  EXPECT_EQ(found.bytes.size(), 16u);
  EXPECT_EQ(found.bytes[1], '\x11');
  EXPECT_EQ(findToken(environment, {Address::Kind::Tcp, "h", 5}, found).code(),
            WrongWorld);
}

TEST(JobToken, IsNotSaidWhenItIsWrong) {
  for (const char *token : {"1234", "00112233445566778899aabbccddeefg",
                            "00112233445566778899aabbccddeeff00"}) {
    const Status status = tokenFor("unix:/a", token);
    EXPECT_EQ(status.code(), WrongWorld);
    EXPECT_EQ(status.message().find(token), std::string::npos);
  }
}

TEST(UnixPlace, ALongNameWithoutAFolderIsRefused) {
  SocketAddress found;
  const Status status =
      resolveUnix(Address{Address::Kind::File, std::string(120, 'a')}, found);
  EXPECT_EQ(status.code(), WrongWorld);
}

} // namespace pcc::runtime
