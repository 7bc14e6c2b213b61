//===- TextFault.cpp - texts that MLIR's parser cannot handle -------------===//

#include "passes/driver/TextFault.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using llvm::StringLiteral;
using llvm::StringRef;

namespace pcc {

/// Largest accepted depth of nested brackets, after aliases are replaced, and
/// largest accepted number of successive minus signs. MLIR's parser is
/// recursive, so a text with deeper brackets or more minus signs could overflow
/// its stack.
static constexpr int greatestDepth = 256;

/// Largest accepted size of an alias. The size of an alias is 1 plus the sizes
/// of all aliases in its text. For example, `#a1 = [#a0, #a0]` has size 3 if
/// `#a0` has size 1. The limit is necessary because the size can double with
/// each alias, so a short file can stand for a very long text.
static constexpr size_t mostAliases = 65536;

/// Skips a string literal or a comment. `at` is a position in `text`. If a
/// string literal or a comment begins at this position, the function returns
/// the position of the first character after the string literal or after the
/// comment. Otherwise, the function returns `at`. For example, `text` is
/// `"a" = 1`. The string literal `"a"` lies at the positions 0 to 2. If `at` is
/// 0, the result is 3. If `at` is 4, the result is 4.
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
/// Scans the text of a .mlir file once and returns the first of these faults:
///  - Brackets are nested more than 256 levels deep: in the text of the file,
///    or in the definition of an alias after all aliases in this definition
///    are replaced.
///  - More than 256 minus signs follow each other.
///  - The size of an alias is greater than 65,536 (see `mostAliases`).
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
  /// Size of the text for which an alias stands, after all aliases in the text
  /// are replaced. In `#a1 = [#a0, #a0]`, the alias `#a0` counts twice.
  struct Alias {
    size_t aliases = 1; ///< number of aliases in it, the alias itself included
    int depth = 0;      ///< greatest depth of nested brackets
  };

  static std::string nestedTooDeep() {
    return "is nested more than " + std::to_string(greatestDepth) +
           " levels deep";
  }

  /// Returns an error about the alias whose definition is being read. For
  /// example, if the alias is `#a2` and `what` is "more than 65536 aliases",
  /// the message is "alias '#a2' stands for more than 65536 aliases".
  TextFault aliasFault(const std::string &what) const {
    return {at, "alias '" + definedName.str() + "' stands for " + what};
  }

  /// Returns whether an op begins at the position `at`: a letter, `"` or `%`
  /// that is the first character of its line and outside of all brackets.
  /// Returns false if the text before the line ends with `=`, `:` or `->`,
  /// because the line then continues the op or the definition before it.
  bool beginsOp() const {
    if (depth > 0 ||
        !(llvm::isAlpha(text[at]) || StringRef("\"%").contains(text[at])))
      return false;
    const StringRef before = text.take_front(at).rtrim(" \t\r");
    const StringRef complete = before.rtrim();
    return complete.size() < before.size() && !complete.ends_with("=") &&
           !complete.ends_with(":") && !complete.ends_with("->");
  }

  /// Reads the name of an alias, such as `#a1`, and moves `at` to its last
  /// character. If this is the definition of the alias, as in `#a1 = 5`, adds
  /// the alias to `known`. If this is a use in the definition of another alias,
  /// like `#a0` in `#a1 = [#a0]`, adds the size of the used alias to the size
  /// of the other alias.
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

  /// Updates `depth`, the number of open brackets, and `signs`, the number of
  /// successive minus signs. The `>` of `->` and of `>=` closes no bracket.
  /// MLIR's parser calls itself for each minus sign, and a long series of minus
  /// signs could overflow its stack.
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
  /// Size of the alias whose definition the scan is reading. For example, the
  /// scan is reading the text `[#a0, #a0]` in the line `#a1 = [#a0, #a0]`.
  /// `defined` then points to the size of `#a1` in the map `known`. The map
  /// `known` contains the size of each alias that the scan has found. The
  /// definition of an alias ends where an op or another definition begins. If
  /// the scan is not reading a definition, `defined` is null.
  Alias *defined = nullptr;
  StringRef definedName; ///< its name with the sign, such as "#a1"
};
} // namespace

/// Returns the byte offset of the first `array<` in `text` with an unknown
/// element type, such as `array<i7`. Returns StringRef::npos if there is none.
/// The known element types are i1, i8, i16, i32, i64, f32 and f64. MLIR's
/// parser may crash on an unknown element type.
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
