//===- OneOf.h - check that a value is one of a list of words -------------===//

#ifndef PCC_RUNTIME_ENGINE_OPTIONS_ONEOF_H
#define PCC_RUNTIME_ENGINE_OPTIONS_ONEOF_H

#include "status/Suggestions.h"

#include <CLI/CLI.hpp>

namespace pcc::runtime {

/// Returns a check that the value of an option is one of `words`. --help and
/// the completion of shells list the words.
inline CLI::Validator oneOf(const std::vector<std::string> &words) {
  return CLI::Validator(
      [words](const std::string &text) { return checkWord(text, words); },
      "{" + CLI::detail::join(words, ",") + "}");
}

/// Returns a check that accepts every value. The completion of shells suggests
/// `words`.
inline CLI::Validator suggest(const std::vector<std::string> &words) {
  return CLI::Validator([](const std::string &) { return std::string(); },
                        "{" + CLI::detail::join(words, ",") + "}");
}

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OPTIONS_ONEOF_H
