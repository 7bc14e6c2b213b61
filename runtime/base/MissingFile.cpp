//===- MissingFile.cpp - messages about paths at which nothing is ---------===//

#include "runtime/base/MissingFile.h"
#include "status/Suggestions.h"

#include <filesystem>
#include <string_view>
#include <vector>

namespace pcc::runtime {

namespace fs = std::filesystem;

/// Returns the names of at most 10,000 entries of `folder`; empty if the folder
/// cannot be read.
static std::vector<std::string> entriesOf(const fs::path &folder) {
  constexpr size_t most = 10000;
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end;
       !error && entry != end && names.size() < most; entry.increment(error))
    names.push_back(entry->path().filename().string());
  return names;
}

std::string describeMissing(const std::string &path) {
  constexpr std::string_view claim = "does not exist";
  const fs::path whole(path.ends_with('/') ? path.substr(0, path.size() - 1)
                                           : path);
  const fs::path folder = whole.parent_path();
  std::error_code error;
  if (!folder.empty() && !fs::exists(folder, error))
    return std::string(claim) + ", because '" + folder.string() + "' does not";
  if (const fs::path target = fs::read_symlink(whole, error); !error)
    return "is a link to '" + target.string() + "', which " +
           std::string(claim);
  std::vector<std::string> similar = findSimilar(
      whole.filename().string(), entriesOf(folder.empty() ? "." : folder));
  for (std::string &name : similar)
    name = folder / name;
  return std::string(claim) + didYouMean(similar);
}

} // namespace pcc::runtime
