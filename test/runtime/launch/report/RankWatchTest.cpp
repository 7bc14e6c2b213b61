//===- RankWatchTest.cpp - which rank ended first -------------------------===//

#include "runtime/launch/report/RankWatch.h"
#include "runtime/launch/job/PrivateFolder.h"

#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace pcc::runtime {

class RankWatches : public testing::Test {
protected:
  void SetUp() override { ASSERT_TRUE(folder.create().ok()); }

  /// A rank that ends when its pipe is closed.
  struct Process {
    pid_t pid;
    int end;
  };

  Process start(int rank, const std::function<void()> &atEnd = [] {}) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    others.push_back(ends[1]);
    const pid_t pid = fork();
    if (pid == 0) {
      for (const int other : others)
        close(other);
      announceRank(folder.path(), rank);
      char nothing;
      while (read(ends[0], &nothing, 1) > 0)
        ;
      atEnd();
      _exit(0);
    }
    close(ends[0]);
    return {pid, ends[1]};
  }

  static void end(const Process &process) {
    close(process.end);
    waitpid(process.pid, nullptr, 0);
  }

  /// Ends the first process, then the second. Returns the rank that the watch
  /// takes for the first one.
  std::optional<int> firstOf(const Process &first, const Process &second) {
    RankWatch watch(folder.path());
    // Wait until both have reported that they are running.
    for (int i = 0; i < 5000 && numFiles() < 2; ++i)
      usleep(1000);
    watch.signalAll(0);
    end(first);
    end(second);
    watch.poll();
    return watch.firstEnded();
  }

  long numFiles() const {
    return std::distance(std::filesystem::directory_iterator(folder.path()),
                         std::filesystem::directory_iterator());
  }

  PrivateFolder folder;
  std::vector<int> others; ///< ends of all pipes, which heirs do without
};

TEST_F(RankWatches, TheFirstToEndIsTheCause) {
  const Process second = start(1), first = start(2);
  EXPECT_EQ(firstOf(first, second), 2);
}

TEST_F(RankWatches, TheOneThatOthersLostIsTheCause) {
  const Process lost = start(1);
  const Process survivor = start(2, [&] { announceLoss(folder.path(), 1); });
  EXPECT_EQ(firstOf(survivor, lost), 1);
}

} // namespace pcc::runtime
