//===- TextFault.cpp - texts that MLIR's parser cannot handle -------------===//

#include "passes/driver/TextFault.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using llvm::StringLiteral;
using llvm::StringRef;

namespace pcc {

/// Largest accepted depth of nested brackets, in the text and in the text for
/// which an alias stands. Also the largest accepted number of successive minus
/// signs. The parser is recursive, so more of either could overflow its stack.
static constexpr int greatestDepth = 256;

/// Largest accepted number of aliases for which one alias stands.
static constexpr size_t mostAliases = 65536;

/// Returns the position behind the string literal or comment that begins at
/// `at`; `at` itself if none begins there.
static size_t skipOpaque(StringRef text, size_t at) {
  if (text.substr(at).starts_with("//"))
    return std::min(text.find('\n', at), text.size());
  if (text[at] != '"')
    return at;
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    if (text[at] == '\\')
      ++at;
  return std::min(at + 1, text.size());
}

namespace {
/// Reads the text of a .mlir file once, and finds brackets that are nested too
/// deep and aliases that stand for too much text.
class NestingScan {
public:
  explicit NestingScan(StringRef text) : text(text) {}

  std::optional<TextFault> run() {
    for (at = 0; at < text.size(); ++at) {
      if (beginsOp())
        defined = nullptr;
      if (size_t behind = skipOpaque(text, at); behind != at) {
        at = behind - 1;
        continue;
      }
      if (StringRef("#!").contains(text[at]))
        readAlias();
      else
        readBracketOrSign();
      if (depth > greatestDepth || signs > greatestDepth)
        return TextFault{at, "the text " + nestedTooDeep()};
      if (defined && defined->depth > greatestDepth)
        return aliasFault("a text that " + nestedTooDeep());
      if (defined && defined->aliases > mostAliases)
        return aliasFault("more than " + std::to_string(mostAliases) +
                          " aliases");
    }
    return std::nullopt;
  }

private:
  /// Description of the text for which an alias stands.
  struct Alias {
    size_t aliases = 1; ///< number of aliases in it, the alias itself included
    int depth = 0;      ///< greatest depth of nested brackets
  };

  static std::string nestedTooDeep() {
    return "is nested more than " + std::to_string(greatestDepth) +
           " levels deep";
  }

  /// Returns the error that the alias `defined` stands for `what`.
  TextFault aliasFault(const std::string &what) const {
    return {at, "alias '" + definedName.str() + "' stands for " + what};
  }

  /// Returns whether an op begins at the position `at`: a word outside of all
  /// brackets that is the first of its line, if the text before it is complete.
  /// An incomplete text ends with `=`, `:` or `->`.
  bool beginsOp() const {
    if (depth > 0 ||
        !(llvm::isAlpha(text[at]) || StringRef("\"%").contains(text[at])))
      return false;
    const StringRef before = text.take_front(at).rtrim(" \t\r");
    const StringRef complete = before.rtrim();
    return complete.size() < before.size() && !complete.ends_with("=") &&
           !complete.ends_with(":") && !complete.ends_with("->");
  }

  /// Reads `#name` or `!name` at the position `at`. In a definition, such as
  /// `#a1 = [#a0, #a0]`, the first name is the alias that is defined, and the
  /// other names are aliases for which it stands.
  void readAlias() {
    const StringRef name = text.substr(at).take_while([](char c) {
      return llvm::isAlnum(c) || StringRef("#!_$.-").contains(c);
    });
    StringRef behind = text.substr(at + name.size()).ltrim(" \t");
    const bool isDefinition =
        depth == 0 && behind.consume_front("=") && !behind.starts_with("=");
    at += name.size() - 1;
    if (isDefinition) {
      defined = &(known[name] = Alias());
      definedName = name;
    } else if (auto found = known.find(name); defined && found != known.end()) {
      defined->aliases += found->second.aliases;
      defined->depth = std::max(defined->depth, depth + found->second.depth);
    }
  }

  /// Reads a character that is not part of a string, a comment or an alias.
  /// Counts open brackets and successive minus signs. The `>` of `->` and of
  /// `>=` closes no bracket.
  void readBracketOrSign() {
    const char c = text[at];
    const bool isArrow =
        c == '>' && ((at > 0 && text[at - 1] == '-') ||
                     (at + 1 < text.size() && text[at + 1] == '='));
    if (StringRef("([{<").contains(c))
      ++depth;
    else if (StringRef(")]}>").contains(c) && !isArrow && depth > 0)
      --depth;
    signs = c == '-' ? signs + 1 : llvm::isSpace(c) ? signs : 0;
    if (defined)
      defined->depth = std::max(defined->depth, depth);
  }

  StringRef text;
  size_t at = 0; ///< position of the character that is read
  int depth = 0; ///< number of open brackets
  int signs = 0; ///< number of successive minus signs
  llvm::StringMap<Alias> known;
  /// The latest alias of which a definition was read; null before the first.
  Alias *defined = nullptr;
  StringRef definedName; ///< its name with the sign, such as "#a1"
};
} // namespace

/// Returns the position of the first `array<` whose element type the parser
/// cannot handle; StringRef::npos if there is none.
static size_t findUnknownArray(StringRef text) {
  constexpr StringLiteral begin = "array<";
  for (size_t at = text.find(begin); at != StringRef::npos;
       at = text.find(begin, at + 1)) {
    StringRef type =
        text.substr(at + begin.size()).ltrim().take_while([](char c) {
          return llvm::isAlnum(c);
        });
    if (!llvm::is_contained(llvm::ArrayRef<StringRef>{"i1", "i8", "i16", "i32",
                                                      "i64", "f32", "f64"},
                            type))
      return at;
  }
  return StringRef::npos;
}

std::optional<TextFault> findTextFault(StringRef text) {
  if (size_t at = text.find('\0'); at != StringRef::npos)
    return TextFault{at, "the text has a zero byte"};
  if (auto fault = NestingScan(text).run())
    return fault;
  if (size_t at = findUnknownArray(text); at != StringRef::npos)
    return TextFault{
        at, "the text has an array of an unknown type, expected i1, i8, "
            "i16, i32, i64, f32 or f64"};
  return std::nullopt;
}

} // namespace pcc
