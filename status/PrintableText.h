//===- PrintableText.h - text of others, safe to print on a terminal ------===//

#ifndef PCC_STATUS_PRINTABLETEXT_H
#define PCC_STATUS_PRINTABLETEXT_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pcc {

/// Returns the number of bytes of the UTF-8 character at the beginning of
/// `text`, which must not be empty, and stores its code point in `code`.
/// Returns 0 if the bytes are not valid UTF-8.
inline size_t readUtf8(std::string_view text, uint32_t &code) {
  static constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t size = first < 0x80             ? 1
                      : (first & 0xe0) == 0xc0 ? 2
                      : (first & 0xf0) == 0xe0 ? 3
                      : (first & 0xf8) == 0xf0 ? 4
                                               : 0;
  if (size == 0 || text.size() < size)
    return 0;
  code = size == 1 ? first : first & (0xffU >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80)
      return 0;
    code = code << 6 | (next & 0x3f);
  }
  const bool isSurrogate = code >= 0xd800 && code <= 0xdfff;
  return code >= least[size] && code <= 0x10ffff && !isSurrogate ? size : 0;
}

/// Returns whether the character with the code point `code` could change how a
/// terminal shows the text around the character. The result is true for:
///
///  - control characters. Example: the character ESC (0x1b) begins a command to
///    the terminal, such as "clear the screen".
///  - the line separator (0x2028) and the paragraph separator (0x2029).
///  - characters that set the direction of writing. Example: after the
///    character 0x202e, the terminal may show the text from right to left.
inline bool controlsTerminal(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x200e ||
         code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

/// Returns `text` with each character that controls a terminal
/// (controlsTerminal()), and each byte that is not valid UTF-8, replaced by the
/// result of `escape`. `escape` gets the bytes of the character and its code
/// point; the code point is 0 if the byte is not valid UTF-8. The characters in
/// `kept`, such as "\n", stay as they are.
template <typename Escape>
std::string escapeControls(std::string_view text, std::string_view kept,
                           Escape escape) {
  std::string result;
  while (!text.empty()) {
    uint32_t code = 0;
    const size_t size = readUtf8(text, code);
    const std::string_view bytes = text.substr(0, size ? size : 1);
    if (size > 0 &&
        (!controlsTerminal(code) || kept.find(text[0]) != kept.npos))
      result += bytes;
    else
      result += escape(bytes, size ? code : 0);
    text.remove_prefix(bytes.size());
  }
  return result;
}

/// Returns the `count` last hexadecimal digits of `value`.
inline std::string hexDigits(uint32_t value, int count) {
  std::string digits;
  for (int i = count; i-- > 0;)
    digits += "0123456789abcdef"[value >> (4 * i) & 15];
  return digits;
}

/// Returns `text` with each byte of a character that controls a terminal, and
/// each byte that is not valid UTF-8, replaced by `\xNN`. Text from models,
/// files and other processes can therefore not alter what pcc prints. The
/// characters in `kept` stay as they are.
inline std::string printable(std::string_view text,
                             std::string_view kept = "") {
  return escapeControls(text, kept, [](std::string_view bytes, uint32_t) {
    std::string escaped;
    for (const char byte : bytes)
      escaped += "\\x" + hexDigits(static_cast<unsigned char>(byte), 2);
    return escaped;
  });
}

/// Returns the JSON document `text`, safe to show on a terminal. Each character
/// that could change how the terminal shows the text is replaced by its JSON
/// escape, such as `\u202e`. Line breaks are not replaced. A JSON parser reads
/// the same values from the result as from `text`. `text` must be valid JSON.
inline std::string printableJson(std::string_view text) {
  return escapeControls(text, "\n", [](std::string_view, uint32_t code) {
    return "\\u" + hexDigits(code, 4);
  });
}

/// Returns `text`, safe to show on a terminal. `text` may have several lines.
/// Each byte of a character that could change how the terminal shows the text
/// is replaced by `\xNN`, where NN is the byte in hexadecimal digits. Each byte
/// that is not valid UTF-8 is also replaced. Line breaks and tabs are not
/// replaced.
inline std::string printableLines(std::string_view text) {
  return printable(text, "\n\t");
}

} // namespace pcc

#endif // PCC_STATUS_PRINTABLETEXT_H
