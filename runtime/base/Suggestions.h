//===- Suggestions.h - names that a mistyped word may mean ----------------===//

#ifndef PCC_RUNTIME_BASE_SUGGESTIONS_H
#define PCC_RUNTIME_BASE_SUGGESTIONS_H

#include <string>
#include <string_view>
#include <vector>

namespace pcc::runtime {

/// Returns the number of letters to insert, delete, replace or exchange with
/// their neighbor that make `to` of `from` (Damerau 1964; no part of a text is
/// edited twice).
size_t editDistance(std::string_view from, std::string_view to);

/// Returns the texts of `known` that resemble `word`, the most similar first,
/// at most six: texts a few edits away, texts that begin with `word`, and
/// beginnings of `word`. Ignores case and hyphens at the beginning, and takes
/// underscores for hyphens.
std::vector<std::string> findSimilar(std::string_view word,
                                     const std::vector<std::string> &known);

/// Returns "; did you mean A, B or C?" with the result of findSimilar(); empty
/// if nothing is similar.
std::string didYouMean(std::string_view word,
                       const std::vector<std::string> &known);

/// Returns an empty text if `word` is one of `known`, and otherwise an error
/// message, such as "needs one of f32, bf16, f16, got 'fp16'; did you mean
/// f16?".
std::string checkWord(const std::string &word,
                      const std::vector<std::string> &known);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_SUGGESTIONS_H
