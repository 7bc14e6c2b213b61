//===- Suggestions.h - names that a mistyped word may mean ----------------===//
//
// All messages that suggest names rank them by these functions. Letters are
// compared without their case, hyphens at the beginning are ignored, and an
// underscore is a hyphen. The most similar names come first:
//
//  - names that are a few edits away from the word
//  - names that contain the word or match it as a glob with `*` at its ends,
//    and names with which the word begins
//  - names that contain something that is a few edits away from the word
//
//===----------------------------------------------------------------------===//

#ifndef PCC_STATUS_SUGGESTIONS_H
#define PCC_STATUS_SUGGESTIONS_H

#include <string>
#include <string_view>
#include <vector>

namespace pcc {

/// Returns the number of letters to insert, delete, replace or exchange with
/// their neighbor that make `to` of `from` (Damerau 1964; no part of a text is
/// edited twice).
size_t editDistance(std::string_view from, std::string_view to);

/// Returns the texts of `known` that resemble `word`, the most similar first,
/// at most six. `known` may contain a text several times.
std::vector<std::string> findSimilar(std::string_view word,
                                     const std::vector<std::string> &known);

/// Returns "; did you mean A, B or C?" with the result of findSimilar(); empty
/// if nothing is similar.
std::string didYouMean(std::string_view word,
                       const std::vector<std::string> &known);

/// Returns "; did you mean A, B or C?" with the given texts; empty if there are
/// none.
std::string didYouMean(const std::vector<std::string> &similar);

/// Returns the end of a message that nothing is called `word`: the three most
/// similar of `known`, even if they do not resemble `word`, and the number of
/// all. For example: "; nearest of 52: 'a.weight', 'b.weight', 'c.weight'". If
/// `word` is a glob that matches with `*` at its ends, names that glob:
/// "; '*h.0.*weight' matches 4: …".
std::string nearestOf(std::string_view word,
                      const std::vector<std::string> &known);

/// Returns an empty text if `word` is one of `known`, and otherwise an error
/// message, such as "needs one of f32, bf16, f16, got 'fp16'; did you mean
/// f16?".
std::string checkWord(const std::string &word,
                      const std::vector<std::string> &known);

} // namespace pcc

#endif // PCC_STATUS_SUGGESTIONS_H
