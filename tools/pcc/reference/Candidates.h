//===- Candidates.h - words that may follow on a command line -------------===//

#ifndef PCC_TOOLS_PCC_REFERENCE_CANDIDATES_H
#define PCC_TOOLS_PCC_REFERENCE_CANDIDATES_H

#include <string>
#include <vector>

namespace pcc::tool {

/// A word that a shell may complete, and its meaning, which may be empty. More
/// text may follow a word that ends with '=', ',' or '/'.
struct CompletionWord {
  std::string word;
  std::string meaning = {};
};

/// Returns the candidates for the last of `words`, the command line behind
/// `pcc`: commands, options, the words of an option, files and folders where a
/// path is expected, bundles, and the names of a bundle's inputs. All begin
/// with the last word as far as it is typed.
std::vector<CompletionWord>
candidatesFor(const std::vector<std::string> &words);

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_REFERENCE_CANDIDATES_H
