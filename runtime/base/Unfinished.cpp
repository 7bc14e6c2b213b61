//===- Unfinished.cpp - files and folders under a temporary name ----------===//

#include "runtime/base/Unfinished.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace pcc::runtime {
namespace fs = std::filesystem;

/// Text in every temporary name. For example, the temporary name of "a.pcc" is
/// "a.pcc.part-x7Kq02", with 6 random letters at the end.
static constexpr std::string_view kMark = ".part-";
static constexpr size_t kLetters = 6; ///< random letters of a temporary name
static constexpr std::string_view kAlphabet =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

Status writeFailure(const std::string &path, int error) {
  Status status = Status::error(InputOutput, "cannot write '" + path +
                                                 "': " + std::strerror(error));
  errno = error;
  return status;
}

static std::string randomLetters() {
  std::random_device random;
  std::string letters;
  while (letters.size() < kLetters)
    letters += kAlphabet[random() % kAlphabet.size()];
  return letters;
}

/// Returns whether `name` is a temporary name of `target`. For example,
/// "a.pcc.part-x7Kq02" is a temporary name of "a.pcc".
static bool isTemporaryNameOf(std::string_view name, std::string_view target) {
  if (name.size() != target.size() + kMark.size() + kLetters ||
      !name.starts_with(target))
    return false;
  name.remove_prefix(target.size());
  return name.starts_with(kMark) &&
         name.find_first_not_of(kAlphabet, kMark.size()) == name.npos;
}

/// Deletes the temporary file or folder at `path` if the process that created
/// it was killed. A process locks (flock) each temporary file or folder that it
/// creates, and the lock ends when the process ends. The function therefore
/// tries to lock `path`. Success means that no living process uses the file or
/// folder. A file or folder of another user is not deleted.
static void removeIfLitter(const fs::path &path) {
  const int file =
      open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0)
    return;
  struct stat info = {};
  std::error_code ignored;
  if (fstat(file, &info) == 0 && info.st_uid == geteuid() &&
      (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) &&
      flock(file, LOCK_EX | LOCK_NB) == 0)
    fs::remove_all(path, ignored);
  close(file);
}

static void removeLitter(const fs::path &target) {
  const fs::path parent = target.parent_path();
  const std::string name = target.filename().string();
  std::error_code error;
  fs::directory_iterator entry(parent.empty() ? "." : parent, error);
  for (const fs::directory_iterator end; !error && entry != end;
       entry.increment(error))
    if (isTemporaryNameOf(entry->path().filename().string(), name))
      removeIfLitter(entry->path());
}

/// Locks a file or folder that this process has just created. `path` is the
/// path of the file or folder, and `file` is its open descriptor.
///
/// Returns false if another process has locked or deleted the file or folder
/// since it was created. This can happen: every process deletes temporary files
/// that are not locked (removeIfLitter()), and a new file is not locked before
/// this call.
static bool lockOwn(int file, const std::string &path) {
  if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return false;
  struct stat held = {}, named = {};
  return fstat(file, &held) == 0 && stat(path.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

/// Creates an empty folder at `path` if `isFolder` is true, and an empty file
/// if `isFolder` is false. `mode` is the permission bits, such as 0777. The
/// umask removes bits from `mode`. Returns an open descriptor of the new file
/// or folder. On failure, returns -1 and sets errno. For example, errno is
/// EEXIST if there is already a file or folder at `path`, or if another process
/// has deleted the new folder at once (removeIfLitter()).
static int createEmpty(const std::string &path, unsigned mode, bool isFolder) {
  if (!isFolder)
    return open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (mkdir(path.c_str(), mode) != 0)
    return -1;
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    const int error = errno;
    rmdir(path.c_str());
    errno = error == ENOENT ? EEXIST : error;
  }
  return folder;
}

Status Unfinished::create(const std::string &path, unsigned mode,
                          bool isFolder) {
  target = path;
  removeLitter(target);
  constexpr int attempts = 100;
  for (int i = 0; i < attempts; ++i) {
    const std::string made = target + std::string(kMark) + randomLetters();
    const int file = createEmpty(made, mode, isFolder);
    if (file >= 0 && lockOwn(file, made)) {
      guard.take(made);
      lock = file;
      return Status::success();
    }
    if (file >= 0)
      close(file);
    else if (errno != EEXIST)
      return writeFailure(target, errno);
  }
  return writeFailure(target, EEXIST);
}

Status Unfinished::createFolder(const std::string &path, unsigned mode) {
  std::string folder = path;
  while (folder.size() > 1 && folder.back() == '/')
    folder.pop_back();
  return create(folder, mode, /*isFolder=*/true);
}

Status Unfinished::createFile(const std::string &path) {
  PCC_RETURN_IF_ERROR(create(path, 0666, /*isFolder=*/false));
  struct stat old = {};
  if (stat(target.c_str(), &old) == 0 && S_ISREG(old.st_mode))
    fchmod(lock, old.st_mode & 0777);
  return Status::success();
}

/// Exchanges the names of two folders by three renames, for file systems that
/// cannot exchange names in one step (RENAME_EXCHANGE). `made` is the path of
/// the new folder, and `target` is the path of the old folder. Between the
/// first two renames, no folder has the name `target`. If the old folder cannot
/// get the name `made`, the old folder is deleted.
///
/// If the new folder cannot get the name `target`, the old folder gets this
/// name back, and the function returns false and sets errno.
static bool exchangeInSteps(const std::string &made,
                            const std::string &target) {
  const std::string between = made + ".old";
  if (std::rename(target.c_str(), between.c_str()) != 0)
    return false;
  if (std::rename(made.c_str(), target.c_str()) == 0) {
    std::error_code ignored;
    if (std::rename(between.c_str(), made.c_str()) != 0)
      fs::remove_all(between, ignored);
    return true;
  }
  const int error = errno;
  std::rename(between.c_str(), target.c_str());
  errno = error;
  return false;
}

/// Gives the temporary file or folder its final path, which is the member
/// `target`. The function first tries a plain rename. A plain rename fails if
/// `target` is already a folder with content. The function then exchanges the
/// names of the two folders. For example, `target` is "a.pcc":
///
///                      before       after the exchange
///   a.pcc              old folder   new folder
///   a.pcc.part-x7Kq02  new folder   old folder
///
/// After the exchange, abandon() deletes the folder with the temporary name,
/// which is now the old folder.
Status Unfinished::finish() {
  const std::string made = path();
  if (std::rename(made.c_str(), target.c_str()) == 0) {
    guard.keep();
  } else if (errno != ENOTEMPTY && errno != EEXIST) {
    return writeFailure(target, errno);
  } else if (renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, target.c_str(),
                       RENAME_EXCHANGE) != 0 &&
             ((errno != EINVAL && errno != ENOSYS) ||
              !exchangeInSteps(made, target))) {
    return writeFailure(target, errno);
  }
  abandon();
  return Status::success();
}

void Unfinished::abandon() {
  guard.remove();
  if (lock >= 0)
    close(std::exchange(lock, -1));
}

} // namespace pcc::runtime
