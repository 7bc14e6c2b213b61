//===- UnfinishedTest.cpp - results appear whole, litter goes -------------===//

#include "runtime/base/Unfinished.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/base/FolderLock.h"
#include "test/runtime/base/Folder.h"

#include <csignal>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>

namespace pcc::runtime {

using test::Folder;
namespace fs = std::filesystem;

static void put(const std::string &path, const std::string &text) {
  std::ofstream(path) << text;
}

static std::string textOf(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Unfinished, AFolderReplacesAFolderWithItsFiles) {
  const Folder folder;
  const std::string target = folder.path + "/result";
  fs::create_directory(target);
  put(target + "/old", "1");
  Unfinished made;
  ASSERT_TRUE(made.createFolder(target + "/").ok());
  put(made.path() + "/new", "2");
  EXPECT_TRUE(fs::exists(target + "/old"));
  ASSERT_TRUE(made.finish().ok());
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"result", "result/new"}));
}

TEST(Unfinished, AnUnfinishedResultGoesWithItsObject) {
  const Folder folder;
  {
    Unfinished file, other;
    ASSERT_TRUE(file.createFile(folder.path + "/a").ok());
    ASSERT_TRUE(other.createFolder(folder.path + "/b").ok());
    EXPECT_EQ(folder.files().size(), 2u);
  }
  EXPECT_TRUE(folder.files().empty());
}

TEST(Unfinished, MakersOfOneNameDoNotDisturbEachOther) {
  const Folder folder;
  const auto make = [&] {
    for (int i = 0; i < 300; ++i) {
      Unfinished made;
      const Status status = made.createFolder(folder.path + "/a");
      EXPECT_TRUE(status.ok()) << status.message();
    }
  };
  std::vector<std::thread> makers;
  for (int i = 0; i < 4; ++i)
    makers.emplace_back(make);
  for (std::thread &maker : makers)
    maker.join();
  EXPECT_TRUE(folder.files().empty());
}

TEST(Unfinished, AFailureLeavesTheOldResult) {
  const Folder folder;
  put(folder.path + "/a", "old");
  Unfinished made;
  ASSERT_TRUE(made.createFolder(folder.path + "/a").ok());
  EXPECT_EQ(made.finish().code(), InputOutput);
  made.abandon();
  EXPECT_EQ(folder.files(), std::vector<std::string>{"a"});
  EXPECT_EQ(textOf(folder.path + "/a"), "old");
}

// A process makes a file and a folder, and is killed. The next maker removes
// both, but neither the files of a living one nor those of the user.
TEST(Unfinished, RemovesTheLitterOfDeadProcessesOnly) {
  const Folder folder;
  const std::string target = folder.path + "/a";
  put(target + ".part-note", "user");
  put(target + ".part-notes7.txt", "user");
  Unfinished living;
  ASSERT_TRUE(living.createFile(target).ok());
  const pid_t child = fork();
  if (child == 0) {
    Unfinished file, other;
    if (file.createFile(target).ok() && other.createFolder(target).ok()) {
      put(other.path() + "/inside", "x");
      raise(SIGKILL);
    }
    _exit(1);
  }
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  ASSERT_TRUE(WIFSIGNALED(state));
  EXPECT_EQ(folder.files().size(), 6u);
  Unfinished next;
  ASSERT_TRUE(next.createFolder(target).ok());
  EXPECT_EQ(folder.files().size(), 4u);
  EXPECT_TRUE(fs::exists(living.path()));
  EXPECT_TRUE(fs::exists(target + ".part-note"));
}

TEST(AtomicFile, KeepsLinksAndPermissions) {
  const Folder folder;
  const std::string file = folder.path + "/file", link = folder.path + "/link";
  put(file, "old");
  chmod(file.c_str(), 0600);
  fs::create_symlink("file", link);
  ASSERT_TRUE(writeFileAtomically(link, "new").ok());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(textOf(file), "new");
  struct stat info = {};
  stat(file.c_str(), &info);
  EXPECT_EQ(info.st_mode & 0777u, 0600u);
}

TEST(AtomicFile, WritesToDevicesAndDoesNotReplaceThem) {
  EXPECT_TRUE(writeFileAtomically("/dev/null", "text").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const Status full = writeFileAtomically("/dev/full", "text");
  EXPECT_EQ(full.code(), InputOutput);
  EXPECT_NE(full.message().find("No space left"), std::string::npos);
}

TEST(FolderLock, TellsThatAnotherProcessHoldsIt) {
  const Folder folder;
  {
    const FolderLock first(folder.path), second(folder.path, 1);
    EXPECT_FALSE(first.isBusy());
    EXPECT_TRUE(second.isBusy());
  }
  EXPECT_FALSE(FolderLock(folder.path).isBusy());
}

} // namespace pcc::runtime
