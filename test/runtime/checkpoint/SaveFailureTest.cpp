//===- SaveFailureTest.cpp - saves that cannot be completed ---------------===//

#include "test/runtime/checkpoint/TrainingRun.h"

#include <atomic>
#include <csignal>
#include <memory>
#include <sys/resource.h>
#include <sys/wait.h>

using namespace pcc;
using namespace pcc::runtime;
using namespace pcc::test;

namespace {
const Mesh pair = test::makeMesh({1, 2, 1});
const SubAxis half{"tp", 1, 2};

std::vector<Declared> declared() {
  return {{"w",
           ElementType::F32,
           {4096, 4},
           test::makeLayout({{{4096, {half}}}, {{4}}})}};
}

std::vector<std::string> unfinished(const Folder &folder) {
  std::vector<std::string> names = folder.files();
  std::erase_if(names, [](const std::string &name) {
    return name.find(".tmp-") == name.npos && name.find(".part") == name.npos;
  });
  return names;
}

/// Puts an obstacle at the path of a change.
void obstruct(const char *change, const std::string &path,
              const std::string &ending) {
  if (change == std::string("create") && path.ends_with(ending))
    std::filesystem::create_directory(path);
}

/// Returns the options of saves in the background that find an obstacle at the
/// path of a new file whose name has this ending.
CheckpointOptions obstructed(const Folder &folder, const char *ending) {
  CheckpointOptions options;
  options.directory = folder.path;
  options.inBackground = true;
  options.onChange = [ending](const char *change, const std::string &path) {
    obstruct(change, path, ending);
  };
  return options;
}
} // namespace

/// A file may not grow beyond a limit, as on a full disk.
TEST(SaveFailure, DiskFull) {
  const Folder folder;
  CheckpointOptions options;
  options.directory = folder.path;
  ASSERT_TRUE(save(declared(), pair, options, 1).ok());
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{10000, 10000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto results = onRanks(2, [&](World &world) {
      return RankState(declared(), pair, world.rank()).save(options, world, 2);
    });
    const bool named =
        results[1].message().find("rank-001.safetensors") != std::string::npos;
    const bool bothFail =
        results[0].code() == InputOutput && results[1].code() == InputOutput;
    _exit(named && bothFail ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_FALSE(std::filesystem::exists(folder.path + "/step-00000002"));
  EXPECT_EQ(unfinished(folder), std::vector<std::string>());
  EXPECT_EQ(load(declared(), pair, folder.path).loaded.position.step, 1);
}

TEST(SaveFailure, RankZeroTellsWhichRankFailed) {
  const Folder folder;
  CheckpointOptions options;
  options.directory = folder.path;
  options.onChange = [](const char *change, const std::string &path) {
    obstruct(change, path, "rank-001.safetensors");
  };
  const auto results = onRanks(2, [&](World &world) {
    return RankState(declared(), pair, world.rank()).save(options, world, 1);
  });
  EXPECT_EQ(results[0].code(), InputOutput);
  EXPECT_EQ(results[0].message().find("rank 1 cannot save its part"), 0u)
      << results[0].message();
  EXPECT_EQ(results[1].code(), InputOutput);
  EXPECT_EQ(folder.files(), std::vector<std::string>());
}

TEST(SaveFailure, RankThatDoesNotSaveIsNamed) {
  const Folder folder;
  const auto results = onRanks(2, [&](World &world) {
    RankState state(declared(), pair, world.rank());
    CheckpointOptions options;
    options.directory = folder.path;
    options.timeout = 0.05;
    CheckpointWriter writer;
    Status status =
        writer.open(options, state.tensors, state.mesh, state.at, world);
    if (status.ok() && world.rank() == 0)
      status = writer.save({1});
    return status;
  });
  EXPECT_EQ(results[0].code(), PeerLost);
  EXPECT_NE(results[0].message().find(" s for the parts of rank 1 in "),
            std::string::npos)
      << results[0].message();
  EXPECT_EQ(folder.files(), std::vector<std::string>());
}

/// A run that ends for another reason does not wait for missing ranks.
TEST(SaveFailure, WriterThatGoesGivesUp) {
  const Folder folder;
  std::atomic<bool> hasGone = false;
  const auto results = onRanks(2, [&](World &world) {
    RankState state(declared(), pair, world.rank());
    CheckpointOptions options;
    options.directory = folder.path;
    options.inBackground = true;
    options.timeout = 3600;
    options.onChange = [&](const char *, const std::string &path) {
      if (path.find("rank-001.safetensors") != path.npos)
        hasGone.wait(false);
    };
    auto writer = std::make_unique<CheckpointWriter>();
    Status status =
        writer->open(options, state.tensors, state.mesh, state.at, world);
    status = status.ok() ? writer->save({1}) : status;
    if (world.rank() == 0) {
      writer.reset();
      hasGone = true;
      hasGone.notify_all();
    }
    return status;
  });
  EXPECT_TRUE(firstOf(results).ok()) << firstOf(results).message();
  EXPECT_EQ(folder.files(), std::vector<std::string>());
}

/// The next call reports an error in the background, and the one after it is a
/// new attempt.
TEST(SaveFailure, BackgroundErrorsSurfaceLater) {
  const Folder folder;
  bool obstructs = true;
  const Mesh single = test::makeMesh({1, 1});
  const std::vector<Declared> one = {
      {"w", ElementType::F32, {5}, wholeLayout(std::vector<int64_t>{5})}};
  const Status status = firstOf(onRanks(1, [&](World &world) {
    RankState state(one, single, 0);
    CheckpointOptions options;
    options.directory = folder.path;
    options.inBackground = true;
    options.onChange = [&](const char *change, const std::string &path) {
      if (obstructs)
        obstruct(change, path, "rank-000.safetensors");
    };
    CheckpointWriter writer;
    EXPECT_TRUE(
        writer.open(options, state.tensors, state.mesh, state.at, world).ok());
    state.fill(1);
    EXPECT_TRUE(writer.save(RankState::positionOf(1)).ok());
    const Status failed = writer.save(RankState::positionOf(1));
    EXPECT_EQ(failed.code(), InputOutput);
    EXPECT_NE(failed.message().find("rank-000.safetensors"), std::string::npos);
    obstructs = false;
    EXPECT_TRUE(writer.save(RankState::positionOf(1)).ok());
    return writer.finish();
  }));
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(load(one, single, folder.path).holdsWhatItSays);
  EXPECT_EQ(unfinished(folder), std::vector<std::string>());
}

/// Rank 0 cannot complete the first checkpoint, and would not know of files
/// that other ranks write for the second one.
TEST(SaveFailure, NoRankBeginsASaveAfterAFailedOne) {
  const Folder folder;
  const auto results = onRanks(2, [&](World &world) {
    RankState state(declared(), pair, world.rank());
    const CheckpointOptions options = obstructed(folder, "manifest.json.part");
    CheckpointWriter writer;
    EXPECT_TRUE(
        writer.open(options, state.tensors, state.mesh, state.at, world).ok());
    EXPECT_TRUE(writer.save(RankState::positionOf(1)).ok());
    const Status second = writer.save(RankState::positionOf(2));
    return second.failed() ? second : writer.finish();
  });
  for (const Status &result : results)
    EXPECT_EQ(result.code(), InputOutput) << result.message();
  EXPECT_EQ(unfinished(folder), std::vector<std::string>());
}

/// A run that asks after every step ends soon after the disk is full, and not
/// only when it saves again.
TEST(SaveFailure, BackgroundErrorsAreToldToWhoAsks) {
  const Folder folder;
  const Mesh single = test::makeMesh({1, 1});
  const std::vector<Declared> one = {
      {"w", ElementType::F32, {5}, wholeLayout(std::vector<int64_t>{5})}};
  const Status status = firstOf(onRanks(1, [&](World &world) {
    RankState state(one, single, 0);
    const CheckpointOptions options =
        obstructed(folder, "rank-000.safetensors");
    CheckpointWriter writer;
    EXPECT_TRUE(
        writer.open(options, state.tensors, state.mesh, state.at, world).ok());
    EXPECT_TRUE(writer.check().ok()) << "nothing has been saved";
    EXPECT_TRUE(writer.save(RankState::positionOf(1)).ok());
    for (;;)
      PCC_RETURN_IF_ERROR(writer.check());
  }));
  EXPECT_EQ(status.code(), InputOutput);
  EXPECT_EQ(unfinished(folder), std::vector<std::string>());
}

TEST(SaveFailure, FoldersThatAreNotOne) {
  const Folder folder;
  const auto results = onRanks(2, [&](World &world) {
    RankState state(declared(), pair, world.rank());
    CheckpointOptions options;
    options.directory = folder.path + "/of-" + std::to_string(world.rank());
    return state.save(options, world, 1);
  });
  EXPECT_EQ(results[0].code(), InputOutput);
  EXPECT_NE(results[1].message().find(
                "rank 1 does not see the files that rank 0 writes"),
            std::string::npos);
}

TEST(SaveFailure, TwoRunsInOneFolder) {
  const Folder folder;
  const Mesh single = test::makeMesh({1, 1});
  const Status status = firstOf(onRanks(1, [&](World &world) {
    CheckpointOptions options;
    options.directory = folder.path;
    CheckpointWriter first, second;
    EXPECT_TRUE(first.open(options, {}, single, {0, 0}, world).ok());
    return second.open(options, {}, single, {0, 0}, world);
  }));
  EXPECT_EQ(status.code(), InputOutput);
  EXPECT_EQ(status.message(),
            "another run saves checkpoints to '" + folder.path + "'");
}

TEST(SaveFailure, FolderThatCannotBeMade) {
  const Folder folder;
  std::ofstream(folder.path + "/file") << "no folder";
  CheckpointOptions options;
  options.directory = folder.path + "/file/checkpoints";
  const Status status = save(declared(), pair, options, 1);
  EXPECT_EQ(status.code(), InputOutput);
  EXPECT_NE(status.message().find(options.directory), std::string::npos);
}

/// Files that another job left are no checkpoint, and the next save removes
/// them.
TEST(SaveFailure, LitterOfADeadJob) {
  const Folder folder;
  const std::string dead = folder.path + "/step-00000009.tmp-123-0";
  std::filesystem::create_directories(dead);
  std::ofstream(dead + "/manifest.json") << "{}";
  EXPECT_EQ(load(declared(), pair, folder.path).status.code(), BadInput);
  CheckpointOptions options;
  options.directory = folder.path;
  ASSERT_TRUE(save(declared(), pair, options, 1).ok());
  EXPECT_FALSE(std::filesystem::exists(dead));
  EXPECT_TRUE(load(declared(), pair, folder.path).holdsWhatItSays);
}
