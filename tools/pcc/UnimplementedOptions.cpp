//===- UnimplementedOptions.cpp - documented options that are not built ---===//

#include "tools/pcc/UnimplementedOptions.h"
#include "tools/pcc/Console.h"

#include <regex>

using namespace pcc;

namespace {
/// Commands to which an option belongs.
enum OfCommand { Any, VerifyOnly };

/// A documented option without implementation.
struct UnimplementedOption {
  const char *name;
  /// Regular expression of valid values; null if the option is a flag.
  const char *values;
  OfCommand command = Any;
};
} // namespace

/// Heading of these options in --help.
static constexpr char group[] = "Not in this build";

/// All documented options without implementation.
static constexpr UnimplementedOption laterOptions[] = {
    {"--emit", "onnx", VerifyOnly},
    {"--blocks", nullptr, VerifyOnly},
};

/// Throws the error that an option is unsupported.
static void refuse(const std::string &name) {
  throw CLI::ParseError("option " + name + " is not available yet",
                        Unsupported);
}

/// Returns a check that a value matches `values`.
static CLI::Validator oneOf(const std::string &name, const char *values) {
  return CLI::Validator(
      [name, values](const std::string &text) {
        return std::regex_match(text, std::regex(values))
                   ? std::string()
                   : "'" + text + "' is not a value of " + name;
      },
      "");
}

void tool::addUnimplementedOptions(CLI::App &app, bool isVerify) {
  for (const UnimplementedOption &later : laterOptions) {
    const std::string name = later.name;
    if (later.command == VerifyOnly && !isVerify)
      continue;
    if (!later.values)
      app.add_flag_callback(name, [name] { refuse(name); })->group(group);
    else
      app.add_option_function<std::string>(
             name, [name](const std::string &) { refuse(name); })
          ->check(oneOf(name, later.values))
          ->group(group);
  }
}
