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

/// Returns the list of the folders that the ScopedFolder objects of this
/// process own. The list is never destroyed, because removeAll() may still read
/// the list in another thread while the process destroys its static objects at
/// exit.
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

/// Blocks the signals that can end this process, and starts a thread that waits
/// for one of them. When a signal arrives, the thread takes these steps:
///
/// 1. The thread deletes the folders of all ScopedFolder objects. A signal
///    handler must not do this, because few functions are safe in a handler.
/// 2. The thread raises the same signal again with the default action, which
///    ends the process. The parent process therefore sees that the signal ended
///    this process.
void ScopedFolder::removeAllOnSignals() {
  sigset_t ending = endingSignals();
  addEffectiveSignals({SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU}, ending);
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
