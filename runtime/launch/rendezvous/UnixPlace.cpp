//===- UnixPlace.cpp - names of Unix sockets that nobody can take before --===//

#include "runtime/launch/rendezvous/UnixPlace.h"
#include "runtime/launch/job/RandomToken.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace pcc::runtime {

/// Number of random bytes in the name of the Unix socket at which rank 0
/// listens. The name contains each byte as two hexadecimal digits. For example,
/// 8 bytes give the name "meet-0123456789abcdef".
static constexpr size_t kRandomSize = 8;

/// Returns `path`, the path of a Unix socket, if it has at most 107 characters.
/// The kernel rejects longer paths. For a longer path, opens the directory of
/// the socket as `folder`, and returns a path through this open directory. For
/// example, the file "meet" in open directory 5 is "/proc/self/fd/5/meet". This
/// path is valid only while `folder` is open.
/// Returns a path without a directory unchanged.
static std::string shorten(const std::string &path, OpenFile &folder) {
  if (path.size() < sizeof sockaddr_un().sun_path)
    return path;
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return path;
  folder = OpenFile(
      open(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return "/proc/self/fd/" + std::to_string(folder.fd()) + path.substr(slash);
}

Status resolveUnix(const Address &place, SocketAddress &found) {
  const bool isFile = place.kind == Address::Kind::File;
  const std::string text =
      isFile ? shorten(place.place, found.folder) : place.place;
  auto &unixAddress = reinterpret_cast<sockaddr_un &>(found.storage);
  if (text.size() + 1 > sizeof unixAddress.sun_path)
    return Status::error(WrongWorld,
                         "the address " + place.text() + " is too long");
  unixAddress.sun_family = AF_UNIX;
  // Copy the path or the abstract name to `sun_path`. All bytes of `sun_path`
  // are zero before. A path starts at byte 0, and a zero byte follows the path.
  // An abstract name starts at byte 1. Byte 0 stays zero, and tells the kernel
  // that the name is abstract. In both cases, the address has one byte more
  // than `text`.
  std::memcpy(unixAddress.sun_path + (isFile ? 0 : 1), text.data(),
              text.size());
  found.length = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return Status::success();
}

Address chooseUnix(const Address &address) {
  return {address.kind, address.place + "-" + randomDigits(kRandomSize)};
}

/// Returns whether `text` consists of `start`, a hyphen, and 16 hexadecimal
/// digits. For example, the result is true if `start` is "meet" and `text` is
/// "meet-0123456789abcdef". Rank 0 listens at a Unix socket whose name has this
/// form.
static bool isChosen(std::string_view text, const std::string &start) {
  if (text.size() != start.size() + 1 + 2 * kRandomSize ||
      !text.starts_with(start) || text[start.size()] != '-')
    return false;
  text.remove_prefix(start.size() + 1);
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Returns the abstract Unix sockets at which rank 0 may listen. An abstract
/// socket has a name but no file. Rank 0 appends a hyphen and 16 random
/// hexadecimal digits to the name in `address`. For example, it listens at
/// "job7-0123456789abcdef" if the name is "job7". Returns all names of this
/// form at which any process listens.
static std::vector<Address> listNames(const Address &address) {
  // The file /proc/net/unix has one line per Unix socket, with a column
  // `Flags`. This hexadecimal value in the column means that the socket listens
  // (flag __SO_ACCEPTCON of the kernel).
  static constexpr const char *listening = "00010000";
  std::vector<Address> names;
  std::ifstream table("/proc/net/unix");
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    std::string skipped, flags, name;
    fields >> skipped >> skipped >> skipped >> flags >> skipped >> skipped >>
        skipped >> std::ws;
    std::getline(fields, name);
    if (flags == listening && isChosen(name, "@" + address.place))
      names.push_back({address.kind, name.substr(1)});
  }
  return names;
}

/// Returns the directory of a socket's file.
static std::filesystem::path folderOf(const Address &address) {
  const std::filesystem::path folder =
      std::filesystem::path(address.place).parent_path();
  return folder.empty() ? "." : folder;
}

/// Returns the socket files at which rank 0 may listen. Rank 0 appends a hyphen
/// and 16 random hexadecimal digits to the path in `address`. For example, it
/// listens at "/tmp/meet-0123456789abcdef" if the path is "/tmp/meet". Returns
/// all files with a name of this form. Some of them can belong to processes
/// that have ended.
static std::vector<Address> listFiles(const Address &address) {
  std::vector<Address> files;
  std::error_code problem;
  const std::string start =
      std::filesystem::path(address.place).filename().string();
  const size_t folderSize = address.place.size() - start.size();
  for (std::filesystem::directory_iterator entry(folderOf(address), problem),
       end;
       !problem && entry != end; entry.increment(problem))
    if (const std::string name = entry->path().filename().string();
        isChosen(name, start))
      files.push_back(
          {address.kind, address.place.substr(0, folderSize) + name});
  return files;
}

static std::vector<Address> list(const Address &address) {
  return address.kind == Address::Kind::File ? listFiles(address)
                                             : listNames(address);
}

std::vector<SocketAddress> findUnix(const Address &address) {
  std::vector<SocketAddress> found;
  for (const Address &place : list(address))
    if (SocketAddress one; resolveUnix(place, one).ok())
      found.push_back(std::move(one));
  return found;
}

/// Deletes the file at `place` if it is a socket at which no process listens.
static void removeStale(const Address &place) {
  SocketAddress there;
  struct stat facts = {};
  if (lstat(place.place.c_str(), &facts) != 0 || !S_ISSOCK(facts.st_mode) ||
      resolveUnix(place, there).failed())
    return;
  const OpenFile probe = makeSocket(there);
  if (connect(probe.fd(), there.generic(), there.length) != 0 &&
      errno == ECONNREFUSED)
    unlink(place.place.c_str());
}

Status prepareUnix(const Address &address) {
  if (address.kind != Address::Kind::File)
    return Status::success();
  const std::string folder = folderOf(address).string();
  struct stat facts = {};
  if (stat(folder.c_str(), &facts) == 0 && (facts.st_mode & S_IWOTH) &&
      !(facts.st_mode & S_ISVTX))
    return Status::error(
        WrongWorld,
        "ranks meet at " + address.text() +
            ", in a folder that all users "
            "may change",
        {"choose a folder of your own, such as: mkdir -m 700 " + folder +
         "/meet"});
  for (const Address &place : listFiles(address))
    removeStale(place);
  return Status::success();
}

} // namespace pcc::runtime
