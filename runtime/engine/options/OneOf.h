//===- OneOf.h - check that a value is one of a list of words -------------===//

#ifndef PCC_RUNTIME_ENGINE_OPTIONS_ONEOF_H
#define PCC_RUNTIME_ENGINE_OPTIONS_ONEOF_H

#include "runtime/base/Suggestions.h"

#include <CLI/CLI.hpp>

namespace pcc::runtime {

/// Returns a check that the value of an option is one of `words`. --help lists
/// the words beside the option.
inline CLI::Validator oneOf(const std::vector<std::string> &words) {
  return CLI::Validator(
      [words](const std::string &text) { return checkWord(text, words); },
      "{" + CLI::detail::join(words, ",") + "}");
}

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OPTIONS_ONEOF_H
