//===- ScopedFolder.cpp - removal of unfinished folders on any exit -------===//

#include "runtime/base/ScopedFolder.h"
#include "runtime/base/InheritedState.h"

#include <csignal>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

namespace pcc::runtime {

namespace {
/// Paths of the folders that all ScopedFolder objects of this process own.
struct Registry {
  std::mutex mutex;
  std::set<std::string> folders;
};
} // namespace

/// Returns the paths of all owned folders of this process. The result is never
/// destroyed: another thread may call removeAll() while the process destroys
/// its static objects.
static Registry &registry() {
  static Registry *const all = new Registry;
  return *all;
}

/// Removes `folder` with its content. Errors are ignored: the callers are
/// destructors and exit paths, which cannot report them.
static void removeTree(const std::string &folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

void ScopedFolder::take(std::string made) {
  folder = std::move(made);
  const std::lock_guard lock(registry().mutex);
  registry().folders.insert(folder);
}

void ScopedFolder::keep() {
  const std::lock_guard lock(registry().mutex);
  registry().folders.erase(folder);
  folder.clear();
}

void ScopedFolder::remove() {
  if (folder.empty())
    return;
  removeTree(folder);
  keep();
}

ScopedFolder::~ScopedFolder() { remove(); }

void ScopedFolder::removeAll() {
  const std::lock_guard lock(registry().mutex);
  for (const std::string &folder : registry().folders)
    removeTree(folder);
  registry().folders.clear();
}

/// Starts a thread that waits for SIGINT, SIGTERM or SIGHUP. Unlike a signal
/// handler, the thread may delete folders. At the end it raises the same signal
/// with the default action, so that the parent process sees the right exit
/// status.
void ScopedFolder::removeAllOnSignals() {
  const sigset_t ending = endingSignals();
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  std::thread([ending] {
    int signal = 0;
    sigwait(&ending, &signal);
    removeAll();
    std::signal(signal, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
    raise(signal);
  }).detach();
}

} // namespace pcc::runtime
