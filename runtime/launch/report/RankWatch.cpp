//===- RankWatch.cpp - detects which rank of a job ended first ------------===//

#include "runtime/launch/report/RankWatch.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <sstream>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pcc::runtime {

/// Number that identifies the status folder in an event of epoll. The status
/// folder is a directory that `pcc run` creates for each run. Each rank that
/// starts creates a file in the status folder.
///
/// RankWatch gives a number to each file descriptor that it adds to its epoll
/// instance, and each event contains this number. For example, the number -1
/// (kFolder) means that the status folder has a new file. The number 3 means
/// that the process of rank 3 has ended.
static constexpr int kFolder = -1;

/// Adds the file descriptor `fd` to the epoll instance `epollFd`. epoll then
/// reports an event when `fd` is readable. The event contains the number
/// `meaning`:
///
/// - kFolder (-1): `fd` is an inotify instance, which is readable after a rank
///   has created a file in the status folder. The status folder is a directory
///   that `pcc run` creates for each run.
/// - The number of a rank: `fd` is the pidfd of this rank, which is readable
///   after the end of its process.
static void watchForInput(int epollFd, int fd, int meaning) {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.fd = meaning;
  epoll_ctl(epollFd, EPOLL_CTL_ADD, fd, &event);
}

/// Creates an empty file at `path`. The name of the file contains all
/// information for RankWatch: for example, "alive.3.4711" says that process
/// 4711 is rank 3. The file is complete as soon as it exists, because it needs
/// no contents. If the file cannot be created, no error is returned.
static void makeEmptyFile(const std::string &path) {
  const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0)
    close(file);
}

void announceRank(const std::string &statusFolder, int rank) {
  makeEmptyFile(statusFolder + "/alive." + std::to_string(rank) + "." +
                std::to_string(getpid()));
}

void announceLoss(const std::string &statusFolder, int lostRank) {
  makeEmptyFile(statusFolder + "/lost." + std::to_string(lostRank));
}

RankWatch::RankWatch(std::string statusFolder)
    : folder(std::move(statusFolder)), epollFd(epoll_create1(EPOLL_CLOEXEC)),
      inotifyFd(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  inotify_add_watch(inotifyFd, folder.c_str(), IN_CREATE);
  watchForInput(epollFd, inotifyFd, kFolder);
}

RankWatch::~RankWatch() {
  for (const auto &[rank, pidFd] : known)
    if (pidFd >= 0)
      close(pidFd);
  close(inotifyFd);
  close(epollFd);
}

void RankWatch::noteEnd(int rank) {
  if (!first)
    first = rank;
  int &pidFd = known[rank];
  if (pidFd >= 0)
    close(pidFd);
  pidFd = -1;
}

bool RankWatch::anyRuns() const {
  return std::any_of(known.begin(), known.end(),
                     [](const auto &rank) { return rank.second >= 0; });
}

/// Opens a pidfd (file descriptor of a process) for process `pid`, so that
/// epoll reports the end of the process. If no pidfd can be opened, assumes
/// that the process has already ended. In this case, records at once that rank
/// `rank` has ended (noteEnd()). Does nothing if watch() was called for this
/// rank before.
void RankWatch::watch(int rank, int pid) {
  const auto [entry, isNew] = known.emplace(rank, -1);
  if (!isNew)
    return;
  entry->second = int(syscall(SYS_pidfd_open, pid, 0));
  if (entry->second >= 0)
    watchForInput(epollFd, entry->second, rank);
  else
    noteEnd(rank);
}

/// Reads all inotify events without using them, then lists all files in the
/// status folder. The events contain the names of new files. But the kernel
/// drops events if too many are pending, so the events may lack a file. The
/// list contains all files.
void RankWatch::findNewRanks() {
  char events[4096];
  while (read(inotifyFd, events, sizeof events) > 0)
    ;
  std::error_code problem;
  for (const auto &entry :
       std::filesystem::directory_iterator(folder, problem)) {
    std::istringstream name(entry.path().filename().string());
    std::string kind;
    std::getline(name, kind, '.');
    int rank = 0, pid = 0;
    char dot = 0;
    if (kind == "alive" && name >> rank >> dot >> pid)
      watch(rank, pid);
    else if (kind == "lost" && !lost && name >> rank)
      lost = rank;
  }
}

/// Searches the directory `folder` for the files of ranks that have started.
/// Each rank that starts creates a file there. The name of the file contains
/// the id of the rank's process. Then sends `signal` to the process of each
/// rank that has not ended.
///
/// Selects the process by its pidfd, a file descriptor that always belongs to
/// the same process. A process id is not safe: after the process of a rank has
/// ended, the kernel can give its id to a different process, which would then
/// receive the signal.
bool RankWatch::signalAll(int signal) {
  findNewRanks();
  bool any = false;
  for (const auto &[rank, pidFd] : known)
    any |= pidFd >= 0 &&
           syscall(SYS_pidfd_send_signal, pidFd, signal, nullptr, 0) == 0;
  return any;
}

void RankWatch::poll() {
  epoll_event events[64];
  const int count = epoll_wait(epollFd, events, 64, 0);
  for (int i = 0; i < count; ++i)
    if (events[i].data.fd == kFolder)
      findNewRanks();
    else
      noteEnd(events[i].data.fd);
}

} // namespace pcc::runtime
