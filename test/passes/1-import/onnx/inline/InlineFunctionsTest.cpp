//===- InlineFunctionsTest.cpp - calls become bodies ----------------------===//

#include "passes/1-import/onnx/ReadModel.h"
#include "test/passes/1-import/onnx/Builder.h"

#include <gtest/gtest.h>

using namespace pcc;
using namespace pcc::onnx;
using namespace pcc::onnx::build;

namespace {

/// A model, with the bytes to which it refers.
struct Loaded {
  explicit Loaded(std::string content)
      : bytes(std::move(content)), model(readModelFromBytes(bytes, "x.onnx")) {}
  std::string bytes;
  StatusOr<Model> model;

  std::string error() const { return model ? "" : model.status().message(); }
  const Node &node(size_t i) const { return model->graph.nodes.at(i); }
};

std::string text(const std::vector<Node> &nodes) {
  std::string all;
  const auto list = [&](const std::vector<std::string_view> &names) {
    for (std::string_view name : names)
      all += std::string(" ") + std::string(name.empty() ? "-" : name);
  };
  for (const Node &node : nodes) {
    all += node.opType;
    list(node.inputs);
    all += " ->";
    list(node.outputs);
    for (const Attribute &attribute : node.attributes)
      if (attribute.type == AttributeType::Int)
        all += " " + std::string(attribute.name) + "=" +
               std::to_string(attribute.i);
    all += "\n";
  }
  return all;
}

std::string call(const std::string &name, const Names &inputs,
                 const Names &outputs, const std::string &label = "",
                 const Messages &attributes = {}) {
  return node(name, inputs, outputs, label, attributes, "my");
}

/// Function Scale of the documented example.
const FunctionParts scale = {
    .name = "Scale",
    .inputs = {"a"},
    .outputs = {"b"},
    .nodes = {node("Mul", {"a", "a"}, {"c"}, "", {reference("k", "by", 2)}),
              node("Add", {"c", "a"}, {"b"}, "", {reference("k", "of", 2)})},
    .attributes = {"by"},
    .defaults = {integer("of", 1)}};

} // namespace

TEST(InlineFunctions, TheDocumentedExample) {
  const Loaded loaded(
      model(graph({call("Scale", {"x"}, {"y"}, "blk", {integer("by", 2)})},
                  {"x"}, {"y"}),
            {function(scale)}));
  ASSERT_EQ(loaded.error(), "");
  EXPECT_EQ(text(loaded.model->graph.nodes), "Mul x x -> blk/c k=2\n"
                                             "Add blk/c x -> y k=1\n");
  EXPECT_EQ(loaded.node(0).name, "blk/Mul_0");
  EXPECT_TRUE(loaded.model->functions.empty());
}

TEST(InlineFunctions, AParameterWithoutValueIsLeftOut) {
  const Loaded loaded(model(graph({call("Scale", {"x"}, {"y"})}, {"x"}, {"y"}),
                            {function(scale)}));
  ASSERT_EQ(loaded.error(), "");
  EXPECT_FALSE(loaded.node(0).attribute("k"));
}

TEST(InlineFunctions, TheFunctionsOpsetBindsItsNodes) {
  const Loaded loaded(
      model(graph({node("Relu", {"x"}, {"t"}), call("Scale", {"t"}, {"y"})},
                  {"x"}, {"y"}),
            {function(scale)}, /*opsetVersion=*/21));
  ASSERT_EQ(loaded.error(), "");
  EXPECT_EQ(loaded.node(0).opset, 21);
  EXPECT_EQ(loaded.node(1).opset, 17);
  EXPECT_EQ(loaded.node(1).index, 1u);
}

TEST(InlineFunctions, NamesThatAreTakenGetANumber) {
  const Loaded loaded(model(
      graph({node("Relu", {"x"}, {"blk/c"}), call("Scale", {"x"}, {"y"}, "blk"),
             call("Scale", {"y"}, {"z"}, "blk")},
            {"x"}, {"z"}),
      {function(scale)}));
  ASSERT_EQ(loaded.error(), "");
  EXPECT_EQ(text(loaded.model->graph.nodes), "Relu x -> blk/c\n"
                                             "Mul x x -> blk/c_1\n"
                                             "Add blk/c_1 x -> y k=1\n"
                                             "Mul y y -> blk/c_2\n"
                                             "Add blk/c_2 y -> z k=1\n");
}

TEST(InlineFunctions, CallsInsideFunctionsAndSubgraphs) {
  const FunctionParts twice = {
      .name = "Twice",
      .inputs = {"v"},
      .outputs = {"r"},
      .nodes = {call("Scale", {"v"}, {"m"}, "s", {reference("by", "n", 2)}),
                call("Scale", {"m"}, {"r"}, "t", {integer("by", 5)})}};
  const std::string inner =
      graph({call("Twice", {"x"}, {"i"}, "in", {integer("n", 3)})}, {}, {"i"});
  const Loaded loaded(model(
      graph({node("If", {"c"}, {"y"}, "if", {graphAttribute("then", inner)})},
            {"x", "c"}, {"y"}),
      {function(twice), function(scale)}));
  ASSERT_EQ(loaded.error(), "");
  EXPECT_EQ(text(loaded.node(0).attributes[0].graphs[0].nodes),
            "Mul x x -> in/s/c k=3\nAdd in/s/c x -> in/m k=1\n"
            "Mul in/m in/m -> in/t/c k=5\nAdd in/t/c in/m -> i k=1\n");
}

TEST(InlineFunctions, SubgraphsOfABodyAreRenamed) {
  const std::string inner =
      graph({node("Add", {"p", "q"}, {"t"})}, {"q"}, {"t"});
  const FunctionParts loop = {.name = "Over",
                              .inputs = {"p"},
                              .outputs = {"r"},
                              .nodes = {node("Scan", {"p"}, {"r"}, "scan",
                                             {graphAttribute("body", inner),
                                              graphAttribute("more", inner)})}};
  const Loaded loaded(
      model(graph({call("Over", {"x"}, {"y"}, "n")}, {"x"}, {"y"}),
            {function(loop)}));
  ASSERT_EQ(loaded.error(), "");
  const Graph &body = loaded.node(0).attributes[0].graphs[0];
  EXPECT_EQ(body.inputs[0].name, "n/q");
  EXPECT_EQ(text(body.nodes), "Add x n/q -> n/t\n");
  EXPECT_EQ(body.outputs[0].name, "n/t");
  EXPECT_EQ(text(loaded.node(0).attributes[1].graphs[0].nodes),
            "Add x n/q_1 -> n/t_2\n");
}

TEST(InlineFunctions, OmittedInputsAndOutputs) {
  const FunctionParts two = {
      .name = "Two",
      .inputs = {"a", "b"},
      .outputs = {"c", "d"},
      .nodes = {node("Clip", {"a", "b"}, {"c"}), node("Relu", {"a"}, {"d"})}};
  const Loaded loaded(
      model(graph({call("Two", {"x"}, {"", "y"}, "n")}, {"x"}, {"y"}),
            {function(two)}));
  ASSERT_EQ(loaded.error(), "");
  EXPECT_EQ(text(loaded.model->graph.nodes), "Clip x -> n/c\nRelu x -> y\n");
}

TEST(InlineFunctions, AnOutputThatIsAnInputIsCopied) {
  const FunctionParts pass = {
      .name = "Pass", .inputs = {"a"}, .outputs = {"a"}, .nodes = {}};
  const Loaded loaded(model(graph({call("Pass", {"x"}, {"y"})}, {"x"}, {"y"}),
                            {function(pass)}));
  ASSERT_EQ(loaded.error(), "");
  EXPECT_EQ(text(loaded.model->graph.nodes), "Identity x -> y\n");
  EXPECT_EQ(loaded.node(0).opset, 17);
}

TEST(InlineFunctions, OverloadsAreTold) {
  FunctionParts first = {.name = "F",
                         .inputs = {"a"},
                         .outputs = {"b"},
                         .nodes = {node("Relu", {"a"}, {"b"})}};
  FunctionParts second = first;
  second.nodes = {node("Tanh", {"a"}, {"b"})};
  second.overload = "2";
  std::string overloaded = call("F", {"x"}, {"y"});
  overloaded += std::string(Message().text(8, "2"));
  const Loaded loaded(model(graph({overloaded}, {"x"}, {"y"}),
                            {function(first), function(second)}));
  ASSERT_EQ(loaded.error(), "");
  EXPECT_EQ(loaded.node(0).opType, "Tanh");
  EXPECT_EQ(Loaded(model(graph({}, {}, {}), {function(first), function(first)}))
                .error(),
            "function 'my.F' is defined twice");
}

TEST(InlineFunctions, DeviceConfigurationsAreInherited) {
  const std::string spec = Message().text(1, "y").numbers(2, {0, 1});
  std::string annotated = call("Scale", {"x"}, {"y"}, "blk");
  annotated += std::string(
      Message().text(10, Message().text(1, "conf").text(2, spec).number(3, 1)));
  const Loaded loaded(
      model(graph({annotated}, {"x"}, {"y"}), {function(scale)}) +
      devices("conf", 2));
  ASSERT_EQ(loaded.error(), "");
  EXPECT_EQ(loaded.node(0).deviceConfigurations.at(0).pipelineStage, 1);
  EXPECT_TRUE(loaded.node(0).deviceConfigurations[0].shardingSpecs.empty());
  EXPECT_EQ(loaded.node(1).deviceConfigurations[0].shardingSpecs.size(), 1u);
}

TEST(InlineFunctions, RecursionIsAnError) {
  const FunctionParts f = {.name = "F",
                           .inputs = {"a"},
                           .outputs = {"b"},
                           .nodes = {call("G", {"a"}, {"b"})}};
  const FunctionParts g = {.name = "G",
                           .inputs = {"a"},
                           .outputs = {"b"},
                           .nodes = {call("F", {"a"}, {"b"})}};
  EXPECT_EQ(Loaded(model(graph({call("F", {"x"}, {"y"})}, {"x"}, {"y"}),
                         {function(f), function(g)}))
                .error(),
            "function 'my.F' calls itself, through 'my.G'");
}

namespace {

/// Returns `length` functions, each of which calls the next one `width` times.
Messages chain(int length, int width) {
  Messages functions;
  for (int i = 0; i < length; ++i) {
    const bool last = i + 1 == length;
    const std::string next = "F" + std::to_string(i + 1);
    Messages nodes;
    for (int j = 0; j < width; ++j) {
      const std::string from = j == 0 ? "a" : "v" + std::to_string(j - 1);
      const std::string to = j + 1 == width ? "b" : "v" + std::to_string(j);
      nodes.push_back(last ? node("Relu", {from}, {to})
                           : call(next, {from}, {to}));
    }
    functions.push_back(function({.name = "F" + std::to_string(i),
                                  .inputs = {"a"},
                                  .outputs = {"b"},
                                  .nodes = nodes}));
  }
  return functions;
}

} // namespace

TEST(InlineFunctions, CallsAreBoundedInDepth) {
  const std::string main = graph({call("F0", {"x"}, {"y"})}, {"x"}, {"y"});
  EXPECT_EQ(Loaded(model(main, chain(100, 1))).error(), "");
  EXPECT_NE(Loaded(model(main, chain(101, 1))).error().find("100 deep"),
            std::string::npos);
  // A chain of which every part is known to be short enough.
  Messages backwards = chain(9000, 1);
  std::reverse(backwards.begin(), backwards.end());
  EXPECT_NE(Loaded(model(main, backwards)).error().find("100 deep"),
            std::string::npos);
  EXPECT_NE(Loaded(model(main, chain(10001, 1))).error().find("functions"),
            std::string::npos);
}

TEST(InlineFunctions, ExplosionIsBounded) {
  const std::string main = graph({call("F0", {"x"}, {"y"})}, {"x"}, {"y"});
  EXPECT_NE(Loaded(model(main, chain(60, 2))).error().find("too large"),
            std::string::npos);
}

TEST(InlineFunctions, CallsThatDoNotFit) {
  const Messages functions = {function(scale)};
  EXPECT_NE(
      Loaded(model(graph({call("Scale", {"x", "x"}, {"y"})}, {"x"}, {"y"}),
                   functions))
          .error()
          .find("has 2 inputs and 1 output, its function has 1 and 1"),
      std::string::npos);
  EXPECT_NE(
      Loaded(model(graph({call("Scale", {"x"}, {"y"}, "n", {ints("by", {1})})},
                         {"x"}, {"y"}),
                   functions))
          .error()
          .find("parameter 'by' of function 'my.Scale' needs type 2"),
      std::string::npos);
}

TEST(InlineFunctions, BodiesAreValidated) {
  const FunctionParts bad = {.name = "F",
                             .inputs = {"a"},
                             .outputs = {"b"},
                             .nodes = {node("Relu", {"q"}, {"b"}, "n")}};
  const Loaded loaded(model(graph({}, {}, {}), {function(bad)}));
  EXPECT_EQ(loaded.error(),
            "value 'q' is used by node 'n' (Relu) but never defined");
  EXPECT_EQ(loaded.model.status().notes().at(0), "in function 'my.F'");
}
