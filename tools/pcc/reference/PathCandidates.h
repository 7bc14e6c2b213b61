//===- PathCandidates.h - files and folders for completion ----------------===//

#ifndef PCC_TOOLS_PCC_REFERENCE_PATHCANDIDATES_H
#define PCC_TOOLS_PCC_REFERENCE_PATHCANDIDATES_H

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace pcc::tool {

/// Paths that a placeholder such as "DIR|FILE.bin" stands for.
struct PathKind {
  /// Endings of the files, such as ".bin"; "" is any file.
  std::vector<std::string> endings = {};
  /// Whether folders are meant, and not only passed on the way to a file.
  bool isFolder = false;
  /// Whether only bundles are meant.
  bool isBundle = false;

  bool takesAnyFile() const {
    return std::find(endings.begin(), endings.end(), "") != endings.end();
  }
  bool isNone() const { return endings.empty() && !isFolder && !isBundle; }
};

/// Returns the paths that a placeholder means: FILE, FILE.npy, DIR, PATH, MODEL
/// or BUNDLE, or several of them, separated by '|'.
PathKind pathKindOf(std::string_view placeholder);

/// Returns the paths of that kind that begin with `prefix`, sorted. Folders end
/// with '/'. Hidden files need a prefix with their dot.
std::vector<std::string> pathsFrom(const std::string &prefix,
                                   const PathKind &kind);

/// Returns the names of the inputs of a bundle; empty if it cannot be read.
std::vector<std::string> inputsOfBundle(const std::string &bundle);

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_REFERENCE_PATHCANDIDATES_H
