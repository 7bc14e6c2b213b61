//===- RankProcessTest.cpp - whole runs of real rank executables ----------===//

#include "runtime/launch/RunBundle.h"
#include "runtime/launch/job/PrivateFolder.h"
#include "runtime/program/Seal.h"
#include "runtime/tensor/Npy.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

namespace pcc::runtime {

namespace fs = std::filesystem;

/// Text of bundle.json, before it is sealed, for two ranks without tensors.
static constexpr const char *description = R"({"world":2,"mesh":{"tp":2},
"target":"cpu","tf32":false,"microbatches":1,"schedule":"forward",
"inputs":[],"outputs":[],"stages":[{"stage":0,"ranks":[0,1],"flops":0,
"recomputed_flops":0,"weight_bytes":0,"activation_bytes":0}],
"programs":[{"position":0,"stages":[0],"arena_bytes":0,
"arena_lower_bound_bytes":0,"weight_bytes":0,"gradient_bytes":0,
"state_bytes":0,"received_bytes":0,"instructions":0,"actions":[],
"parameters":[],"inputs":[],"outputs":[]}],"collectives":[],"transfers":[],
"kernels":{"unique":0,"calls":0},"planned_step":{"seconds":0,
"rows":[{"name":"rank 0","idle_seconds":0,"weight_bytes":0,"state_bytes":0,
"arena_bytes":0,"memory":[],"actions":[],"messages":[]}]}})";

class RankProcess : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(folder.create().ok());
    bundle = at("b.pcc");
    fs::create_directory(bundle);
    fs::copy_file(PCC_BUNDLE_RUN, bundle + "/run");
    ASSERT_TRUE(sealFile(bundle + "/run").ok());
    std::ofstream(bundle + "/bundle.json") << sealJson(description);
    fs::copy_file(PCC_GATHER_RANK, bundle + "/rank-000");
    ASSERT_TRUE(sealFile(bundle + "/rank-000").ok());
    fs::create_hard_link(bundle + "/rank-000", bundle + "/rank-001");
    writeInput(8);
  }

  std::string at(const std::string &name) { return folder.path() + "/" + name; }

  void writeInput(int64_t size) {
    std::ofstream file(at("x.npy"), std::ios::binary);
    file << npyHeader(ElementType::F32, {size});
    for (int64_t i = 0; i < size; ++i) {
      const float value = float(i);
      file.write(reinterpret_cast<const char *>(&value), sizeof value);
    }
  }

  Status run(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"--input", "x=" + at("x.npy"),
                                          "--output", at("out"), "-q"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    RunOptions options;
    options.onProgress = onProgress;
    return runBundle(bundle, options, arguments);
  }

  /// Waits for the process of a rank and returns its id.
  pid_t processOf(int rank) {
    const std::string name = bundle + "/rank-00" + std::to_string(rank);
    for (;;) {
      for (const auto &entry : fs::directory_iterator("/proc")) {
        std::ifstream file(entry.path() / "cmdline");
        std::string argument;
        if (std::getline(file, argument, '\0') && argument == name)
          return std::stoi(entry.path().filename());
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  /// Starts an endless run whose waits may last a second, once it has begun.
  Status runEndlessly(const std::string &loadTimeout) {
    return run({"--repeat", "1000000000", "--timeout", "1", "--load-timeout",
                loadTimeout});
  }

  /// Sends a signal to rank 1 during an endless run.
  Status runAndSignal(int signal) {
    onProgress = [&, isSent = false](const std::string &what) mutable {
      if (!isSent && what.starts_with("step"))
        isSent = kill(processOf(1), signal) == 0;
    };
    return runEndlessly("100");
  }

  PrivateFolder folder;
  std::string bundle;
  std::function<void(const std::string &)> onProgress;
};

TEST_F(RankProcess, TwoProcessesGather) {
  const Status status = run();
  ASSERT_TRUE(status.ok()) << status.message();
  NpyFile file;
  ASSERT_TRUE(NpyFile::open(at("out/y.npy"), file).ok());
  ASSERT_EQ(file.shape(), std::vector<int64_t>{8});
  float values[8];
  std::memcpy(values, file.data(), sizeof values);
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(values[i], float(i));
}

TEST_F(RankProcess, WrongInputIsOneError) {
  writeInput(7);
  const Status status = run();
  EXPECT_EQ(status.code(), BadInput) << status.message();
}

TEST_F(RankProcess, WrongOptionIsWrongUsage) {
  EXPECT_EQ(run({"--no-such-option"}).code(), WrongUsage);
}

TEST_F(RankProcess, KilledRankEndsTheRun) {
  const Status status = runAndSignal(SIGKILL);
  EXPECT_EQ(status.code(), PeerLost) << status.message();
  EXPECT_NE(status.message().find("rank 1"), std::string::npos)
      << status.message();
}

TEST_F(RankProcess, StoppedRankMissesTheDeadline) {
  const Status status = runAndSignal(SIGSTOP);
  EXPECT_EQ(status.code(), PeerLost) << status.message();
  EXPECT_NE(status.message().find("rank 1 of {0,1} did not arrive"),
            std::string::npos)
      << status.message();
}

TEST_F(RankProcess, RankThatDoesNotStartMissesTheDeadline) {
  std::thread culprit([&] { kill(processOf(1), SIGSTOP); });
  const Status status = runEndlessly("2");
  culprit.join();
  EXPECT_EQ(status.code(), PeerLost) << status.message();
}

TEST_F(RankProcess, AlteredRankIsRefused) {
  std::fstream file(bundle + "/rank-001", std::ios::in | std::ios::out);
  file.seekp(5000);
  file << "altered";
  file.close();
  EXPECT_EQ(run().code(), DamagedBundle);
}

TEST_F(RankProcess, NcclIsNotThere) {
  RunOptions options;
  options.comm = "nccl";
  EXPECT_EQ(runBundle(bundle, options, {}).code(), NoDevice);
}

} // namespace pcc::runtime
