//===- CommandPage.h - what a command and its options are -----------------===//

#ifndef PCC_RUNTIME_ENGINE_OPTIONS_COMMANDPAGE_H
#define PCC_RUNTIME_ENGINE_OPTIONS_COMMANDPAGE_H

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace pcc::runtime {

/// One option, argument or command of a page.
struct PageEntry {
  /// All names of the entry, such as {"-o", "--output"} or {"BUNDLE"}.
  std::vector<std::string> names = {};
  /// Placeholder of the value, such as "FILE.json" or "cpu|cuda". Empty if the
  /// option is a flag, and for arguments and commands.
  std::string value = {};
  /// Text that the help prints for the entry. For an option with a default
  /// value, the text ends with this value.
  std::string meaning = {};
  /// Values that the help and the completion for shells list for the option,
  /// such as {"cpu", "cuda"}.
  std::vector<std::string> words = {};
  /// Character that separates the values of an option that takes a list, such
  /// as the comma in "a,b"; '\0' if the option takes no list.
  char separator = '\0';
  /// Whether the entry is a positional argument, such as BUNDLE in "pcc run
  /// BUNDLE", and not an option or a command.
  bool isArgument = false;
  /// Whether the argument may be given several times.
  bool isRepeated = false;

  /// Returns all names and the placeholder: "-o, --output FILE".
  std::string head() const;
  /// Returns whether the option has a value.
  bool hasValue() const { return !isArgument && !value.empty(); }
};

/// Entries of a page under one title, such as "Training".
struct PageSection {
  std::string title = {};
  std::vector<PageEntry> entries = {};
};

/// Description of one command. pcc makes the text of --help, the manual page,
/// the completion for shells and docs/options.md from it.
struct CommandPage {
  /// Words that call the command, such as "pcc run".
  std::string name = {};
  /// Arguments and required options, such as "BUNDLE [OPTIONS]".
  std::string usage = {};
  /// Paragraphs, separated by empty lines. The first one is one sentence about
  /// what the command does.
  std::string about = {};
  /// Command lines.
  std::vector<std::string> examples = {};
  std::vector<PageSection> sections = {};
  /// Paragraphs that follow the options.
  std::string footer = {};

  /// Returns the first paragraph of `about`.
  std::string summary() const;
};

/// Returns the page of a command or subcommand. Its description may end with an
/// empty line, a line "examples:", and command lines. The subcommands of `app`
/// are the section "Commands".
CommandPage pageOf(const CLI::App &app);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OPTIONS_COMMANDPAGE_H
