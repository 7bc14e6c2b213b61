// Tests cluster profiles: the fixed ones, prices, and errors in the file.

#include "passes/plan/cluster/Cluster.h"
#include "passes/plan/cluster/ClusterProfiles.h"

#include "gtest/gtest.h"

using namespace pcc::plan;

namespace {

constexpr double gibi = 1024.0 * 1024 * 1024;

constexpr std::string_view sample = R"(
nodes = 16
devices_per_node = 8
host_ram_gb = 2048
overlap_slowdown = { compute = 1.12, comm = 1.2 }
device = { mem_gb = 80, mem_gbps = 3350, launch_us = 4.0, reserved_gb = 3.5, peak_tflops = { bf16 = 989, fp32 = 67, fp8 = 1979 } }
gemm_eff = [[1e9, 0.25], [1e11, 0.62], [1e13, 0.78]]
links = [ { level = "ib", span = 128, alpha_us = 18, beta_gbps = 45 }, { level = "nvlink", span = 8, alpha_us = 8, beta_gbps = 370 } ]
[collectives.all_reduce]
8 = [[65536, 4], [1048576, 64], [67108864, 256]]
)";

Cluster parse(std::string_view text) {
  auto result = parseCluster(text, *defaultCluster("cuda"));
  EXPECT_EQ(result.status().message(), "");
  return *result;
}

std::string errorOf(std::string_view text) {
  return parseCluster(text, *defaultCluster("cpu")).status().message();
}

TEST(Cluster, FixedProfilesHaveNoLatency) {
  for (const char *target : {"cpu", "cuda"}) {
    Cluster cluster = *defaultCluster(target);
    for (const Link &link : cluster.links)
      EXPECT_EQ(link.alpha, 0) << "bytes decide without a cluster file";
    EXPECT_GT(cluster.peakOf("f32"), 0);
    EXPECT_EQ(cluster.peakOf("unheard of"), cluster.peakOf("f32"));
  }
  EXPECT_FALSE(defaultCluster("abacus"));
}

TEST(Cluster, TheSampleFileIsRead) {
  Cluster cluster = parse(sample);
  EXPECT_EQ(cluster.nodes, 16);
  EXPECT_EQ(cluster.memoryBytes, 80 * gibi);
  EXPECT_DOUBLE_EQ(cluster.reservedBytes, 3.5 * gibi);
  EXPECT_DOUBLE_EQ(cluster.computeSlowdown, 1.12);
  EXPECT_DOUBLE_EQ(cluster.peakOf("f32"), 67e12);
  EXPECT_DOUBLE_EQ(cluster.peakOf("f8"), 1979e12);
  ASSERT_EQ(cluster.links.size(), 2u);
  EXPECT_EQ(cluster.links[0].level, "nvlink") << "the nearest link first";
}

TEST(Cluster, EfficiencyMayStandWithTheDevice) {
  EXPECT_EQ(parse("[device]\ngemm_eff = [[1e9, 0.25]]").matmulEfficiency,
            Curve({{1e9, 0.25}}));
}

TEST(Cluster, MissingFieldsKeepTheirDefaults) {
  Cluster cluster = parse("nodes = 2");
  EXPECT_EQ(cluster.devicesPerNode, 8);
  EXPECT_EQ(cluster.links.size(), 2u);
}

TEST(Cluster, AGroupUsesTheNearestLinkThatConnectsIt) {
  Cluster cluster = parse(sample);
  EXPECT_EQ(cluster.linkFor({1, 8}).level, "nvlink");
  EXPECT_EQ(cluster.linkFor({8, 2}).level, "ib")
      << "one device on each of two nodes";
  EXPECT_EQ(cluster.linkFor({1, 4096}).level, "ib") << "the widest there is";
}

TEST(RankGroup, TellsItsRanksWithinANode) {
  EXPECT_EQ(RankGroup(4, 4).sizeWithin(8), 2);
  EXPECT_EQ(RankGroup(4, 4).sizeWithin(16), 4);
  EXPECT_EQ(RankGroup(8, 4).sizeWithin(8), 1);
  EXPECT_EQ(RankGroup(1, 12).sizeWithin(8), 8);
  const RankGroup grid({{2, 16}, {4, 1}});
  EXPECT_EQ(grid.size(), 8);
  EXPECT_EQ(grid.sizeWithin(8), 4) << "the ranks 0 to 3 of 0 to 7";
  EXPECT_EQ(grid.sizeWithin(2), 2);
  EXPECT_EQ(RankGroup(5, 2).sizeWithin(8), 1) << "3 and 8 are on two nodes";
}

TEST(Cluster, MeasuredCollectivesWinOverAlphaAndBeta) {
  Cluster cluster = parse(sample);
  // A rank receives 2 · 7/8 of the tensor, at the bus bandwidth.
  const double share = 1.75;
  const auto seconds = [&](double bytes) {
    return cluster.commSeconds("all_reduce", {1, 8}, share * bytes);
  };
  EXPECT_DOUBLE_EQ(seconds(1048576), share * 1048576 / 64e9);
  EXPECT_DOUBLE_EQ(seconds(2 * 67108864.0), share * 2 * 67108864 / 256e9)
      << "the last speed";
  EXPECT_NEAR(seconds(8388608), share * 8388608 / 128e9, 1e-12)
      << "halfway between two points, in logarithms";
  EXPECT_NEAR(seconds(1), 8e-6, 1e-9) << "the latency";
  EXPECT_NEAR(seconds(32768), (8e-6 + share * 65536 / 4e9) / 2, 1e-12);
  EXPECT_DOUBLE_EQ(cluster.commSeconds("all_gather", {1, 8}, 0.875 * 1048576),
                   seconds(1048576) / 2)
      << "half of an all-reduce, where gathers were not measured";
  EXPECT_DOUBLE_EQ(cluster.commSeconds("all_gather", {1, 4}, 370e9), 1 + 8e-6);
  EXPECT_DOUBLE_EQ(cluster.commSeconds("transfer", {1, 2}, 370e9), 1 + 8e-6);
}

constexpr std::string_view levels = R"(
devices_per_node = 8
links = [ { level = "node", span = 8, alpha_us = 1, beta_gbps = 100 },
          { level = "net", span = 64, alpha_us = 10, beta_gbps = 10 } ]
)";

TEST(Cluster, AGroupOnSeveralNodesCommunicatesWithinAndBetweenThem) {
  const Cluster cluster = parse(levels);
  const double all = 1e9, received = 2.0 * 15 / 16 * all;
  EXPECT_DOUBLE_EQ(cluster.commSeconds("all_reduce", {1, 16}, received),
                   1e-6 + 2.0 * 7 / 8 * all / 100e9 + 10e-6 +
                       2.0 / 2 * (all / 8) / 10e9);
  EXPECT_DOUBLE_EQ(cluster.commSeconds("all_reduce", {8, 2}, 1e9),
                   10e-6 + 1e9 / 10e9)
      << "one device of each node";
  EXPECT_DOUBLE_EQ(cluster.commSeconds("all_to_all", {1, 16}, 15e9),
                   10e-6 + 8e9 / 10e9)
      << "8 of 15 parts cross the network, the others are faster";
}

TEST(Cluster, MeasuredSpeedsBelongToALevelAndAPlace) {
  const Cluster cluster = parse(std::string(levels) + R"(
[collectives.all_reduce]
16 = [[1e6, 3], [1e9, 3]]
[collectives.all_reduce.node]
2 = [[1e6, 40]]
8 = [[1e6, 10]]
[collectives.all_reduce.net]
4x2 = [[1e6, 2]]
strided_2 = [[1e6, 1]]
)");
  const auto speed = [&](const RankGroup &group) {
    return 1e9 / cluster.commSeconds("all_reduce", group, 1e9);
  };
  EXPECT_DOUBLE_EQ(speed({1, 8}), 10e9);
  EXPECT_DOUBLE_EQ(speed({1, 4}), 20e9) << "between 2 and 8, in logarithms";
  EXPECT_DOUBLE_EQ(speed({1, 16}), 3e9);
  EXPECT_DOUBLE_EQ(speed(RankGroup({{2, 8}, {4, 1}})), 2e9);
  EXPECT_DOUBLE_EQ(speed({8, 2}), 1e9);
  const double all = 1e9 / 1.5;
  EXPECT_DOUBLE_EQ(
      cluster.commSeconds("all_reduce", RankGroup({{2, 8}, {2, 4}}), 1e9),
      all / 40e9 + all / 2 / 1e9)
      << "two devices of each node: within nodes, and between them";
}

TEST(Cluster, LinksAreSharedAndOversubscribed) {
  const auto bandwidth = [](std::string_view fields) {
    return parse("devices_per_node = 8\nlinks = [{ span = 64, beta_gbps = 40" +
                 std::string(fields) + " }]")
        .links[0];
  };
  EXPECT_DOUBLE_EQ(bandwidth("").bytesPerSecond, 40e9);
  EXPECT_DOUBLE_EQ(bandwidth(", nics_per_node = 2").bytesPerSecond, 10e9);
  EXPECT_DOUBLE_EQ(bandwidth(", nics_per_node = 16").bytesPerSecond, 40e9);
  EXPECT_DOUBLE_EQ(bandwidth(", oversubscription = 4").bytesPerSecond, 10e9);
  EXPECT_DOUBLE_EQ(bandwidth(", duplex = false").bytesPerSecond, 20e9);
  EXPECT_EQ(bandwidth(", in_network = \"nvls\"").leastReducedRanks, 5);
  EXPECT_EQ(
      bandwidth(", in_network = \"sharp\", min_group = 4").leastReducedRanks,
      4);
  EXPECT_EQ(bandwidth(", in_network = \"none\"").leastReducedRanks, 0);
}

TEST(Cluster, SwitchesThatReduceSendEachElementOnce) {
  const Cluster cluster = parse("links = [{ span = 64, alpha_us = 1, beta_gbps "
                                "= 100, in_network = \"nvls\" }]");
  EXPECT_DOUBLE_EQ(cluster.commSeconds("all_reduce", {1, 8}, 1.75e9),
                   1e-6 + 1e9 / 85e9);
  EXPECT_DOUBLE_EQ(cluster.commSeconds("all_reduce", {1, 4}, 1.5e9),
                   1e-6 + 1.5e9 / 100e9)
      << "four ranks are too few";
}

TEST(Cluster, ProfilesHaveNames) {
  for (const ClusterProfile &profile : clusterProfiles()) {
    EXPECT_EQ(profileText(profile.name), profile.text);
    auto cluster = parseCluster(profile.text, *defaultCluster("cpu"));
    ASSERT_EQ(cluster.status().message(), "");
    if (profile.text.empty())
      continue;
    EXPECT_GT(cluster->links.front().alpha, 0) << profile.name;
    EXPECT_GT(cluster->reservedBytes, 0);
    for (size_t i = 1; i < cluster->links.size(); ++i)
      EXPECT_GT(cluster->links[i].span, cluster->links[i - 1].span);
  }
  EXPECT_FALSE(profileText("h100"));
  EXPECT_NE(listClusters().find("h100-dgx     nodes of 8 H100"),
            std::string::npos);
}

TEST(Cluster, ComputeIsBoundByFlopsOrByMemory) {
  Cluster cluster = *defaultCluster("cpu");
  EXPECT_DOUBLE_EQ(cluster.computeSeconds(100e9, 1, "f32"), 1);
  EXPECT_DOUBLE_EQ(cluster.computeSeconds(1, 20e9, "f32"), 1);
  EXPECT_NEAR(parse(sample).computeSeconds(989e12 * 0.78, 0, "bf16"), 1, 1e-4)
      << "efficiency of the largest matmul, plus a launch";
}

TEST(Cluster, MistakesInTheFileAreNamed) {
  EXPECT_EQ(
      errorOf("nodes = 0"),
      "line 1 of the cluster file: 'nodes' must be a positive whole number");
  EXPECT_EQ(errorOf("\nspeed = 9"),
            "line 2 of the cluster file: unknown field 'speed'");
  EXPECT_EQ(errorOf("device = { mem = 1 }"),
            "line 1 of the cluster file: unknown field 'device.mem'");
  EXPECT_EQ(errorOf("device = { mem_gb = \"many\" }"),
            "line 1 of the cluster file: 'device.mem_gb' must be 0 or a number "
            "from 1e-12 to 1e15");
  EXPECT_EQ(errorOf("device = 3"),
            "line 1 of the cluster file: 'device' must be a table");
  EXPECT_EQ(errorOf("links = []"),
            "line 1 of the cluster file: 'links' must be a list of tables");
  EXPECT_EQ(errorOf("links = [{ span = 8 }]"),
            "line 1 of the cluster file: a link needs a positive 'beta_gbps'");
  EXPECT_EQ(errorOf("gemm_eff = [[2, 1], [1, 1]]"),
            "line 1 of the cluster file: the points of 'gemm_eff' must ascend "
            "and have positive values");
  EXPECT_EQ(errorOf("gemm_eff = [1]"),
            "line 1 of the cluster file: 'gemm_eff' must be a list of pairs of "
            "numbers");
  EXPECT_EQ(
      errorOf("[collectives.all_reduce]\neight = [[1, 1]]"),
      "line 2 of the cluster file: 'collectives.all_reduce.eight' must be "
      "named by a group size");
  EXPECT_EQ(errorOf("[collectives.all_reduce]\n8 = [[0, 1], [1, 1]]"),
            "line 2 of the cluster file: the bytes of "
            "'collectives.all_reduce.8' must be positive");
  EXPECT_TRUE(errorOf("nodes = = 1")
                  .starts_with("line 1 of the cluster file is not TOML: "));
  std::string deep = "nodes = 1\na";
  for (int i = 0; i < 100000; ++i)
    deep += ".a";
  EXPECT_EQ(errorOf(deep + " = 1"),
            "line 2 of the cluster file has too many dots");
  deep = "nodes = 1\na";
  for (int i = 0; i < 2000; ++i)
    deep += ".1";
  EXPECT_EQ(errorOf(deep + " = 1"),
            "line 2 of the cluster file has too many dots");
}

TEST(ClusterFile, MistakesInTheNetworkAreNamed) {
  EXPECT_EQ(errorOf("[collectives.all_reduce.rail]\n8 = [[1, 1]]"),
            "line 1 of the cluster file: 'collectives.all_reduce.rail' must be "
            "named by a group size, or by the level of a link");
  EXPECT_EQ(errorOf("[collectives.all_reduc]\n8 = [[1, 1]]"),
            "line 1 of the cluster file: unknown collective "
            "'collectives.all_reduc'");
  EXPECT_EQ(errorOf("links = [{ span = 8, beta_gbps = 1 }, { span = 12, "
                    "beta_gbps = 1 }, { span = 99, beta_gbps = 1 }]"),
            "line 1 of the cluster file: units of 12 ranks do not consist of "
            "whole units of 8 ranks");
  EXPECT_EQ(errorOf("links = [{ beta_gbps = 1, in_network = \"sharpe\" }]"),
            "line 1 of the cluster file: 'links.in_network' must be \"nvls\", "
            "\"sharp\" or \"none\"");
  EXPECT_EQ(errorOf("links = [{ level = \"a\", span = 8, beta_gbps = 1 }, { "
                    "level = \"a\", span = 16, beta_gbps = 1 }]"),
            "line 1 of the cluster file: two links have the level 'a'");
  EXPECT_EQ(errorOf("links = [{ beta_gbps = 1, min_group = 4 }]"),
            "line 1 of the cluster file: 'links.min_group' needs 'in_network'");
  EXPECT_EQ(errorOf("[collectives.all_reduce]\n08 = [[1, 1]]"),
            "line 2 of the cluster file: 'collectives.all_reduce.08' must be "
            "named by a group size");
}

TEST(ClusterFile, LongTablesOfNumbersAreNoDeepKeys) {
  std::string table = "[collectives.all_reduce]\n8 = [[1.5, 1.5]";
  for (int i = 2; i < 2000; ++i)
    table += ", [" + std::to_string(i) + ".5, " + std::to_string(i) + ".25]";
  EXPECT_EQ(errorOf(table + "]"), "");
}

} // namespace
