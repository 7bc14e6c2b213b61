//===- CrashTest.cpp - a save that ends anywhere --------------------------===//

#include "test/runtime/checkpoint/TrainingRun.h"

#include <atomic>
#include <mutex>
#include <set>
#include <sys/wait.h>

using namespace pcc;
using namespace pcc::runtime;
using namespace pcc::test;

namespace {
const Mesh pair = test::makeMesh({1, 2, 1});
const SubAxis half{"tp", 1, 2};
constexpr int kKilled = 42;

std::vector<Declared> declared() {
  return {
      {"a", ElementType::F32, {7, 4}, test::makeLayout({{{7, {half}}}, {{4}}})},
      {"b", ElementType::BF16, {9}, test::makeLayout({{{9}}})}};
}

/// Saves `step` in a process of its own, which dies before change number `last`
/// of the file system. Returns whether it died.
bool saveUntil(const CheckpointOptions &wanted, int64_t step, int last) {
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> count = 0;
    CheckpointOptions options = wanted;
    options.onChange = [&](const char *, const std::string &) {
      if (++count == last)
        _exit(kKilled);
    };
    _exit(save(declared(), pair, options, step).ok() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_TRUE(WEXITSTATUS(status) == kKilled || WEXITSTATUS(status) == 0);
  return WEXITSTATUS(status) == kKilled;
}

/// Expects that after every possible end of a save of `next`, a load gives a
/// complete checkpoint, one of `expected`, and that the next save succeeds and
/// leaves no temporary files.
void expectLoadable(const CheckpointOptions &wanted,
                    const std::vector<int64_t> &before, int64_t next,
                    const std::set<int64_t> &expected) {
  const Folder folder;
  CheckpointOptions options = wanted;
  options.directory = folder.path + "/before";
  for (int64_t step : before)
    ASSERT_TRUE(save(declared(), pair, options, step).ok());
  bool killed = true;
  int last = 0;
  while (killed) {
    options.directory = folder.path + "/" + std::to_string(++last);
    std::filesystem::copy(folder.path + "/before", options.directory,
                          std::filesystem::copy_options::recursive);
    killed = saveUntil(options, next, last);
    const LoadResult result = load(declared(), pair, options.directory);
    ASSERT_TRUE(result.status.ok())
        << "change " << last << ": " << result.status.message();
    ASSERT_TRUE(result.holdsWhatItSays) << "change " << last;
    ASSERT_TRUE(expected.count(result.loaded.position.step));
    if (!killed)
      ASSERT_EQ(result.loaded.position.step, next);
    ASSERT_TRUE(save(declared(), pair, options, next + 1).ok());
    for (const std::string &name : folder.files())
      ASSERT_EQ(name.find(".tmp-"), name.npos) << name;
    std::filesystem::remove_all(options.directory);
  }
  EXPECT_GT(last, 20);
}
} // namespace

TEST(Crash, OldOrNewIsLoadable) { expectLoadable({}, {1}, 2, {1, 2}); }

/// The state changes while it is saved.
TEST(Crash, OldOrNewIsLoadableWhenSavedInTheBackground) {
  CheckpointOptions options;
  options.inBackground = true;
  expectLoadable(options, {1}, 2, {1, 2});
}

/// The state of a step is the same, whichever save wrote it.
TEST(Crash, ReplacedStepIsLoadable) { expectLoadable({}, {2}, 2, {2}); }

TEST(Crash, RemovingOldOnesLeavesOneLoadable) {
  CheckpointOptions options;
  options.keep = 2;
  expectLoadable(options, {1, 2, 3}, 4, {3, 4});
}

/// Data that must survive a crash of the machine is synced in time: each file
/// before its folder gets its name, and the folder after them.
TEST(Crash, EverythingIsSyncedBeforeItIsNamed) {
  const Folder folder;
  std::vector<std::pair<std::string, std::string>> changes;
  std::mutex mutex;
  CheckpointOptions options;
  options.directory = folder.path;
  options.onChange = [&](const char *change, const std::string &path) {
    const std::lock_guard lock(mutex);
    changes.emplace_back(change, path);
  };
  ASSERT_TRUE(save(declared(), pair, options, 1).ok());
  std::set<std::string> unsynced;
  bool named = false;
  for (const auto &[change, path] : changes) {
    const std::string parent = std::filesystem::path(path).parent_path();
    if (change == "rename" && path.find("step-00000001.tmp-") != path.npos &&
        parent == folder.path) {
      for (const std::string &name : unsynced)
        EXPECT_FALSE(name.starts_with(path)) << name;
      named = true;
    }
    if (change == "sync")
      unsynced.erase(path);
    else if (change == "create" || change == "write")
      unsynced.insert({path, parent});
    else if (change != "remove") // of what nobody needs
      unsynced.insert(parent);
  }
  EXPECT_TRUE(named);
  EXPECT_FALSE(unsynced.count(folder.path));
}
