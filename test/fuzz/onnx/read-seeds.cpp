//===- read-seeds.cpp - writes the corpus that the fuzzer begins with -----===//

#include "test/passes/1-import/onnx/Builder.h"

#include <cstdio>
#include <fstream>

using namespace pcc::onnx::build;

namespace {

std::string typedTensor(const std::string &name, int type, uint32_t field,
                        bool packed) {
  return Message().number(1, 2).number(2, type).text(8, name).numbers(
      field, {1, 2}, packed);
}

std::string tensors() {
  const std::string floats =
      Message().number(1, 2).number(2, 1).text(8, "f").real(4, 1).real(4, 2);
  const std::string texts =
      Message().number(1, 1).number(2, 8).text(8, "t").text(6, "text");
  return model(graph(
      {}, {}, {"a"},
      {zeros("z", {2, 3}), floats, texts, typedTensor("a", 7, 7, true),
       typedTensor("b", 6, 5, false), typedTensor("c", 13, 11, true),
       external("e", {2, 2}, {{"location", "w.bin"}, {"length", "16"}})}));
}

std::string subgraphs() {
  const std::string inner =
      graph({node("Add", {"a", "w"}, {"t"})}, {}, {"t"}, {zeros("w", {1})});
  return model(graph(
      {node("If", {"c"}, {"y"}, "if",
            {graphAttribute("then", inner), graphAttribute("else", inner)}),
       node("Relu", {"x"}, {"a"})},
      {"x", "c"}, {"y"}));
}

std::string functions() {
  const std::string inner =
      graph({node("Add", {"p", "q"}, {"t"})}, {"q"}, {"t"});
  const std::string leaf = function(
      {.name = "F",
       .inputs = {"p", "o"},
       .outputs = {"r", "p"},
       .nodes = {node("Mul", {"p", "o"}, {"m"}, "", {reference("k", "by", 2)}),
                 node("Scan", {"m"}, {"r"}, "s", {graphAttribute("g", inner)})},
       .attributes = {"by"},
       .defaults = {integer("of", 1)}});
  const std::string outer =
      function({.name = "G",
                .inputs = {"a"},
                .outputs = {"b"},
                .nodes = {node("F", {"a", "a"}, {"b", "c"}, "f",
                               {integer("by", 3)}, "my")}});
  return model(graph({node("G", {"x"}, {"y"}, "g", {}, "my"),
                      node("F", {"y"}, {"z", "u"}, "", {}, "my")},
                     {"x"}, {"z", "u"}),
               {leaf, outer});
}

std::string devices() {
  const std::string group = Message().number(1, -1).numbers(2, {0, 1}, true);
  const std::string sharded =
      Message().number(1, 0).text(2, Message().number(1, 4).number(3, 2));
  const std::string spec =
      Message().text(1, "x").numbers(2, {-1}).text(3, group).text(4, sharded);
  const std::string relu =
      Message().text(1, "x").text(2, "y").text(4, "Relu").text(
          10, Message().text(1, "c").text(2, spec).number(3, 1));
  return model(graph({relu}, {"x"}, {"y"})) +
         std::string(Message().text(26, Message().text(1, "c").number(2, 2)));
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: onnx-read-seeds DIRECTORY\n");
    return 2;
  }
  const std::pair<const char *, std::string> seeds[] = {
      {"tensors", tensors()},
      {"subgraphs", subgraphs()},
      {"functions", functions()},
      {"devices", devices()},
  };
  for (const auto &[name, bytes] : seeds)
    if (!std::ofstream(std::string(argv[1]) + "/" + name, std::ios::binary)
             .write(bytes.data(), static_cast<std::streamsize>(bytes.size())))
      return 7;
  return 0;
}
