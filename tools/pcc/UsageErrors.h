//===- UsageErrors.h - messages about wrong command lines -----------------===//

#ifndef PCC_TOOLS_PCC_USAGEERRORS_H
#define PCC_TOOLS_PCC_USAGEERRORS_H

#include <optional>
#include <string>

namespace CLI {
class App;
class ParseError;
} // namespace CLI

namespace pcc::tool {

/// Returns the message for `error`, which CLI11 threw when `app` parsed the
/// command line. Names the nearest option or subcommand for an unknown one, and
/// says how many values an option takes. Other messages are those of CLI11, in
/// lower case.
std::string usageErrorText(const CLI::App &app, const CLI::ParseError &error,
                           int argc, const char *const *argv);

/// Returns the message for the first word with one hyphen that is the name of
/// an option with two, such as -output=FILE. CLI11 would read the letters after
/// -o as the value of -o. Returns std::nullopt if there is no such word.
std::optional<std::string> findSingleHyphen(const CLI::App &app, int argc,
                                            const char *const *argv);

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_USAGEERRORS_H
