//===- AlgorithmCache.cpp - persistent cache of library algorithms --------===//

#include "runtime/device/AlgorithmCache.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/base/FolderLock.h"
#include "runtime/base/MappedFile.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <optional>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace pcc::runtime {

using Algorithms = std::map<std::string, AlgorithmBytes>;

/// Fixed texts of a cache file. `firstLine` is the first line of the file.
/// `lastWord` is the first word of the last line. For example, the last line is
/// "checksum 2d06800538d394c2".
static constexpr std::string_view firstLine = "pcc algorithms 1\n",
                                  lastWord = "checksum ";
/// Size in bytes above which a file is not read. Files with the algorithms of
/// all matrix products of a program are far smaller.
static constexpr size_t mostBytes = size_t(16) << 20;

/// Returns `number` in hexadecimal, with leading zeros up to `digits` digits.
/// `digits` is at most 16.
static std::string hexadecimal(uint64_t number, int digits) {
  char text[17];
  std::snprintf(text, sizeof text, "%0*llx", digits,
                static_cast<unsigned long long>(number));
  return text;
}

/// Returns the last line of a cache file. `text` contains all lines before the
/// last line. The last line consists of the word "checksum" and a hash of
/// `text` in 16 hexadecimal digits, for example "checksum 2d06800538d394c2".
static std::string checksumLine(std::string_view text) {
  return std::string(lastWord) +
         hexadecimal(XXH3_64bits(text.data(), text.size()), 16) + "\n";
}

/// Returns the complete text of a file that stores `algorithms`.
static std::string write(const Algorithms &algorithms) {
  std::string text(firstLine);
  for (const auto &[problem, bytes] : algorithms) {
    for (const unsigned char byte : bytes)
      text += hexadecimal(byte, 2);
    text += " " + problem + "\n";
  }
  return text + checksumLine(text);
}

/// Parses 128 hexadecimal digits to 64 bytes. Returns std::nullopt if `digits`
/// is any other text.
static std::optional<AlgorithmBytes> parseBytes(std::string_view digits) {
  AlgorithmBytes bytes;
  if (digits.size() != 2 * bytes.size())
    return std::nullopt;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char *first = digits.data() + 2 * i;
    if (std::from_chars(first, first + 2, bytes[i], 16).ptr != first + 2)
      return std::nullopt;
  }
  return bytes;
}

/// Returns the algorithms in `text`, the contents of a file. Returns an empty
/// map if the checksum is wrong.
static Algorithms parse(std::string_view text) {
  const size_t last = text.rfind(lastWord);
  if (!text.starts_with(firstLine) || last == std::string_view::npos ||
      text.substr(last) != checksumLine(text.substr(0, last)))
    return {};
  Algorithms algorithms;
  std::string_view lines = text.substr(0, last);
  lines.remove_prefix(firstLine.size());
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    const size_t space = line.find(' ');
    const auto bytes = parseBytes(line.substr(0, space));
    if (!bytes || space == std::string_view::npos)
      return {};
    algorithms[std::string(line.substr(space + 1))] = *bytes;
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
  }
  return algorithms;
}

/// Returns the algorithms in the file `path`. Returns an empty map if the file
/// is absent, too large or damaged.
static Algorithms read(const std::string &path) {
  std::string text;
  if (readTextFile(path, mostBytes, text).failed())
    return {};
  return parse(text);
}

/// Reads the cache from a file in the directory `folder`. `user` names a
/// library, its version and the GPU. The file name consists of "algorithms-"
/// and `user`. A hyphen replaces each character of `user` that is neither a
/// letter nor a digit. For example, `user` is "cublaslt 130000 NVIDIA H100".
/// The file name is then "algorithms-cublaslt-130000-NVIDIA-H100".
void AlgorithmCache::open(const std::string &folder, std::string_view user) {
  std::string name = "algorithms-";
  for (const char letter : user)
    name += std::isalnum(static_cast<unsigned char>(letter)) ? letter : '-';
  path = folder + "/" + name;
  known = read(path);
}

const AlgorithmBytes *AlgorithmCache::find(const std::string &problem) const {
  const auto found = known.find(problem);
  return found == known.end() ? nullptr : &found->second;
}

void AlgorithmCache::add(const std::string &problem,
                         const AlgorithmBytes &algorithm) {
  known[problem] = added[problem] = algorithm;
}

void AlgorithmCache::keep() {
  const std::string folder = path.substr(0, path.rfind('/'));
  if (added.empty() || access(folder.c_str(), W_OK) != 0)
    return;
  const FolderLock lock(folder);
  Algorithms all = read(path);
  for (const auto &[problem, bytes] : added)
    all[problem] = bytes;
  added.clear();
  // Two failures are ignored. If the folder cannot be locked, the file is
  // written without a lock. If the file cannot be written, the next run selects
  // the algorithms again.
  [[maybe_unused]] const Status ignored = writeFileAtomically(path, write(all));
}

} // namespace pcc::runtime
