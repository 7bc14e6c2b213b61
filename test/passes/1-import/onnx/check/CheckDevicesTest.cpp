//===- CheckDevicesTest.cpp - annotations of what is not there ------------===//

#include "passes/1-import/onnx/ReadModel.h"
#include "test/passes/1-import/onnx/Builder.h"

#include <gtest/gtest.h>

using namespace pcc;
using namespace pcc::onnx;
using namespace pcc::onnx::build;

namespace {

Message sharded(int64_t axis, const std::vector<int64_t> &counts) {
  Message dim;
  dim.number(1, axis);
  for (int64_t count : counts)
    dim.text(2, Message().number(3, count));
  return dim;
}

Message group(int64_t key, const std::vector<int64_t> &members) {
  return Message().number(1, key).numbers(2, members, true);
}

Message spec(const std::string &tensor, const std::vector<int64_t> &list) {
  return Message().text(1, tensor).numbers(2, list, true);
}

/// Reads y = Relu(x) with these annotations on node "n" and a configuration "c"
/// of four devices. Returns the error.
std::string errorOf(const Messages &specs, const std::string &id = "c",
                    const std::string &configurations = devices("c", 4)) {
  const std::string own = Message().text(1, id).texts(2, specs);
  const std::string annotated =
      node("Relu", {"x"}, {"y"}, "n") + std::string(Message().text(10, own));
  const std::string bytes =
      model(graph({annotated}, {"x"}, {"y"})) + configurations;
  const StatusOr<Model> read = readModelFromBytes(bytes, "x.onnx");
  if (read)
    return "";
  EXPECT_EQ(read.status().code(), CannotMeet);
  return read.status().message();
}

} // namespace

TEST(CheckDevices, WhatIsThereMayBeAnnotated) {
  EXPECT_EQ(errorOf({spec("x", {0, 1, 2, 3}).text(4, sharded(0, {4})),
                     spec("y", {-1, -2})
                         .text(3, group(-1, {0, 1}))
                         .text(3, group(-2, {2, 3}))
                         .text(4, sharded(-1, {2}))}),
            "");
  EXPECT_EQ(errorOf({spec("x", {}).text(4, sharded(0, {2, 2}))}), "");
  EXPECT_EQ(errorOf({spec("x", {0, 1, 2, 3})}), "");
}

TEST(CheckDevices, Names) {
  EXPECT_EQ(errorOf({spec("ghost", {})}),
            "node 'n' (Relu): shards 'ghost', which is neither an input nor an "
            "output of it");
  EXPECT_EQ(errorOf({spec("x", {}), spec("x", {})}),
            "node 'n' (Relu): shards 'x' twice");
  EXPECT_EQ(errorOf({}, "nowhere"),
            "node 'n' (Relu): the model has no device configuration 'nowhere'");
}

TEST(CheckDevices, Configurations) {
  EXPECT_EQ(errorOf({}, "c", devices("c", 2) + devices("c", 4)),
            "device configuration 'c' is listed twice");
  EXPECT_EQ(errorOf({}, "c", devices("c", 0)),
            "device configuration 'c' has 0 devices; from 1 to 65536 are "
            "possible");
  EXPECT_EQ(errorOf({}, "c", devices("c", 4, {"a", "b"})),
            "device configuration 'c' names 2 devices, but has 4");
}

TEST(CheckDevices, Shards) {
  const std::string of = "node 'n' (Relu): the sharding of 'x' ";
  EXPECT_EQ(errorOf({spec("x", {0, 1, 2}).text(4, sharded(0, {4}))}),
            of + "has 4 shards, but lists 3 devices or groups");
  EXPECT_EQ(errorOf({spec("x", {}).text(4, sharded(0, {8}))}),
            of + "has 8 shards for 4 devices");
  EXPECT_EQ(errorOf({spec("x", {}).text(4, sharded(0, {0}))}),
            of + "splits axis 0 into 0 shards");
  EXPECT_EQ(errorOf({spec("x", {}).text(4, sharded(0, {}))}),
            of + "does not say into how many shards it splits axis 0");
  EXPECT_EQ(
      errorOf(
          {spec("x", {}).text(4, sharded(1, {2})).text(4, sharded(1, {2}))}),
      of + "splits axis 1 twice");
}

TEST(CheckDevices, DevicesAndGroups) {
  const std::string of = "node 'n' (Relu): the sharding of 'x' ";
  const std::string neither = ", which is neither the number of one of 4 "
                              "devices nor the key of a group";
  EXPECT_EQ(errorOf({spec("x", {0, 4}).text(4, sharded(0, {2}))}),
            of + "lists device 4" + neither);
  EXPECT_EQ(errorOf({spec("x", {-1, -2})
                         .text(3, group(-1, {0, 1}))
                         .text(4, sharded(0, {2}))}),
            of + "lists device -2" + neither);
  EXPECT_EQ(errorOf({spec("x", {1, 1}).text(4, sharded(0, {2}))}),
            of + "lists device 1 twice");
  EXPECT_EQ(errorOf({spec("x", {0}).text(3, group(-1, {0}))}),
            of + "has device group -1, which its device list does not use");
  EXPECT_EQ(errorOf({spec("x", {-1}).text(3, group(-1, {}))}),
            of + "has an empty device group -1");
  EXPECT_EQ(
      errorOf(
          {spec("x", {-1}).text(3, group(-1, {0})).text(3, group(-1, {1}))}),
      of + "has device group -1 twice");
  EXPECT_EQ(errorOf({spec("x", {0, -1})
                         .text(3, group(-1, {1, 2}))
                         .text(4, sharded(0, {2}))}),
            of + "gives one shard to 1 device and another to 2");
}

TEST(CheckDevices, SubgraphsAndFunctions) {
  const std::string bad =
      node("Relu", {"x"}, {"t"}, "inner") +
      std::string(Message().text(10, Message().text(1, "nowhere")));
  const std::string branch = graph({bad}, {}, {"t"});
  const std::string bytes = model(
      graph({node("If", {"c"}, {"y"}, "n", {graphAttribute("then", branch)})},
            {"x", "c"}, {"y"}));
  const StatusOr<Model> read = readModelFromBytes(bytes, "x.onnx");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.status().message(), "node 'inner' (Relu): the model has no "
                                     "device configuration 'nowhere'");
}
