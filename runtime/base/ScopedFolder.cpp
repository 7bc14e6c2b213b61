//===- ScopedFolder.cpp - a folder that does not stay by accident ---------===//

#include "runtime/base/ScopedFolder.h"

#include <csignal>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

namespace pcc::runtime {

namespace {
/// The folders of all objects.
struct Registry {
  std::mutex mutex;
  std::set<std::string> folders;
};
} // namespace

static Registry &registry() {
  // Signals may come while static objects are destroyed.
  static Registry *const all = new Registry;
  return *all;
}

static void remove(const std::string &folder) {
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

ScopedFolder::~ScopedFolder() {
  if (folder.empty())
    return;
  remove(folder);
  keep();
}

void ScopedFolder::removeAll() {
  const std::lock_guard lock(registry().mutex);
  for (const std::string &folder : registry().folders)
    remove(folder);
  registry().folders.clear();
}

void ScopedFolder::removeAllOnSignals() {
  sigset_t ending;
  sigemptyset(&ending);
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&ending, signal);
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
