//===- FieldCheckTest.cpp - checks of the JSON of a bundle ----------------===//

#include "runtime/program/bundle/BundleFields.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace pcc::runtime;
using Json = nlohmann::ordered_json;

static constexpr FieldRow table[] = {
    {"count", FieldKind::Whole, 1, 8},
    {"sizes", FieldKind::Object},
    {"sizes.*", FieldKind::Whole, -1},
    {"kind", FieldKind::Word, 0, 0, "cpu cuda"},
    {"list", FieldKind::List},
    {"list.*", FieldKind::Object},
    orNull({"list.*.name", FieldKind::Text}),
    orAbsent({"list.*.flag", FieldKind::Flag}),
    indexInto("list.*.next", "list"),
    indexInto("list.*.rank", "count"),
    orNull({"list.*.part", FieldKind::Object}),
    {"list.*.part.times", FieldKind::List},
    {"list.*.part.times.1", FieldKind::Number},
};

/// Returns "path what" for the first fault of the JSON in `text`; empty without
/// a fault.
static std::string faultIn(const std::string &text) {
  const auto fault = findFault(Json::parse(text), table);
  return fault ? fault->path + " " + fault->what : "";
}

/// Returns a document that the table accepts, with the text `to` in place of
/// `from`.
static std::string edited(const std::string &from = "",
                          const std::string &to = "") {
  std::string text =
      R"({"count": 4, "sizes": {"tp": 2}, "kind": "cpu", "list": [)"
      R"({"name": "a", "flag": true, "next": 1, "rank": 3, "part": null},)"
      R"({"name": null, "next": 0, "rank": 0, "part": {"times": ["x", 0.5]}}]})";
  return text.replace(text.find(from), from.size(), to);
}

TEST(FieldCheck, AcceptsPossibleValues) {
  EXPECT_EQ(faultIn(edited()), "");
  EXPECT_EQ(faultIn(edited("\"tp\": 2", "")), "");
  EXPECT_EQ(faultIn(edited("\"tp\": 2", "\"tp\": 9223372036854775807")), "");
}

TEST(FieldCheck, NamesTheFieldAndItsValue) {
  EXPECT_EQ(faultIn(edited("4", "9")),
            "count is 9, not a whole number from 1 to 8");
  EXPECT_EQ(faultIn(edited("4", "2.0")),
            "count is 2.0, not a whole number from 1 to 8");
  EXPECT_EQ(faultIn(edited("2", "18446744073709551615")),
            "sizes.tp is 18446744073709551615, not a whole number of at least "
            "-1");
  EXPECT_EQ(faultIn(edited("\"cpu\"", "\"cpu cuda\"")),
            "kind is 'cpu cuda', not one of the words cpu cuda");
  EXPECT_EQ(faultIn(edited("\"next\": 0", "\"next\": 2")),
            "list[1].next is 2, not a whole number from 0 to 1");
  EXPECT_EQ(faultIn(edited("\"rank\": 3", "\"rank\": 4")),
            "list[0].rank is 4, not a whole number from 0 to 3");
  EXPECT_EQ(faultIn(edited("0.5", "-0.5")),
            "list[1].part.times[1] is -0.5, not a number of at least 0");
  EXPECT_EQ(faultIn(edited("true", "{}")),
            "list[0].flag is an object, not true or false");
}

TEST(FieldCheck, NamesAFieldThatIsAbsent) {
  EXPECT_EQ(faultIn("{}"),
            "count is absent; it should be a whole number from 1 to 8");
  EXPECT_EQ(faultIn(edited("\"name\": \"a\",", "")),
            "list[0].name is absent; it should be a text or null");
  EXPECT_EQ(faultIn(edited("\"x\", 0.5", "\"x\"")),
            "list[1].part.times[1] is absent; it should be a number of at "
            "least 0");
}

TEST(FieldCheck, NamesTheEntryOfAList) {
  EXPECT_EQ(faultIn(edited("[\"x\", 0.5]", "7")),
            "list[1].part.times is 7, not a list");
  EXPECT_EQ(faultIn(R"({"count": 4, "sizes": {}, "kind": "cpu", "list": [1]})"),
            "list[0] is 1, not an object");
}
