//===- PrintableTextTest.cpp - text of others, safe to print --------------===//

#include "status/PrintableText.h"

#include <gtest/gtest.h>

namespace pcc {

TEST(PrintableText, KeepsText) {
  for (const char *text : {"", "a b~", "größe …", "名前", "🙂", "a\\x1b"})
    EXPECT_EQ(printable(text), text);
}

TEST(PrintableText, EscapesWhatControlsATerminal) {
  EXPECT_EQ(printable("\x1b[31mred\a\r\n\t\x7f"),
            "\\x1b[31mred\\x07\\x0d\\x0a\\x09\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  // U+009B, a control sequence in one character; U+202E, from right to left;
  // U+2028, a line separator.
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");
  EXPECT_EQ(printable("\u202etxt.\u2028"),
            "\\xe2\\x80\\xaetxt.\\xe2\\x80\\xa8");
}

TEST(PrintableText, EscapesWhatIsNotUtf8) {
  // A lone control byte, an unfinished character, forms that are too long,
  // half of a pair of UTF-16, a character beyond the last.
  EXPECT_EQ(printable("\x9b"), "\\x9b");
  EXPECT_EQ(printable("\xe2\x80"), "\\xe2\\x80");
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");
  EXPECT_EQ(printable("\xe0\x80\x9b"), "\\xe0\\x80\\x9b");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xffz"), "\\xffz");
}

TEST(PrintableText, KeepsLinesWhereTheyAreWanted) {
  EXPECT_EQ(printableLines("a\tb\n\x1b"), "a\tb\n\\x1b");
}

TEST(PrintableText, JsonKeepsItsMeaning) {
  EXPECT_EQ(printableJson("{\n \"a\x7f\": \"\u202e\u00e9\u0085\"\n}"),
            "{\n \"a\\u007f\": \"\\u202e\u00e9\\u0085\"\n}");
}

} // namespace pcc
