//===- ValidateModelTest.cpp - names and order of nodes -------------------===//

#include "passes/1-import/onnx/ReadModel.h"
#include "passes/1-import/onnx/check/TopologicalOrder.h"
#include "test/passes/1-import/onnx/Builder.h"

#include <gtest/gtest.h>

using namespace pcc;
using namespace pcc::onnx;
using namespace pcc::onnx::build;

namespace {

Status errorOf(const std::string &graph) {
  const std::string bytes = model(graph);
  const StatusOr<Model> model = readModelFromBytes(bytes, "x.onnx");
  return model.status();
}

std::vector<std::string> orderOf(const std::string &graph) {
  const std::string bytes = model(graph);
  const StatusOr<Model> model = readModelFromBytes(bytes, "x.onnx");
  std::vector<std::string> names;
  if (!model)
    return {model.status().message()};
  for (const Node &node : model->graph.nodes)
    names.emplace_back(node.name);
  return names;
}

/// Returns a branch with a node that runs `inner` and yields `output`.
std::string branch(const std::string &name, const std::string &inner,
                   const std::string &output) {
  return node("If", {"c"}, {output}, name, {graphAttribute("then", inner)});
}

} // namespace

TEST(Validate, ACycleNamesItsNodes) {
  const Status error = errorOf(graph({node("Add", {"x", "b"}, {"a"}, "n1"),
                                      node("Relu", {"a"}, {"b"}, "n2"),
                                      node("Relu", {"b"}, {"y"}, "n3")},
                                     {"x"}, {"y"}));
  EXPECT_EQ(error.code(), CannotRead);
  EXPECT_EQ(error.message(), "the graph has a cycle: 'n1' (Add) -> 'n2' (Relu) "
                             "-> 'n1' (Add)");
}

TEST(Validate, ANodeThatNeedsItselfIsACycle) {
  EXPECT_EQ(errorOf(graph({node("Add", {"x", "y"}, {"y"}, "n")}, {"x"}, {"y"}))
                .message(),
            "the graph has a cycle: 'n' (Add) -> 'n' (Add)");
  // A cycle through a subgraph: the branch reads the output of its own node.
  const std::string inner = graph({node("Relu", {"y"}, {"t"})}, {}, {"t"});
  EXPECT_NE(errorOf(graph({branch("n", inner, "y")}, {"c"}, {"y"}))
                .message()
                .find("cycle: 'n' (If) -> 'n' (If)"),
            std::string::npos);
}

TEST(Validate, ALongCycleIsCutInTheMessage) {
  Messages nodes;
  for (int i = 0; i < 100000; ++i)
    nodes.push_back(node("Relu", {"v" + std::to_string(i)},
                         {"v" + std::to_string((i + 1) % 100000)}));
  const std::string message = errorOf(graph(nodes, {}, {"v0"})).message();
  EXPECT_NE(message.find("(100000 nodes)"), std::string::npos);
  EXPECT_LT(message.size(), 400u);
}

TEST(Validate, UnsortedNodesAreSortedWithFewChanges) {
  EXPECT_EQ(orderOf(graph({node("Relu", {"x"}, {"a"}, "n0"),
                           node("Add", {"c", "a"}, {"y"}, "n1"),
                           node("Relu", {"x"}, {"b"}, "n2"),
                           node("Relu", {"b"}, {"c"}, "n3"),
                           node("Relu", {"x"}, {"d"}, "n4")},
                          {"x"}, {"y"})),
            std::vector<std::string>({"n0", "n2", "n3", "n1", "n4"}));
}

TEST(Validate, WhatASubgraphTakesComesBeforeItsNode) {
  const std::string inner = graph({node("Relu", {"a"}, {"t"})}, {}, {"t"});
  EXPECT_EQ(orderOf(graph(
                {branch("if", inner, "y"), node("Relu", {"x"}, {"a"}, "relu")},
                {"x", "c"}, {"y"})),
            std::vector<std::string>({"relu", "if"}));
}

TEST(Validate, EachValueIsDefinedOnce) {
  const Status twice = errorOf(graph(
      {node("Relu", {"x"}, {"y"}, "n1"), node("Relu", {"x"}, {"y"}, "n2")},
      {"x"}, {"y"}));
  EXPECT_EQ(twice.message(), "value 'y' is defined twice");
  EXPECT_EQ(twice.notes(),
            std::vector<std::string>(
                {"first by node 'n1' (Relu)", "again by node 'n2' (Relu)"}));
  EXPECT_NE(errorOf(graph({}, {"x", "x"}, {})).message(), "");
  EXPECT_NE(errorOf(graph({node("Relu", {"x"}, {"x"})}, {"x"}, {})).message(),
            "");
  const std::string w = zeros("w", {1});
  EXPECT_NE(errorOf(graph({}, {}, {"w"}, {w, w})).message(), "");
  // An initializer with the name of an input is that input's default value.
  EXPECT_EQ(errorOf(graph({}, {"w"}, {"w"}, {w})).message(), "");
}

TEST(Validate, ASubgraphMayNotShadow) {
  const std::string inner = graph({node("Relu", {"x"}, {"x2"})}, {}, {"x2"});
  EXPECT_EQ(errorOf(graph({branch("a", inner, "y"), branch("b", inner, "z")},
                          {"x", "c"}, {"y", "z"}))
                .message(),
            "");
  EXPECT_EQ(
      errorOf(graph({branch("a", inner, "y"), node("Relu", {"x"}, {"x2"})},
                    {"x", "c"}, {"y"}))
          .message(),
      "value 'x2' is defined twice");
}

TEST(Validate, EachUseHasADefinition) {
  EXPECT_EQ(
      errorOf(graph({node("Relu", {"q"}, {"y"}, "n")}, {}, {"y"})).message(),
      "value 'q' is used by node 'n' (Relu) but never defined");
  EXPECT_EQ(errorOf(graph({}, {"x"}, {"y"})).message(),
            "output 'y' is never defined");
  // Omitted inputs and outputs are no uses of a value.
  EXPECT_EQ(errorOf(graph({node("Op", {"", "x", ""}, {"", "y"})}, {"x"}, {"y"}))
                .message(),
            "");
  // Values inside of a subgraph are not visible outside.
  const std::string inner = graph({node("Relu", {"x"}, {"t"})}, {}, {"t"});
  EXPECT_NE(errorOf(graph({branch("n", inner, "y"), node("Relu", {"t"}, {"z"})},
                          {"x", "c"}, {"y"}))
                .message(),
            "");
}

TEST(Validate, AnInitializerHasTheTypeOfItsInput) {
  auto error = [](const std::string &input) {
    const std::string relu = node("Relu", {"w"}, {"y"});
    return errorOf(Message()
                       .text(1, relu)
                       .text(2, "g")
                       .text(5, zeros("w", {2, 3}))
                       .text(11, input)
                       .text(12, value("y")))
        .message();
  };
  EXPECT_EQ(error(typed("w", 1, {2, 3})), "");
  EXPECT_EQ(error(typed("w", 1, {-1, 3})), "");
  EXPECT_EQ(error(value("w")), "");
  EXPECT_EQ(error(typed("w", 7, {2, 3})),
            "initializer 'w' has elements of type float, but the input of this "
            "name has int64");
  for (const std::vector<int64_t> &shape :
       {std::vector<int64_t>{2, 4}, {2}, {2, 3, 1}, {}})
    EXPECT_EQ(error(typed("w", 1, shape)),
              "initializer 'w' has another shape than the input of this name");
}

TEST(Validate, ANodeHasAnOp) {
  EXPECT_EQ(errorOf(graph({node("", {}, {"y"}, "n")}, {}, {"y"})).message(),
            "node 'n' () has no op type");
}

TEST(Validate, DomainsAreImported) {
  EXPECT_EQ(
      errorOf(graph({node("Op", {}, {"y"}, "n", {}, "org.else")}, {}, {"y"}))
          .message(),
      "node 'n' (Op) is of domain 'org.else', which the model does not "
      "import");
}

TEST(TopologicalOrder, KeepsAnOrderThatIsOne) {
  const TopologicalOrder order = sortTopologically({{}, {0}, {0, 0}, {1, 2}});
  EXPECT_EQ(order.order, std::vector<uint32_t>({0, 1, 2, 3}));
  EXPECT_TRUE(sortTopologically({}).order.empty());
}

TEST(TopologicalOrder, ReportsACycleOnly) {
  // Node 0 depends on node 3, which depends on the cycle 1 -> 2 -> 1.
  const TopologicalOrder order = sortTopologically({{3}, {2}, {1}, {2}});
  EXPECT_TRUE(order.order.empty());
  EXPECT_EQ(order.cycle, std::vector<uint32_t>({1, 2}));
}
