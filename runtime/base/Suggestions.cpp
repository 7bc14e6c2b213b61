//===- Suggestions.cpp - names that a mistyped word may mean --------------===//

#include "runtime/base/Suggestions.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace pcc::runtime {

size_t editDistance(std::string_view from, std::string_view to) {
  // Row i of the table has the distances from the first i letters of `from` to
  // every beginning of `to`. Only three rows are kept.
  std::vector<size_t> before(to.size() + 1), row(to.size() + 1),
      next(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 0; i < from.size(); ++i) {
    next[0] = i + 1;
    for (size_t j = 0; j < to.size(); ++j) {
      next[j + 1] = std::min(
          {row[j + 1] + 1, next[j] + 1, row[j] + size_t(from[i] != to[j])});
      if (i > 0 && j > 0 && from[i] == to[j - 1] && from[i - 1] == to[j])
        next[j + 1] = std::min(next[j + 1], before[j - 1] + 1);
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row[to.size()];
}

/// Returns `text` in lower case, without hyphens at the beginning, and with
/// hyphens in place of underscores.
static std::string plain(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('-'), text.size()));
  std::string plain(text);
  for (char &letter : plain)
    letter = letter == '_' ? '-' : char(std::tolower((unsigned char)letter));
  return plain;
}

std::vector<std::string> findSimilar(std::string_view word,
                                     const std::vector<std::string> &known) {
  constexpr size_t most = 6, fewestLetters = 3;
  const std::string wanted = plain(word);
  const size_t limit = std::max<size_t>(1, wanted.size() / 3);
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const std::string &name : known) {
    const std::string own = plain(name);
    size_t distance = editDistance(wanted, own);
    const bool begins = std::min(own.size(), wanted.size()) >= fewestLetters &&
                        (own.starts_with(wanted) || wanted.starts_with(own));
    if (distance > limit && !begins)
      continue;
    ranked.emplace_back(std::min(distance, limit + 1), name);
  }
  std::stable_sort(
      ranked.begin(), ranked.end(),
      [](const auto &a, const auto &b) { return a.first < b.first; });
  std::vector<std::string> similar;
  for (size_t i = 0; i < std::min(most, ranked.size()); ++i)
    similar.push_back(ranked[i].second);
  return similar;
}

std::string didYouMean(std::string_view word,
                       const std::vector<std::string> &known) {
  const std::vector<std::string> similar = findSimilar(word, known);
  std::string text;
  for (size_t i = 0; i < similar.size(); ++i)
    text += (i == 0                    ? "; did you mean "
             : i + 1 == similar.size() ? " or "
                                       : ", ") +
            similar[i];
  return text.empty() ? text : text + "?";
}

std::string checkWord(const std::string &word,
                      const std::vector<std::string> &known) {
  if (std::find(known.begin(), known.end(), word) != known.end())
    return {};
  std::string list;
  for (const std::string &name : known)
    list += (list.empty() ? "" : ", ") + name;
  return "needs one of " + list + ", got '" + word + "'" +
         didYouMean(word, known);
}

} // namespace pcc::runtime
