//===- StrictParse.h - parsing that rejects empty values ------------------===//

#ifndef PCC_RUNTIME_ENGINE_OPTIONS_STRICTPARSE_H
#define PCC_RUNTIME_ENGINE_OPTIONS_STRICTPARSE_H

namespace CLI {
class App;
}

namespace pcc::runtime {

/// Parses a command line as CLI::App::parse() does, and rejects empty values.
/// Throws CLI::ValidationError if the value of an option or argument is empty.
/// Examples are `--save=` and, in a script that forgot to set DIR, `--save
/// "$DIR"`. Call it once per `app`.
void parseStrictly(CLI::App &app, int argc, const char *const *argv);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OPTIONS_STRICTPARSE_H
