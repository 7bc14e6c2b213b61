//===- PathCandidates.cpp - files and folders for completion --------------===//

#include "tools/pcc/reference/PathCandidates.h"
#include "runtime/program/bundle/BundleFields.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

using namespace pcc;
using namespace pcc::tool;
namespace fs = std::filesystem;

PathKind tool::pathKindOf(std::string_view placeholder) {
  PathKind kind;
  while (!placeholder.empty()) {
    const std::string_view one = placeholder.substr(0, placeholder.find('|'));
    placeholder.remove_prefix(std::min(one.size() + 1, placeholder.size()));
    if (one.starts_with("FILE"))
      kind.endings.emplace_back(one.substr(4));
    else if (one == "MODEL")
      kind.endings.insert(kind.endings.end(), {".onnx", ".mlir"});
    else if (one == "PATH")
      kind.endings.emplace_back();
    kind.isFolder |= one == "DIR" || one == "PATH";
    kind.isBundle |= one == "BUNDLE";
  }
  return kind;
}

static bool isBundle(const fs::path &folder) {
  std::error_code problem;
  return fs::exists(folder / "bundle.json", problem);
}

/// Returns the words for one entry of a folder: none if it is not of that kind
/// and leads to no such path.
static std::vector<std::string> wordsOf(const fs::directory_entry &entry,
                                        const std::string &word,
                                        const PathKind &kind) {
  std::error_code problem;
  if (!entry.is_directory(problem)) {
    const bool isMeant = std::any_of(
        kind.endings.begin(), kind.endings.end(),
        [&](const std::string &end) { return word.ends_with(end); });
    return isMeant ? std::vector{word} : std::vector<std::string>();
  }
  if (isBundle(entry.path()))
    return kind.isBundle || kind.isFolder || kind.takesAnyFile()
               ? std::vector{word}
               : std::vector<std::string>();
  return {word + "/"};
}

std::vector<std::string> tool::pathsFrom(const std::string &prefix,
                                         const PathKind &kind) {
  if (kind.isNone())
    return {};
  const size_t slash = prefix.rfind('/');
  std::string shown = prefix.substr(0, slash == prefix.npos ? 0 : slash + 1);
  const std::string name = prefix.substr(shown.size());
  const char *home = std::getenv("HOME");
  if (shown.starts_with("~/") && home)
    shown = home + shown.substr(1);
  std::vector<std::string> paths;
  std::error_code problem;
  fs::directory_iterator folder(shown.empty() ? "." : shown, problem);
  for (const auto end = fs::directory_iterator(); !problem && folder != end;
       folder.increment(problem)) {
    const std::string own = folder->path().filename();
    if (!own.starts_with(name) || (own.starts_with(".") && name.empty()))
      continue;
    for (std::string &word : wordsOf(*folder, shown + own, kind))
      paths.push_back(std::move(word));
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> tool::inputsOfBundle(const std::string &bundle) {
  nlohmann::ordered_json facts;
  if (runtime::readBundleJson(bundle, facts).failed())
    return {};
  std::vector<std::string> names;
  for (const auto &input : facts.at("inputs"))
    names.push_back(input.at("name").get<std::string>());
  return names;
}
