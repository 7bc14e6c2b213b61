//===- TextTree.cpp - trees for terminals ---------------------------------===//

#include "runtime/base/TextTree.h"

namespace pcc::runtime {

/// Appends the lines of `tree` to `text`. The first of these lines begins with
/// `first`, and each other line begins with `rest`.
static void append(const TextTree &tree, const std::string &first,
                   const std::string &rest, std::string &text) {
  text += first;
  const std::string margin = rest + (tree.branches.empty() ? "  " : "│ ");
  for (char c : tree.text)
    text += c == '\n' ? "\n" + margin : std::string(1, c);
  text += "\n";
  for (size_t i = 0; i < tree.branches.size(); ++i) {
    const bool isLast = i + 1 == tree.branches.size();
    append(tree.branches[i], rest + (isLast ? "└─ " : "├─ "),
           rest + (isLast ? "   " : "│  "), text);
  }
}

std::string treeText(const TextTree &tree) {
  std::string text;
  append(tree, "", "", text);
  return text;
}

} // namespace pcc::runtime
