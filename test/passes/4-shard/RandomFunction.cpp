//===- RandomFunction.cpp - small functions with pinned ends --------------===//

#include "test/passes/4-shard/RandomFunction.h"

#include <random>
#include <vector>

using namespace pcc;

namespace {
struct Matrix {
  std::string name;
  int64_t rows, columns;

  std::string type() const {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) +
           "xf32>";
  }
};

class Writer {
public:
  explicit Writer(uint64_t seed) : random(seed) {}

  std::string write() {
    static const char *const meshes[] = {"a = 2", "a = 4", "a = 2, b = 2",
                                         "a = 2, b = 3", "a = 2, b = 2, c = 2"};
    const uint64_t mesh = below(5);
    numAxes = mesh < 2 ? 1 : mesh < 4 ? 2 : 3;
    for (uint64_t i = 0, count = 1 + below(2); i < count; ++i)
      addInput();
    for (uint64_t i = 0, count = 2 + below(numAxes == 1 ? 6 : 3); i < count;
         ++i)
      addOp();
    const Matrix &last = values.back();
    pin("y");
    return "module attributes {dist.mesh = #dist.mesh<" +
           std::string(meshes[mesh]) + ">, dist.seeds = [" + seeds +
           "]} {\n  func.func @main(" + inputs + ") -> (" + last.type() +
           " {graph.name = \"y\"}) {\n" + body + "    return %" + last.name +
           " : " + last.type() + "\n  }\n}\n";
  }

private:
  // Returns a number below `count`. std::uniform_int_distribution differs
  // between libraries.
  uint64_t below(uint64_t count) { return random() % count; }
  const Matrix &any() { return values[below(values.size())]; }

  /// Splits at most one dim by each axis.
  void pin(const std::string &name) {
    std::string dims[2];
    for (int axis = 0; axis < numAxes; ++axis)
      if (uint64_t dim = below(3); dim < 2)
        dims[dim] += (dims[dim].empty() ? "" : "+") +
                     std::string(1, static_cast<char>('a' + axis));
    for (std::string &dim : dims)
      if (dim.empty())
        dim = "-";
    seeds += (seeds.empty() ? "\"" : ", \"") + name + "=[" + dims[0] + "," +
             dims[1] + "]\"";
  }

  void addInput() {
    static constexpr int64_t sizes[] = {4, 6, 8};
    Matrix input{"x" + std::to_string(values.size()), sizes[below(3)],
                 sizes[below(3)]};
    inputs += (inputs.empty() ? "%" : ", %") + input.name + ": " +
              input.type() + " {graph.name = \"" + input.name + "\"}";
    if (below(3) > 0)
      pin(input.name);
    values.push_back(std::move(input));
  }

  void define(int64_t rows, int64_t columns, const std::string &text) {
    Matrix value{"v" + std::to_string(values.size()), rows, columns};
    const bool pinned = below(5) == 0;
    if (pinned)
      pin(value.name);
    const size_t colon = text.find(" : ");
    body += "    %" + value.name + " = " + text.substr(0, colon) +
            (pinned ? " {graph.name = \"" + value.name + "\"}" : "") +
            text.substr(colon) + "\n";
    values.push_back(std::move(value));
  }

  void addOp() {
    const Matrix a = any(), b = any();
    const std::string one = " %" + a.name,
                      two = one + ", %" + b.name + " : " + a.type() + ", " +
                            b.type(),
                      type = " : " + a.type();
    switch (below(6)) {
    case 0:
      return define(a.columns, a.rows,
                    "graph.transpose" + one + " [1, 0]" + type);
    case 1:
      return define(a.rows, a.columns,
                    "graph.softmax" + one + " over 1" + type);
    case 2:
      if (a.rows == b.rows && a.columns == b.columns)
        return define(a.rows, a.columns, "graph.add" + two);
      [[fallthrough]];
    case 3:
      if (a.columns == b.rows)
        return define(a.rows, b.columns, "graph.matmul" + two);
      [[fallthrough]];
    default:
      return define(a.rows, a.columns, "graph.relu" + one + type);
    }
  }

  std::mt19937_64 random;
  int numAxes = 1;
  std::vector<Matrix> values;
  std::string inputs, body, seeds;
};
} // namespace

std::string shard::randomFunction(uint64_t seed) {
  return Writer(seed).write();
}
