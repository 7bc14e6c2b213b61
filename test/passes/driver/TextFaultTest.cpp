//===- TextFaultTest.cpp - texts that MLIR's parser cannot handle ---------===//

#include "passes/driver/TextFault.h"

#include <gtest/gtest.h>

namespace pcc {

/// Returns the claim of the first fault in `text`; "" if there is none.
static std::string claim(const std::string &text) {
  const auto fault = findTextFault(text);
  return fault ? fault->claim : "";
}

/// Returns `count` definitions of aliases, and an op that uses the last.
/// `next` gives the text of alias i, which may contain alias i - 1.
template <typename Next>
static std::string chain(const std::string &sign, int count, Next next) {
  std::string text = sign + "a0 = " + next("") + "\n";
  for (int i = 1; i < count; ++i)
    text += sign + "a" + std::to_string(i) + " = " +
            next(sign + "a" + std::to_string(i - 1)) + "\n";
  return text + "module attributes {x = " + sign + "a" +
         std::to_string(count - 1) + "} {}\n";
}

static std::string twice(const std::string &alias) {
  return "[" + alias + ", " + alias + "]";
}

TEST(TextFault, AliasesOfAliasesAreBounded) {
  EXPECT_EQ(claim(chain("#", 10, twice)), "");
  EXPECT_EQ(claim(chain("#", 40, twice)),
            "alias '#a16' stands for more than 65536 aliases");
  EXPECT_EQ(claim(chain("!", 40,
                        [](const std::string &alias) {
                          return "tuple<" + alias + ",\n  " + alias + ">";
                        })),
            "alias '!a16' stands for more than 65536 aliases");
  EXPECT_EQ(claim(chain("!", 40,
                        [](const std::string &alias) {
                          return "(" + alias + ") ->\n  tuple<" + alias + ">";
                        })),
            "alias '!a16' stands for more than 65536 aliases");
}

TEST(TextFault, DepthOfAliasesAddsUp) {
  auto nested = [](const std::string &alias) {
    return "loc(\"a\"(" + alias + "))";
  };
  EXPECT_EQ(claim(chain("#", 100, nested)), "");
  EXPECT_EQ(claim(chain("#", 200, nested)),
            "alias '#a128' stands for a text that is nested more than 256 "
            "levels deep");
}

TEST(TextFault, UsesInOpsDoNotCount) {
  std::string text = "#a0 = [1]\n#a1 = [#a0]\nmodule {\n";
  for (int i = 0; i < 70000; ++i)
    text += "  x.y {a = #a1}\n";
  text += "}\n#loc = loc(\"a\")\n";
  EXPECT_EQ(claim(text), "");
}

TEST(TextFault, BracketsAndSignsAreBounded) {
  EXPECT_EQ(claim(std::string(256, '(') + std::string(256, ')')), "");
  EXPECT_EQ(claim(std::string(257, '(')),
            "the text is nested more than 256 levels deep");
  EXPECT_EQ(claim(std::string(257, '-')),
            "the text is nested more than 256 levels deep");
  EXPECT_EQ(
      claim("\"" + std::string(300, '(') + "\" // " + std::string(300, '[')),
      "");
}

TEST(TextFault, OtherTextsThatCrashTheParser) {
  const auto fault = findTextFault(llvm::StringRef("ab\0c", 4));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->at, 2u);
  EXPECT_EQ(claim("array<i32: 1> array<i7: 1>").substr(0, 21),
            "the text has an array");
}

} // namespace pcc
