//===- StrictParse.h - parsing that rejects empty values ------------------===//

#ifndef PCC_RUNTIME_ENGINE_OPTIONS_STRICTPARSE_H
#define PCC_RUNTIME_ENGINE_OPTIONS_STRICTPARSE_H

#include <string>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace pcc::runtime {

/// Parses a command line like CLI::App::parse(). Also throws
/// CLI::ValidationError for an empty value, such as `--save "$DIR"` in a script
/// that did not set DIR, and for an empty element of a list, such as that of
/// `--preset megatron,,zero1`. Call it once per `app`.
void parseStrictly(CLI::App &app, int argc, const char *const *argv);

/// Returns the option `name`, such as "--save", of `app` or of one of its
/// subcommands; null if there is none.
const CLI::Option *findOption(const CLI::App &app, const std::string &name);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OPTIONS_STRICTPARSE_H
