//===- Suggestions.cpp - names that a mistyped word may mean --------------===//

#include "status/Suggestions.h"

#include <algorithm>
#include <cctype>
#include <fnmatch.h>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

namespace pcc {

/// Returns the number of edits that make `to` of `from`. If `isWithin`, makes
/// any part of `to`: letters before and after the part cost nothing (Sellers
/// 1980).
static size_t distance(std::string_view from, std::string_view to,
                       bool isWithin) {
  // Row i of the table has the distances from the first i letters of `from` to
  // every beginning of `to`. Only three rows are kept.
  std::vector<size_t> before(to.size() + 1), row(to.size() + 1),
      next(to.size() + 1);
  if (!isWithin)
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
  return isWithin ? *std::min_element(row.begin(), row.end()) : row[to.size()];
}

size_t editDistance(std::string_view from, std::string_view to) {
  return distance(from, to, /*isWithin=*/false);
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

static bool isGlob(std::string_view word) {
  return word.find_first_of("*?[") != word.npos;
}

static bool matches(const std::string &glob, const std::string &name) {
  return fnmatch(glob.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
}

namespace {
/// How a name resembles a word, the most similar first.
enum class Likeness { FewEdits, Part, FewEditsOfPart, None };

/// A known name and its order: likeness, then distance.
struct RankedName {
  Likeness likeness;
  size_t distance;
  std::string name;
};
} // namespace

/// Returns the runs of letters and digits in `name`, such as "h", "0" and
/// "attn" of "h.0.attn".
static std::vector<std::string> wordsOf(const std::string &name) {
  std::vector<std::string> words(1);
  for (const char letter : name)
    if (std::isalnum((unsigned char)letter))
      words.back() += letter;
    else if (!words.back().empty())
      words.emplace_back();
  return words;
}

/// Returns the least number of edits that make a word of `own`, of at least as
/// many letters, of `wanted`; the largest number if there is no such word.
static size_t distanceToWords(const std::string &wanted,
                              const std::string &own) {
  size_t least = std::numeric_limits<size_t>::max();
  for (const std::string &word : wordsOf(own))
    if (word.size() >= wanted.size())
      least = std::min(least, editDistance(wanted, word));
  return least;
}

/// Returns how `own` resembles `wanted`. Both are the results of plain().
static Likeness likenessOf(const std::string &wanted, const std::string &own,
                           size_t distance) {
  constexpr size_t fewestLetters = 3, fewestLettersOfPart = 5;
  if (distance <= std::max<size_t>(1, wanted.size() / 3))
    return Likeness::FewEdits;
  if (isGlob(wanted))
    return matches("*" + wanted + "*", own) ? Likeness::Part : Likeness::None;
  if (std::min(own.size(), wanted.size()) >= fewestLetters &&
      (own.find(wanted) != own.npos || wanted.starts_with(own)))
    return Likeness::Part;
  // A few edits make any long text of a short word, but not any word.
  const bool isClose =
      wanted.size() >= fewestLettersOfPart
          ? pcc::distance(wanted, own, /*isWithin=*/true) <= wanted.size() / 4
          : wanted.size() >= fewestLetters && distanceToWords(wanted, own) <= 1;
  return isClose ? Likeness::FewEditsOfPart : Likeness::None;
}

/// Returns `known` without repetitions, the most similar to `word` first. Names
/// that are equally similar keep their order.
static std::vector<RankedName> ranked(std::string_view word,
                                      const std::vector<std::string> &known) {
  const std::string wanted = plain(word);
  std::vector<RankedName> names;
  std::set<std::string_view> seen;
  for (const std::string &name : known) {
    if (!seen.insert(name).second)
      continue;
    const std::string own = plain(name);
    const size_t edits = editDistance(wanted, own);
    names.push_back({likenessOf(wanted, own, edits), edits, name});
  }
  std::stable_sort(names.begin(), names.end(),
                   [](const RankedName &a, const RankedName &b) {
                     return std::pair(a.likeness, a.distance) <
                            std::pair(b.likeness, b.distance);
                   });
  return names;
}

std::vector<std::string> findSimilar(std::string_view word,
                                     const std::vector<std::string> &known) {
  constexpr size_t most = 6;
  const std::vector<RankedName> names = ranked(word, known);
  std::vector<std::string> similar;
  for (const RankedName &name : names) {
    // Next to a name with one wrong letter, one with four does not help, and
    // next to a name that differs only in case or hyphens, no other one does.
    const size_t least = names.front().distance;
    const bool isFar = name.likeness == Likeness::FewEdits &&
                       name.distance > (least == 0 ? 0 : least + 1);
    if (name.likeness != Likeness::None && !isFar && similar.size() < most)
      similar.push_back(name.name);
  }
  return similar;
}

std::string didYouMean(std::string_view word,
                       const std::vector<std::string> &known) {
  return didYouMean(findSimilar(word, known));
}

std::string didYouMean(const std::vector<std::string> &similar) {
  std::string text;
  for (size_t i = 0; i < similar.size(); ++i)
    text += (i == 0                    ? "; did you mean "
             : i + 1 == similar.size() ? " or "
                                       : ", ") +
            similar[i];
  return text.empty() ? text : text + "?";
}

/// Returns the first three names in quotes, separated by commas.
static std::string quotedList(const std::vector<std::string> &names) {
  constexpr size_t most = 3;
  std::string text;
  for (size_t i = 0; i < std::min(most, names.size()); ++i)
    text += (text.empty() ? "'" : ", '") + names[i] + "'";
  return text + (names.size() > most ? ", ..." : "");
}

/// Returns "; 'GLOB' matches N: …" for the first of the globs `*word`, `word*`
/// and `*word*` that matches one of `names`; empty if none does.
static std::string matchesOf(const std::string &word,
                             const std::vector<RankedName> &names) {
  for (const std::string &glob : {"*" + word, word + "*", "*" + word + "*"}) {
    std::vector<std::string> found;
    for (const RankedName &name : names)
      if (matches(glob, name.name))
        found.push_back(name.name);
    if (!found.empty())
      return "; '" + glob + "' matches " + std::to_string(found.size()) + ": " +
             quotedList(found);
  }
  return "";
}

std::string nearestOf(std::string_view word,
                      const std::vector<std::string> &known) {
  const std::vector<RankedName> names = ranked(word, known);
  if (names.empty())
    return "; there is none";
  if (isGlob(word))
    if (std::string found = matchesOf(std::string(word), names); !found.empty())
      return found;
  std::vector<std::string> nearest;
  for (size_t i = 0; i < std::min<size_t>(3, names.size()); ++i)
    nearest.push_back(names[i].name);
  const std::string count =
      names.size() > 3 ? " of " + std::to_string(names.size()) : "";
  return "; nearest" + count + ": " + quotedList(nearest);
}

/// Words of other tools for words of pcc.
static constexpr std::pair<std::string_view, std::string_view> synonyms[] = {
    {"gpu", "cuda"},    {"fp16", "f16"},      {"half", "f16"},
    {"float16", "f16"}, {"fp32", "f32"},      {"float", "f32"},
    {"float32", "f32"}, {"bfloat16", "bf16"}, {"zero", "zero1"},
    {"uint16", "u16"},  {"uint32", "u32"}};

std::string checkWord(const std::string &word,
                      const std::vector<std::string> &known) {
  if (std::find(known.begin(), known.end(), word) != known.end())
    return {};
  std::string list;
  for (const std::string &name : known)
    list += (list.empty() ? "" : ", ") + name;
  for (const auto &[other, own] : synonyms)
    if (plain(word) == other &&
        std::find(known.begin(), known.end(), own) != known.end())
      return "needs one of " + list + ", got '" + word + "'; did you mean " +
             std::string(own) + "?";
  return "needs one of " + list + ", got '" + word + "'" +
         didYouMean(word, known);
}

} // namespace pcc
