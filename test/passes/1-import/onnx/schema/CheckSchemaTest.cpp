//===- CheckSchemaTest.cpp - nodes that their op's definition forbids -----===//

#include "passes/1-import/onnx/schema/CheckSchema.h"
#include "passes/1-import/onnx/schema/OpSchema.h"

#include <gtest/gtest.h>

namespace pcc::onnx {

static Node node(std::string_view op, int64_t opset,
                 std::vector<std::string_view> operands,
                 const std::vector<std::string_view> &attributes = {}) {
  Node made;
  made.name = "n";
  made.opType = op;
  made.opset = opset;
  made.inputs = std::move(operands);
  made.outputs = {"y"};
  for (std::string_view name : attributes)
    made.attributes.emplace_back().name = name;
  return made;
}

/// Returns the element type that the first letter of a value's name stands for.
static DataType typeOf(std::string_view name) {
  switch (name[0]) {
  case 'f':
    return DataType::Float;
  case 'd':
    return DataType::Double;
  case 'i':
    return DataType::Int64;
  case 'b':
    return DataType::Bool;
  case 'n':
    return DataType::BFloat16;
  default:
    return DataType::Undefined;
  }
}

/// Returns the message of checkOperandTypes; "" if the types are right.
static std::string typeError(const Node &node) {
  const Status status = checkOperandTypes(node, typeOf);
  EXPECT_TRUE(status.ok() || status.code() == CannotRead);
  return status.message();
}

/// Returns the message of checkForm; "" if the form is right.
static std::string formError(const Node &node) {
  return checkForm(node).message();
}

TEST(OpSchema, IsTheNewestThatIsNotNewerThanTheOpset) {
  EXPECT_EQ(findSchema(node("Gather", 12, {}))->since, 11);
  EXPECT_EQ(findSchema(node("Gather", 13, {}))->since, 13);
  EXPECT_EQ(findSchema(node("Gather", 99, {}))->since, 13);
  EXPECT_EQ(findSchema(node("Gelu", 19, {})), nullptr);
  EXPECT_EQ(findSchema(node("NoSuchOp", 19, {})), nullptr);
  Node contrib = node("Gelu", 20, {});
  contrib.domain = "com.microsoft";
  EXPECT_EQ(findSchema(contrib), nullptr);
  EXPECT_GE(newestOpset(""), 27);
}

TEST(CheckSchema, OperandsHaveAllowedTypes) {
  EXPECT_EQ(typeError(node("Gather", 13, {"f", "i"})), "");
  EXPECT_EQ(typeError(node("Gather", 13, {"f", "f"})),
            "node 'n' (Gather): operand 1 has elements of type float, but "
            "Gather-13 takes int32, int64");
  EXPECT_EQ(typeError(node("Reshape", 14, {"f", "b"})),
            "node 'n' (Reshape): operand 1 has elements of type bool, but "
            "Reshape-14 takes int64");
  EXPECT_EQ(typeError(node("Not", 13, {"b"})), "");
  EXPECT_NE(typeError(node("Not", 13, {"i"})), "");
}

TEST(CheckSchema, OpsTakeAllFloats) {
  EXPECT_EQ(typeError(node("Einsum", 12, {"n", "n"})), "");
  EXPECT_EQ(typeError(node("Celu", 12, {"d"})), "");
  EXPECT_NE(typeError(node("Einsum", 12, {"n", "f"})), "");
  EXPECT_NE(typeError(node("Not", 13, {"n"})), "");
}

TEST(CheckSchema, TypesChangeWithTheOpset) {
  EXPECT_NE(typeError(node("Relu", 13, {"i"})), "");
  EXPECT_EQ(typeError(node("Relu", 14, {"i"})), "");
}

TEST(CheckSchema, OperandsOfOneVariableAreEqual) {
  EXPECT_EQ(typeError(node("Add", 14, {"f", "d"})),
            "node 'n' (Add): operand 1 has elements of type double, but "
            "operand 0 has float, and both must be equal");
  EXPECT_EQ(typeError(node("Concat", 13, {"f", "f2", "f3"})), "");
  EXPECT_NE(typeError(node("Concat", 13, {"f", "f2", "d"})), "");
  EXPECT_EQ(typeError(node("Where", 16, {"b", "f", "f"})), "");
}

TEST(CheckSchema, UnknownAndAbsentOperandsAreSkipped) {
  EXPECT_EQ(typeError(node("Add", 14, {"f", "x"})), "");
  EXPECT_EQ(typeError(node("Clip", 13, {"f", "", "f"})), "");
  EXPECT_EQ(typeError(node("Add", 9999, {"f", "d"})), "");
}

TEST(CheckSchema, AttributesAreThoseOfTheOpset) {
  EXPECT_EQ(formError(node("ReduceMean", 17, {"f"}, {"axes"})), "");
  EXPECT_EQ(formError(node("ReduceMean", 18, {"f"}, {"axes"})),
            "node 'n' (ReduceMean): ReduceMean-18 has no attribute 'axes', "
            "only keepdims, noop_with_empty_axes");
  EXPECT_EQ(checkForm(node("Relu", 14, {"f"}, {"new"})).code(), CannotRead);
  EXPECT_EQ(checkForm(node("Relu", 9999, {"f"}, {"new"})).code(), Unsupported);
}

TEST(CheckSchema, OperandsAndResultsAreCounted) {
  EXPECT_EQ(formError(node("Clip", 6, {"f", "f"})),
            "node 'n' (Clip): has 2 operands, which is more than 1");
  EXPECT_EQ(formError(node("Concat", 13, {"f", "f", "f", "f"})), "");
  Node two = node("Relu", 14, {"f"});
  two.outputs = {"y", "z"};
  EXPECT_EQ(formError(two),
            "node 'n' (Relu): has 2 results, which is more than 1");
  Node split = node("Split", 13, {"f"});
  split.outputs = {"a", "b", "c"};
  EXPECT_EQ(formError(split), "");
}

} // namespace pcc::onnx
