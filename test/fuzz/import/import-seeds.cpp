//===- import-seeds.cpp - small models of every family of ops -------------===//

#include "test/passes/1-import/onnx/Builder.h"

#include <cstdio>
#include <fstream>

using namespace pcc::onnx::build;

namespace {

using Dims = std::vector<int64_t>;

constexpr int64_t kFloat = 1, kInt64 = 7, kBool = 9;

/// An operand: an input of the graph, or an initializer if it has elements.
struct Operand {
  Dims dims;
  int64_t type = kFloat;
  bool isZeros = false;
  std::vector<int64_t> integers = {};
};

/// A model of one node whose operands are a, b, c, …
struct OneNode {
  const char *op;
  std::vector<Operand> operands;
  Messages attributes = {};
  Names outputs = {"y"};
  const char *domain = "";
};

/// Returns an input.
Operand in(Dims dims, int64_t type = kFloat) { return {dims, type}; }
/// Returns a weight.
Operand w(Dims dims) { return {dims, kFloat, true}; }
/// Returns a list of numbers that is known during the import.
Operand list(std::vector<int64_t> values) {
  return {{static_cast<int64_t>(values.size())}, kInt64, false, values};
}
Operand number(int64_t value) { return {{}, kInt64, false, {value}}; }
Operand none() { return {{-2}}; }

std::string wrap(const std::string &graph, int64_t version = 24) {
  return model(graph, {}, version) +
         std::string(Message().text(8, opset("com.microsoft", 1)));
}

std::string modelOf(const OneNode &one, int64_t version = 24) {
  Message graph;
  Names operands;
  for (const Operand &operand : one.operands) {
    const std::string name(1, static_cast<char>('a' + operands.size()));
    const bool omitted = operand.dims == Dims{-2};
    operands.push_back(omitted ? "" : name);
    if (omitted)
      continue;
    if (operand.isZeros)
      graph.text(5, zeros(name, operand.dims));
    else if (!operand.integers.empty())
      graph.text(5, integers(name, operand.dims, operand.integers));
    else
      graph.text(11, typed(name, operand.type, operand.dims));
  }
  graph.text(1, node(one.op, operands, one.outputs, one.op, one.attributes,
                     one.domain));
  for (const std::string &output : one.outputs)
    if (!output.empty())
      graph.text(12, value(output));
  return wrap(graph, version);
}

const OneNode elementWise[] = {
    {"Exp", {in({-1, 4})}},
    {"Relu", {in({2, 3}, 10)}},
    {"Not", {in({3}, kBool)}},
    {"Add", {in({-1, 4}), w({4})}},
    {"Div", {list({7, -7, 3}), list({2, 2, -1})}},
    {"Mod", {list({7, -7, 3}), list({2, 2, -1})}, {integer("fmod", 1)}},
    {"Pow", {list({2, 3}), in({2})}},
    {"BitShift", {in({3}, 12), in({3}, 12)}, {text("direction", "LEFT")}},
    {"Mean", {in({2, 1}), in({3}), in({})}},
    {"Less", {in({2, 3}), in({3})}},
    {"Where", {in({2, 1}, kBool), in({2, 3}), in({})}},
    {"Cast", {list({1, 2, 3})}, {integer("to", 1)}},
    {"CastLike", {in({2}), list({1})}},
    {"Clip", {in({2, 3}), in({}), none()}},
    {"IsInf", {in({2})}, {integer("detect_negative", 0)}},
    {"Dropout", {in({2, 3})}, {}, {"y", "mask"}},
    {"Elu", {in({2, 3})}, {real("alpha", 0.5)}},
    {"PRelu", {in({2, 3, 4}), w({3, 1})}},
    {"Selu", {in({2})}},
    {"HardSwish", {in({2})}},
    {"Shrink", {in({2})}, {real("lambd", 1)}},
    {"ThresholdedRelu", {in({2})}, {real("alpha", 2)}},
    {"Gelu", {in({2, 3})}, {text("approximate", "tanh")}},
    {"BiasGelu", {in({2, 3}), w({3})}, {}, {"y"}, "com.microsoft"},
    {"Softmax", {in({2, 3, 4})}, {integer("axis", 1)}},
    {"Hardmax", {in({2, 3, 4})}, {integer("axis", -1)}},
};

const OneNode contractions[] = {
    {"MatMul", {in({-1, 4, 6}), w({6, 8})}},
    {"MatMul", {list({1, 2}), list({3, 4})}},
    {"Gemm",
     {in({2, 3}), w({4, 3}), w({4})},
     {integer("transB", 1), real("alpha", 2), real("beta", 0.5)}},
    {"Einsum",
     {in({2, 3, 4}), in({2, 4, 5})},
     {text("equation", "...ij,...jk->...ik")}},
    {"Einsum", {in({3, 3})}, {text("equation", "ii")}},
    {"FusedMatMul",
     {in({2, 3, 4}), in({2, 5, 4})},
     {integer("transB", 1)},
     {"y"},
     "com.microsoft"},
    {"MoE",
     {in({4, 3}), in({4, 2}), w({2, 5, 3}), w({2, 5}), w({2, 3, 5}), w({2, 3})},
     {integer("k", 2), text("activation_type", "silu")},
     {"y"},
     "com.microsoft"},
    {"Conv",
     {in({1, 4, 6, 6}), w({4, 2, 3, 3}), w({4})},
     {integer("group", 2), ints("pads", {1, 1, 1, 1}), ints("strides", {2, 1}),
      ints("dilations", {1, 2})}},
    {"Conv", {in({1, 2, 9}), w({3, 2, 3})}, {text("auto_pad", "SAME_UPPER")}},
    {"ConvTranspose",
     {in({1, 2, 4, 4}), w({2, 3, 3, 3})},
     {ints("strides", {2, 2}), ints("output_padding", {1, 1})}},
    {"ConvTranspose",
     {in({1, 2, 4}), w({2, 3, 3})},
     {ints("output_shape", {8})}},
    {"MaxPool",
     {in({1, 2, 5, 5})},
     {ints("kernel_shape", {2, 2}), ints("strides", {2, 2}),
      integer("ceil_mode", 1)}},
    {"AveragePool",
     {in({1, 2, 5})},
     {ints("kernel_shape", {3}), ints("pads", {1, 1}),
      integer("count_include_pad", 1)}},
    {"GlobalAveragePool", {in({1, 2, 5, 5})}},
    {"Attention",
     {in({2, 3, 8}), in({2, 5, 4}), in({2, 5, 4}), in({3, 5}, kBool)},
     {integer("q_num_heads", 4), integer("kv_num_heads", 2),
      integer("is_causal", 1)}},
    {"Attention",
     {in({1, 2, 3, 4}), in({1, 2, 3, 4}), in({1, 2, 3, 4}), none(),
      in({1, 2, 2, 4}), in({1, 2, 2, 4})},
     {real("softcap", 2), integer("qk_matmul_output_mode", 1)},
     {"y", "key", "value", "scores"}},
    {"RotaryEmbedding",
     {in({1, 2, 3, 4}), w({8, 2}), w({8, 2}), in({1, 3}, kInt64)}},
};

const OneNode reductions[] = {
    {"ReduceSum", {in({2, 3, 4}), list({1, -1})}, {integer("keepdims", 0)}},
    {"ReduceMax", {in({2, 3}, kBool)}},
    {"ReduceL2", {in({2, 3}, 6)}},
    {"ReduceLogSumExp", {in({2, 3}), list({1})}, {integer("keepdims", 0)}},
    {"ArgMax", {in({2, 3})}, {integer("axis", 1)}},
    {"CumSum", {in({2, 3}), number(1)}, {integer("reverse", 1)}},
    {"TopK", {in({2, 8}), list({3})}, {}, {"y", "places"}},
    {"LayerNormalization", {in({2, 3, 4}), w({4}), w({4})}, {}, {"y", "m"}},
    {"RMSNormalization", {in({2, 3, 4}), w({4})}},
    {"SkipLayerNormalization",
     {in({2, 3, 4}), in({2, 3, 4}), w({4}), w({4})},
     {},
     {"y", "", "", "sum"},
     "com.microsoft"},
    {"BatchNormalization", {in({2, 3, 4, 4}), w({3}), w({3}), w({3}), w({3})}},
    {"InstanceNormalization", {in({2, 3, 4}), w({3}), w({3})}},
    {"GroupNormalization",
     {in({2, 4, 3}), w({4}), w({4})},
     {integer("num_groups", 2)}},
    {"LpNormalization", {in({2, 3})}, {integer("p", 1)}},
    {"MeanVarianceNormalization", {in({2, 3, 2, 2})}},
    {"LRN", {in({1, 5, 2, 2})}, {integer("size", 3)}},
};

const OneNode layouts[] = {
    {"Transpose", {in({2, 3, 4})}, {ints("perm", {2, 0, 1})}},
    {"Reshape", {in({2, 3, 4}), list({0, -1})}},
    {"Flatten", {in({2, 3, 4})}, {integer("axis", 2)}},
    {"Squeeze", {in({2, 1, 4}), list({1})}},
    {"Unsqueeze", {in({2, 4}), list({0, -1})}},
    {"Concat", {in({2, 3}), w({2, 1})}, {integer("axis", 1)}},
    {"Expand", {in({3, 1}), list({2, 1, 6})}},
    {"Tile", {in({2, 3}), list({2, 2})}},
    {"DepthToSpace", {in({1, 8, 2, 3})}, {integer("blocksize", 2)}},
    {"SpaceToDepth", {in({1, 2, 4, 6})}, {integer("blocksize", 2)}},
    {"Trilu", {in({4, 4}), number(1)}, {integer("upper", 0)}},
    {"Slice",
     {in({8, 4}), list({1, -1}), list({7, -9}), list({0, 1}), list({2, -1})}},
    {"Split", {in({2, 6}), list({4, 2})}, {integer("axis", 1)}, {"y", "z"}},
    {"Split", {in({7})}, {integer("num_outputs", 2)}, {"y", "z"}},
    {"Pad", {in({2, 3}), list({0, 1, 0, 2}), in({})}},
    {"Pad", {in({4}), list({1, 1})}, {text("mode", "reflect")}},
    {"Resize",
     {in({1, 1, 4, 4}), none(), none(), list({1, 1, 8, 6})},
     {text("mode", "linear")}},
    {"Upsample", {in({1, 1, 2, 2}), list({1, 1, 2, 2})}},
};

const OneNode indexing[] = {
    {"Gather", {in({4, 3}), list({2, 0})}, {integer("axis", 0)}},
    {"Gather", {w({8, 4}), in({2, 3}, kInt64)}},
    {"GatherElements", {in({3, 2}), in({3, 2}, kInt64)}, {integer("axis", 1)}},
    {"GatherND", {in({3, 2}), in({2, 1}, kInt64)}},
    {"ScatterElements",
     {in({3, 3}), in({1, 3}, kInt64), in({1, 3})},
     {text("reduction", "add")}},
    {"ScatterND", {in({4, 2}), in({2, 1}, kInt64), in({2, 2})}},
    {"OneHot", {in({3}, kInt64), number(4), list({0, 1})}},
    {"Shape", {in({-1, 3})}, {integer("start", 1)}},
    {"Size", {in({-1, 3})}},
    {"Constant", {}, {ints("value_ints", {1, 2})}},
    {"ConstantOfShape",
     {list({2, 3})},
     {tensorAttribute("value", integers("v", {1}, {7}))}},
    {"Range", {number(0), number(9), number(2)}},
    {"EyeLike", {in({3, 4})}, {integer("k", 1)}},
    {"NonZero", {list({0, 1, 2, 0})}},
};

/// Returns a model with the shape "all but the last dim, then 3", and a mask of
/// indices.
std::string shapes() {
  Message graph;
  graph.text(11, typed("x", kFloat, {-1, 6}))
      .text(5, integers("zero", {1}, {0}))
      .text(5, integers("tail", {2}, {2, 3}))
      .text(1, node("Shape", {"x"}, {"s"}))
      .text(1, node("Gather", {"s", "zero"}, {"b"}))
      .text(1, node("Concat", {"b", "tail"}, {"c"}, "", {integer("axis", 0)}))
      .text(1, node("ConstantOfShape", {"c"}, {"o"}))
      .text(1, node("Trilu", {"o"}, {"t"}))
      .text(1, node("Cast", {"t"}, {"m"}, "", {integer("to", kBool)}))
      .text(1, node("Reshape", {"x", "c"}, {"r"}))
      .text(1, node("Where", {"m", "r", "o"}, {"y"}))
      .text(12, value("y"));
  return wrap(graph);
}

std::string sequences() {
  Message graph;
  graph.text(11, typed("x", kFloat, {6, 2}))
      .text(5, integers("two", {}, {2}))
      .text(1, node("SplitToSequence", {"x", "two"}, {"s"}))
      .text(1, node("SequenceAt", {"s", "two"}, {"e"}))
      .text(1, node("SequenceConstruct", {"e", "e"}, {"p"}))
      .text(1, node("SequenceLength", {"p"}, {"n"}))
      .text(1, node("ConcatFromSequence", {"p"}, {"y"}, "",
                    {integer("axis", 0), integer("new_axis", 1)}))
      .text(12, value("y"))
      .text(12, value("n"));
  return wrap(graph);
}

/// Returns an If whose condition follows from shapes, with a weight in a
/// branch.
std::string conditional() {
  const auto branch = [](const std::string &op, const std::string &weight) {
    Message graph;
    graph.text(1, node(op, {"x", weight}, {op + ".y"}))
        .text(5, zeros(weight, {2}))
        .text(12, value(op + ".y"));
    return graphAttribute(op == "Add" ? "then_branch" : "else_branch", graph);
  };
  Message graph;
  graph.text(11, typed("x", kFloat, {-1, 2}))
      .text(5, integers("four", {}, {4}))
      .text(1, node("Size", {"x"}, {"s"}))
      .text(1, node("Equal", {"s", "four"}, {"c"}))
      .text(1, node("If", {"c"}, {"y"}, "if",
                    {branch("Add", "v"), branch("Mul", "w")}))
      .text(12, value("y"));
  return wrap(graph);
}

std::string functions() {
  const std::string leaf =
      function({.name = "F",
                .inputs = {"p", "o"},
                .outputs = {"r"},
                .nodes = {node("Mul", {"p", "o"}, {"m"}),
                          node("Softmax", {"m"}, {"r"}, "s",
                               {reference("axis", "by", 2)})},
                .attributes = {"by"}});
  Message graph;
  graph.text(11, typed("x", kFloat, {2, 3}))
      .text(1, node("F", {"x", "x"}, {"y"}, "f", {integer("by", 1)}, "my"))
      .text(1, node("F", {"y", "w"}, {"z"}, "", {}, "my"))
      .text(5, external(
                   "w", {2, 3},
                   {{"location", "w.bin"}, {"offset", "8"}, {"length", "24"}}))
      .text(12, value("z"));
  return model(graph, {leaf});
}

bool write(const std::string &path, const std::string &bytes) {
  return std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()))
      .good();
}

/// Old forms are included: each op at the newest version and at an old one.
template <size_t count>
bool writeFamily(const std::string &prefix, const OneNode (&family)[count]) {
  for (size_t i = 0; i < count; ++i)
    for (int64_t version : {24, 5})
      if (!write(prefix + std::to_string(i) + "-" + family[i].op + "-" +
                     std::to_string(version),
                 modelOf(family[i], version)))
        return false;
  return true;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: import-seeds DIRECTORY\n");
    return 2;
  }
  const std::string folder = std::string(argv[1]) + "/";
  const bool written = writeFamily(folder + "element-wise-", elementWise) &&
                       writeFamily(folder + "contraction-", contractions) &&
                       writeFamily(folder + "reduction-", reductions) &&
                       writeFamily(folder + "layout-", layouts) &&
                       writeFamily(folder + "indexing-", indexing) &&
                       write(folder + "shapes", shapes()) &&
                       write(folder + "sequences", sequences()) &&
                       write(folder + "conditional", conditional()) &&
                       write(folder + "functions", functions());
  return written ? 0 : 7;
}
