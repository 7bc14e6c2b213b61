//===- UnimplementedOptions.cpp - options of the interface that are not built ===//

#include "tools/pcc/UnimplementedOptions.h"
#include "tools/pcc/Console.h"

#include <regex>

using namespace pcc;

namespace {
enum OfCommand { Any, VerifyOnly };

struct UnimplementedOption {
  const char *name;
  /// Values that it may have, as a regular expression; null: it has none.
  const char *values;
  OfCommand command = Any;
};
} // namespace

static constexpr char group[] = "Not in this build";

static constexpr UnimplementedOption laterOptions[] = {
    {"--emit", "onnx", VerifyOnly},
    // Further ways to verify.
    {"--blocks", nullptr, VerifyOnly},
};

static void refuse(const std::string &name) {
  throw CLI::ParseError("option " + name + " is unsupported in this build",
                        tool::unsupportedCode);
}

static CLI::Validator oneOf(const std::string &name, const char *values) {
  return CLI::Validator(
      [name, values](const std::string &text) {
        return std::regex_match(text, std::regex(values))
                   ? std::string()
                   : "'" + text + "' is no value of " + name;
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
