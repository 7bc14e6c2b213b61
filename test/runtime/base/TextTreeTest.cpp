//===- TextTreeTest.cpp - trees for terminals -----------------------------===//

#include "runtime/base/TextTree.h"

#include <gtest/gtest.h>

using pcc::runtime::TextTree;
using pcc::runtime::treeText;

TEST(TextTree, AnEntryAloneIsALine) {
  EXPECT_EQ(treeText({"one rank"}), "one rank\n");
}

TEST(TextTree, BranchesAreConnected) {
  const TextTree tree{"4 ranks", {{"tp", {{"all_reduce"}}}, {"pp"}}};
  EXPECT_EQ(treeText(tree), "4 ranks\n"
                            "├─ tp\n"
                            "│  └─ all_reduce\n"
                            "└─ pp\n");
}

TEST(TextTree, FurtherLinesOfATextAreIndented) {
  const TextTree tree{"root", {{"a\nb", {{"c\nd"}}}, {"e\nf"}}};
  EXPECT_EQ(treeText(tree), "root\n"
                            "├─ a\n"
                            "│  │ b\n"
                            "│  └─ c\n"
                            "│       d\n"
                            "└─ e\n"
                            "     f\n");
}
