//===- ShellWordTest.cpp - words of commands that messages suggest --------===//

#include "status/ShellWord.h"

#include <gtest/gtest.h>

using namespace pcc;

TEST(ShellWord, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(shellWord("batch=8"), "batch=8");
  EXPECT_EQ(shellWord(""), "''");
  EXPECT_EQ(shellWord("batch size=8"), "'batch size=8'");
  EXPECT_EQ(shellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(shellWord("a\\b c"), "'a\\b c'");
}

TEST(ShellWord, EscapesWhatControlsATerminal) {
  EXPECT_EQ(shellWord("ba\ntch=8"), "$'ba\\x0atch=8'");
  EXPECT_EQ(shellWord("\x1b[31m"), "$'\\x1b[31m'");
  EXPECT_EQ(shellWord("it's\na\\b"), "$'it\\'s\\x0aa\\\\b'");
}
