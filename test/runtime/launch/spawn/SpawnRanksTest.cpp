//===- SpawnRanksTest.cpp - bundles of shell scripts under a launcher -----===//
//
// The ranks are shell scripts, BUNDLE/run is the real one. The launcher is a
// script that starts the ranks like Open MPI, or mpirun itself if it is
// installed.
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/spawn/SpawnRanks.h"
#include "runtime/launch/job/BundleFiles.h"
#include "runtime/launch/job/PrivateFolder.h"
#include "runtime/program/Seal.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace pcc::runtime {

namespace fs = std::filesystem;

/// Starts the ranks one after another and prints the messages of mpirun.
static constexpr const char *kFakeMpirun = R"(#!/bin/sh
while [ "$1" != -np ]; do shift; done
size=$2; shift 2
echo "$PCC_STATUS_DIR" > "$(dirname "$0")/folder"
rank=0
while [ $rank -lt $size ]; do
  OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=$size "$@"
  code=$?
  if [ $code -gt 128 ]; then
    echo "mpirun noticed that process rank $rank with PID 1 on node n" \
         "exited on signal $((code - 128)) (Killed)." >&2
    exit $code
  elif [ $code -ne 0 ]; then
    echo "  Process name: [[1,1],$rank]" >&2
    echo "  Exit code:    $code" >&2
    exit $code
  fi
  rank=$((rank + 1))
done
)";

class Spawn : public testing::Test {
protected:
  void SetUp() override { ASSERT_TRUE(folder.create().ok()); }

  std::string at(const std::string &name) { return folder.path() + "/" + name; }

  void writeScript(const std::string &path, const std::string &text) {
    {
      std::ofstream file(path);
      file << text;
    }
    fs::permissions(path, fs::perms::owner_all);
  }

  /// Returns a bundle whose ranks all run `body`, with their number in $RANK.
  /// The shell stops before it reads the seal.
  std::string makeBundle(int worldSize, const std::string &body) {
    const std::string bundle = at("b.pcc");
    fs::create_directory(bundle);
    fs::copy_file(PCC_BUNDLE_RUN, bundle + "/run");
    EXPECT_TRUE(sealFile(bundle + "/run").ok());
    std::ofstream(bundle + "/bundle.json")
        << sealJson("{\"world\":" + std::to_string(worldSize) + "}");
    for (int rank = 0; rank < worldSize; ++rank) {
      const std::string path = bundle + "/" + rankFileName(rank);
      writeScript(path, "#!/bin/sh\nRANK=" + std::to_string(rank) + "\n" +
                            body + "\nexit\n");
      EXPECT_TRUE(sealFile(path).ok());
    }
    return bundle;
  }

  Status spawn(const std::string &bundle,
               std::vector<std::string> arguments = {}) {
    writeScript(at("mpirun"), kFakeMpirun);
    return spawnRanks({bundle, std::move(arguments), at("mpirun")});
  }

  PrivateFolder folder;
};

TEST_F(Spawn, RanksGetTheirArguments) {
  const std::string bundle =
      makeBundle(3, "echo \"$RANK $1 $2\" >> '" + at("seen") + "'");
  const Status status = spawn(bundle, {"--input", "x=a b.npy"});
  EXPECT_TRUE(status.ok()) << status.message();
  std::ifstream seen(at("seen"));
  std::string line;
  for (int rank = 0; rank < 3; ++rank) {
    std::getline(seen, line);
    EXPECT_EQ(line, std::to_string(rank) + " --input x=a b.npy");
  }
}

TEST_F(Spawn, StderrOfRanksIsFiltered) {
  const std::string bundle =
      makeBundle(2, "echo 'launcher noise' >&2; echo \"note: $RANK\" >&2");
  testing::internal::CaptureStderr();
  const Status status = spawn(bundle);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "note: 0\nnote: 1\n");
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(Spawn, ProgressIsToldAndNotPassedOn) {
  makeBundle(2, "[ \"$PCC_PROGRESS$RANK\" != 10 ] || "
                "echo 'pcc-progress: step 1 of 2' >&2");
  writeScript(at("mpirun"), kFakeMpirun);
  std::vector<std::string> told;
  testing::internal::CaptureStderr();
  const Status status = spawnRanks(
      {.bundle = at("b.pcc"),
       .launcher = at("mpirun"),
       .onProgress = [&](const std::string &what) { told.push_back(what); }});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(told, std::vector<std::string>{"step 1 of 2"});
}

TEST_F(Spawn, ExitCodeOfARankIsTheRuns) {
  const Status status = spawn(makeBundle(2, "[ $RANK = 0 ] || exit 11"));
  EXPECT_EQ(status.code(), DamagedBundle);
  EXPECT_NE(status.message().find("rank 1"), std::string::npos);
}

TEST_F(Spawn, KilledRankIsNamed) {
  const Status status = spawn(makeBundle(2, "[ $RANK = 0 ] || kill -9 $$"));
  EXPECT_EQ(status.code(), PeerLost);
  EXPECT_NE(status.message().find("rank 1"), std::string::npos);
}

TEST_F(Spawn, ReportOfARankIsTheError) {
  const std::string report =
      "printf '10\\ninput x is missing\\nuse --input\\n' > "
      "$PCC_STATUS_DIR/report; exit 1";
  const Status status = spawn(makeBundle(2, report));
  EXPECT_EQ(status.code(), BadInput);
  EXPECT_EQ(status.message(), "input x is missing");
  ASSERT_EQ(status.notes().size(), 1u);
  EXPECT_EQ(status.notes()[0], "use --input");
}

TEST_F(Spawn, TemporaryFolderIsRemoved) {
  EXPECT_TRUE(spawn(makeBundle(2, "true")).ok());
  std::string status;
  std::ifstream(at("folder")) >> status;
  EXPECT_FALSE(status.empty());
  EXPECT_FALSE(fs::exists(status));
}

TEST_F(Spawn, AbsentLauncherIsOneError) {
  const Status status = spawnRanks({makeBundle(2, "true"), {}, at("nothing")});
  EXPECT_EQ(status.code(), NoDevice);
}

TEST_F(Spawn, LauncherThatRefusesIsOneError) {
  writeScript(at("mpirun"), "#!/bin/sh\necho 'unknown option' >&2\nexit 1\n");
  const Status status = spawnRanks({makeBundle(2, "true"), {}, at("mpirun")});
  EXPECT_EQ(status.code(), NoDevice);
  EXPECT_NE(status.message().find("unknown option"), std::string::npos);
}

TEST_F(Spawn, WorldOfOneNeedsNoLauncher) {
  const std::string bundle =
      makeBundle(1, "[ \"$PCC_RANK/$PCC_WORLD_SIZE\" = 0/1 ] || exit 12");
  const Status status = spawnRanks({bundle, {}, at("nothing")});
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(Spawn, FolderWithoutRanksIsNoBundle) {
  EXPECT_EQ(spawnRanks({folder.path()}).code(), DamagedBundle);
}

TEST_F(Spawn, SignalEndsTheRanks) {
  writeScript(at("mpirun"),
              "#!/bin/sh\n: > '" + at("up") + "'\nexec sleep 30\n");
  const std::string bundle = makeBundle(2, "true");
  // The process that sends the signal must not receive it itself.
  sigset_t terminate;
  sigemptyset(&terminate);
  sigaddset(&terminate, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &terminate, nullptr);
  std::thread killer([&] {
    while (!fs::exists(at("up")))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    kill(getpid(), SIGTERM);
  });
  const Status status = spawnRanks({bundle, {}, at("mpirun")});
  killer.join();
  EXPECT_EQ(status.code(), endedBySignal(SIGTERM));
  EXPECT_NE(status.message().find("signal 15"), std::string::npos);
}

TEST_F(Spawn, LauncherThatStartsNothingHasNotSucceeded) {
  writeScript(at("mpirun"), "#!/bin/sh\nexit 0\n");
  const Status status = spawnRanks({makeBundle(2, "true"), {}, at("mpirun")});
  EXPECT_EQ(status.code(), NoDevice);
  EXPECT_NE(status.message().find("did not start the ranks"),
            std::string::npos);
}

TEST_F(Spawn, LauncherThatHangsBeforeTheRanksIsEnded) {
  writeScript(at("mpirun"), "#!/bin/sh\nsleep 60\n");
  const Status status = spawnRanks({.bundle = makeBundle(2, "true"),
                                    .launcher = at("mpirun"),
                                    .loadTimeout = 0.5});
  EXPECT_EQ(status.code(), PeerLost);
  EXPECT_EQ(status.message(), "mpirun did not start a rank within 0.5 s");
}

TEST_F(Spawn, LauncherThatHangsAfterTheRanksIsEnded) {
  std::string script = kFakeMpirun;
  writeScript(at("mpirun"), script + "sleep 60\n");
  const Status status = spawnRanks({.bundle = makeBundle(2, "true"),
                                    .launcher = at("mpirun"),
                                    .loadTimeout = 0.5});
  EXPECT_EQ(status.code(), PeerLost);
  EXPECT_EQ(status.message(),
            "mpirun did not end after its ranks within 0.5 s");
}

TEST_F(Spawn, LauncherThatHangsAfterSomeRanksIsEnded) {
  writeScript(at("mpirun"),
              "#!/bin/sh\nwhile [ \"$1\" != -np ]; do shift; done\nshift 2\n"
              "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 \"$@\"\n"
              "sleep 60\n");
  const Status status = spawnRanks({.bundle = makeBundle(2, "true"),
                                    .launcher = at("mpirun"),
                                    .loadTimeout = 0.5});
  EXPECT_EQ(status.code(), PeerLost);
  EXPECT_EQ(status.message(),
            "mpirun did not end after its ranks within 0.5 s");
}

//===----------------------------------------------------------------------===//
// BUNDLE/run by itself
//===----------------------------------------------------------------------===//

struct Ended {
  int code;
  std::string stderrText;
};

static Ended shell(const std::string &command, const std::string &scratch) {
  const std::string file = scratch + "/stderr";
  const std::string redirected = command + " 2> '" + file + "'";
  const pid_t pid = fork();
  if (pid == 0) {
    execl("/bin/sh", "sh", "-c", redirected.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  std::ifstream in(file);
  return {WEXITSTATUS(status), std::string(std::istreambuf_iterator<char>(in),
                                           std::istreambuf_iterator<char>())};
}

static int countErrors(const std::string &text) {
  int count = 0;
  for (size_t found = text.find("pcc: error: "); found != std::string::npos;
       found = text.find("pcc: error: ", found + 1))
    ++count;
  return count;
}

TEST_F(Spawn, RunWithoutALauncherHintsAtOne) {
  const Ended ended = shell(makeBundle(2, "true") + "/run", folder.path());
  EXPECT_EQ(ended.code, WrongWorld);
  EXPECT_EQ(countErrors(ended.stderrText), 1);
  EXPECT_NE(ended.stderrText.find("mpirun -n 2"), std::string::npos);
}

TEST_F(Spawn, RunRefusesAnAlteredRank) {
  const std::string bundle = makeBundle(1, "true");
  std::fstream file(bundle + "/rank-000", std::ios::in | std::ios::out);
  file.seekp(12);
  file << "X";
  file.close();
  const Ended ended = shell(bundle + "/run", folder.path());
  EXPECT_EQ(ended.code, DamagedBundle);
  EXPECT_EQ(countErrors(ended.stderrText), 1) << ended.stderrText;
}

TEST_F(Spawn, RunOfAWorldOfOneNeedsNoLauncher) {
  EXPECT_EQ(shell(makeBundle(1, "exit 7") + "/run", folder.path()).code, 7);
}

#ifdef PCC_MPIRUN
static constexpr const char *kMpirun =
    PCC_MPIRUN " --allow-run-as-root --oversubscribe -n ";

TEST_F(Spawn, MpirunWithTheWrongNumberOfRanksIsToldOnce) {
  const Ended ended =
      shell(kMpirun + ("3 " + makeBundle(2, "true")) + "/run", folder.path());
  EXPECT_EQ(ended.code, WrongWorld);
  EXPECT_EQ(countErrors(ended.stderrText), 1) << ended.stderrText;
  EXPECT_NE(ended.stderrText.find("2 ranks, but Open MPI started 3"),
            std::string::npos);
}

TEST_F(Spawn, MpirunStartsEveryRank) {
  const std::string bundle = makeBundle(3, ": > '" + at("rank-") + "'$RANK");
  const Status status = spawnRanks({bundle, {}, PCC_MPIRUN});
  EXPECT_TRUE(status.ok()) << status.message();
  for (int rank = 0; rank < 3; ++rank)
    EXPECT_TRUE(fs::exists(at("rank-" + std::to_string(rank))));
}

TEST_F(Spawn, MpirunEndsTheOthersWhenARankIsKilled) {
  const std::string bundle = makeBundle(
      3, "[ $RANK = 1 ] && kill -9 $$; sleep 60; : > '" + at("survived") + "'");
  const Status status = spawnRanks({bundle, {}, PCC_MPIRUN});
  EXPECT_FALSE(fs::exists(at("survived")));
  EXPECT_EQ(status.code(), PeerLost);
  EXPECT_EQ(status.message(),
            "rank 1 was lost: it was ended by signal 9 (Killed)");
}
#endif

} // namespace pcc::runtime
