//===- PrintableText.h - text of files, safe to print ---------------------===//

#ifndef PCC_STATUS_PRINTABLETEXT_H
#define PCC_STATUS_PRINTABLETEXT_H

#include <string>
#include <string_view>

namespace pcc {

/// Returns the length in bytes of the printable character at the beginning of
/// `text`, which must not be empty. Returns 0 if there is none: if the first
/// bytes are a control character (U+0000 to U+001F, U+007F to U+009F) or not
/// valid UTF-8.
inline size_t printableLength(std::string_view text) {
  const auto byte = [&](size_t i) {
    return static_cast<unsigned char>(text[i]);
  };
  const unsigned char first = byte(0);
  if (first < 0x80)
    return first >= 0x20 && first != 0x7f ? 1 : 0;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
  const bool isControl = first == 0xc2 && byte(1) < 0xa0;
  const bool isTooLong =
      (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool isNoCharacter =
      (first == 0xed && byte(1) >= 0xa0) || (first == 0xf4 && byte(1) >= 0x90);
  return isControl || isTooLong || isNoCharacter ? 0 : length;
}

/// Returns `text` with each byte of a control character or of invalid UTF-8
/// replaced by `\xNN`. A line break or a terminal code in a file then cannot
/// alter what pcc prints. Characters of `kept`, such as "\n", stay.
///
///     "a\x1b[2Jb"  becomes  "a\\x1b[2Jb"
inline std::string escaped(std::string_view text, std::string_view kept = "") {
  constexpr char digits[] = "0123456789abcdef";
  std::string line;
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    const size_t length =
        kept.find(text[0]) != kept.npos ? 1 : printableLength(text);
    if (length == 0)
      line += {'\\', 'x', digits[first >> 4], digits[first & 15]};
    else
      line += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return line;
}

} // namespace pcc

#endif // PCC_STATUS_PRINTABLETEXT_H
