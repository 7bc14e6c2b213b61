//===- Candidates.cpp - words that may follow on a command line -----------===//

#include "tools/pcc/reference/Candidates.h"
#include "tools/pcc/CommandTable.h"
#include "tools/pcc/reference/PathCandidates.h"
#include "tools/pcc/reference/Topics.h"

#include <algorithm>

using namespace pcc;
using namespace pcc::tool;
using namespace pcc::runtime;

using Words = std::vector<std::string>;

namespace {
/// Finds the candidates for the last word of a command line. The last word may
/// have a part that stays as it is, such as "--schedule=" or "fsdp,".
class CandidateFinder {
public:
  explicit CandidateFinder(const Words &words)
      : typed(words.begin(), words.empty() ? words.end() : words.end() - 1),
        current(words.empty() ? "" : words.back()) {}

  std::vector<CompletionWord> run() {
    size_t used = 0;
    const CommandPage page = findPage(used);
    if (typed.empty())
      addCommands();
    if (const PageEntry *option = optionBefore(page, used))
      addValues(*option, current);
    else if (isOption(current))
      addOptions(page);
    else
      addArguments(page, used);
    return std::move(found);
  }

private:
  /// Returns whether `word` is typed as an option, and no `--` before it has
  /// ended the options.
  bool isOption(const std::string &word) const {
    return word.starts_with("-") &&
           std::find(typed.begin(), typed.end(), "--") == typed.end();
  }

  /// Returns the page of the command that the first words call. Sets `used` to
  /// their number.
  CommandPage findPage(size_t &used) const {
    const CommandRow *row = typed.empty() ? nullptr : findCommand(typed[0]);
    used = row ? 1 : 0;
    const auto pages = pagesOf(row ? *row : commandTable().front());
    for (const CommandPage &page : pages)
      if (row && typed.size() > 1 &&
          page.name == pages.front().name + " " + typed[1]) {
        used = 2;
        return page;
      }
    return pages.front();
  }

  static const PageEntry *find(const CommandPage &page,
                               const std::string &name) {
    for (const PageSection &section : page.sections)
      for (const PageEntry &entry : section.entries)
        if (!entry.isArgument &&
            std::find(entry.names.begin(), entry.names.end(), name) !=
                entry.names.end())
          return &entry;
    return nullptr;
  }

  /// Returns the option whose value the current word is, because the word
  /// before it is the option; null if there is none.
  const PageEntry *optionBefore(const CommandPage &page, size_t used) const {
    if (typed.size() <= used || !isOption(typed.back()))
      return nullptr;
    const PageEntry *option = find(page, typed.back());
    return option && option->hasValue() ? option : nullptr;
  }

  /// Returns the beginning of a description, which fits beside the word.
  static std::string firstPart(const std::string &meaning) {
    size_t end = meaning.size();
    for (const char *mark : {". ", "; ", ": ", " ("})
      end = std::min(end, meaning.find(mark));
    return meaning.substr(0, end);
  }

  /// Adds a candidate if it begins with the current word.
  void add(const std::string &word, const std::string &meaning = {}) {
    if (word.starts_with(current))
      found.push_back({word, firstPart(meaning)});
  }

  void addPaths(const std::string &kept, const std::string &prefix,
                const PathKind &kind) {
    for (const std::string &path : pathsFrom(prefix, kind))
      found.push_back({kept + path});
  }

  void addCommands() {
    for (const CommandRow &row : commandTable())
      add(row.name, pagesOf(row).front().summary());
  }

  /// Adds the options, or the values of the option in "--option=value".
  void addOptions(const CommandPage &page) {
    const size_t equals = current.find('=');
    if (equals != current.npos) {
      const PageEntry *option = find(page, current.substr(0, equals));
      if (option && option->hasValue())
        addValues(*option, current.substr(equals + 1));
      return;
    }
    for (const PageSection &section : page.sections)
      for (const PageEntry &entry : section.entries)
        if (!entry.isArgument)
          add(entry.names.back(), entry.meaning);
  }

  /// Adds values of `option` that begin with `value`, the end of the current
  /// word.
  void addValues(const PageEntry &option, const std::string &value) {
    const size_t comma =
        option.separator == '\0' ? value.npos : value.rfind(option.separator);
    const std::string last = value.substr(comma == value.npos ? 0 : comma + 1);
    const std::string kept = current.substr(0, current.size() - last.size());
    for (const std::string &word : option.words)
      add(kept + word);
    const size_t equals = option.value.find('=');
    if (equals == option.value.npos)
      return addPaths(kept, last, pathKindOf(option.value));
    const size_t typedEquals = last.find('=');
    if (typedEquals != last.npos)
      addPaths(kept + last.substr(0, typedEquals + 1),
               last.substr(typedEquals + 1),
               pathKindOf(option.value.substr(equals + 1)));
    else if (option.value == "NAME=FILE.npy")
      for (const std::string &word : typed)
        for (const std::string &input : inputsOfBundle(word))
          add(kept + input + "=");
  }

  /// Returns the number of arguments among the typed words.
  size_t countArguments(const CommandPage &page, size_t used) const {
    size_t count = 0;
    bool areOptionsOver = false;
    for (size_t i = used; i < typed.size(); ++i) {
      if (typed[i] == "--" && !areOptionsOver)
        areOptionsOver = true;
      else if (areOptionsOver || !typed[i].starts_with("-"))
        ++count;
      else if (const PageEntry *option = find(page, typed[i]))
        i += option->hasValue() ? 1 : 0;
    }
    return count;
  }

  /// Adds subcommands, or values of the argument at the current place.
  void addArguments(const CommandPage &page, size_t used) {
    size_t index = countArguments(page, used);
    for (const PageSection &section : page.sections)
      for (const PageEntry &entry : section.entries) {
        if (section.title == "Commands" && used > 0 && index == 0)
          add(entry.names.front(), entry.meaning);
        if (section.title != "Arguments" || (index > 0 && !entry.isRepeated)) {
          index -= section.title == "Arguments" ? 1 : 0;
          continue;
        }
        for (const std::string &word : entry.words)
          add(word, topicSummary(word));
        addPaths("", current, pathKindOf(entry.names.front()));
      }
  }

  const Words typed;
  const std::string current;
  std::vector<CompletionWord> found;
};
} // namespace

std::vector<CompletionWord> tool::candidatesFor(const Words &words) {
  return CandidateFinder(words).run();
}
