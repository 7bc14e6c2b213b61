//===- StrictParse.h - parsing that rejects empty values ------------------===//

#ifndef PCC_RUNTIME_ENGINE_OPTIONS_STRICTPARSE_H
#define PCC_RUNTIME_ENGINE_OPTIONS_STRICTPARSE_H

namespace CLI {
class App;
}

namespace pcc::runtime {

/// Parses a command line like CLI::App::parse(). Also throws
/// CLI::ValidationError for an empty value, such as `--save "$DIR"` in a script
/// that did not set DIR. Call it once per `app`.
void parseStrictly(CLI::App &app, int argc, const char *const *argv);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OPTIONS_STRICTPARSE_H
