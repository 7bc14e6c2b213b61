//===- TextTree.h - trees for terminals -----------------------------------===//

#ifndef PCC_RUNTIME_BASE_TEXTTREE_H
#define PCC_RUNTIME_BASE_TEXTTREE_H

#include <string>
#include <vector>

namespace pcc::runtime {

/// An entry of a tree and the entries below it. The text may have several
/// lines.
struct TextTree {
  std::string text;
  std::vector<TextTree> branches = {};
};

/// Draws a tree with lines. Example:
///
///     4 ranks
///     ├─ tp
///     │  └─ all_reduce
///     └─ pp
std::string treeText(const TextTree &tree);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_TEXTTREE_H
