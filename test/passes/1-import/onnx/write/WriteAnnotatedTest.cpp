//===- WriteAnnotatedTest.cpp - a model file with annotations -------------===//

#include "passes/1-import/onnx/write/WriteAnnotated.h"
#include "passes/1-import/onnx/ReadModel.h"
#include "test/passes/1-import/onnx/Builder.h"

#include <gtest/gtest.h>

#include <sstream>

using namespace pcc;
using namespace pcc::onnx;
using namespace pcc::onnx::build;

namespace {

std::string annotated(const std::string &bytes, const Annotation &annotation) {
  const StatusOr<Model> model = readModelFromBytes(bytes, "x.onnx");
  EXPECT_TRUE(model);
  std::ostringstream out;
  writeAnnotated(*model, annotation, out);
  return out.str();
}

const std::string plain = model(graph(
    {node("Relu", {"x"}, {"t"}, "r"), node("MatMul", {"t", "w"}, {"y"}, "m")},
    {"x"}, {"y"}, {zeros("w", {2, 3})}));

Annotation onTwo() {
  Annotation annotation;
  annotation.configuration = {"pcc", 2, {}};
  annotation.metadata = {{"pcc.mesh", "tp=2"}};
  annotation.valueKey = "pcc.sharding";
  annotation.inputs = {{"x", "[-, -]"}};
  annotation.initializers = {{"w", "[-, tp]"}};
  ShardingSpec spec;
  spec.tensorName = "w";
  spec.devices = {0, 1};
  spec.shardedDims = {{1, {{3, {}, 2}}}};
  annotation.nodes[1] = {"pcc", {spec}, 0};
  return annotation;
}

} // namespace

TEST(Annotate, WhatIsWrittenIsRead) {
  const std::string bytes = annotated(plain, onTwo());
  const StatusOr<Model> model = readModelFromBytes(bytes, "x.onnx");
  ASSERT_TRUE(model) << model.status().message();
  EXPECT_EQ(model->irVersion, 11);
  EXPECT_EQ(model->configurations.at(0).numDevices, 2);
  EXPECT_EQ(model->metadata.at(0).value, "tp=2");
  EXPECT_EQ(model->graph.inputs[0].metadata.at(0).value, "[-, -]");
  EXPECT_EQ(model->graph.valueInfos.at(0).name, "w");
  EXPECT_EQ(model->graph.valueInfos[0].type.shape->size(), 2u);
  EXPECT_TRUE(model->graph.nodes[0].deviceConfigurations.empty());
  const NodeDeviceConfiguration &own =
      model->graph.nodes[1].deviceConfigurations.at(0);
  EXPECT_EQ(own.pipelineStage, 0);
  EXPECT_EQ(own.shardingSpecs.at(0).shardedDims.at(0).axis, 1);
  EXPECT_EQ(own.shardingSpecs[0].devices, std::vector<int64_t>({0, 1}));
  EXPECT_EQ(model->graph.initializers[0].raw, std::string(24, '\0'));
}

TEST(Annotate, Twice) {
  const std::string once = annotated(plain, onTwo());
  EXPECT_EQ(annotated(once, onTwo()), once);
}

TEST(Annotate, OtherAnnotationsStay) {
  const std::string own =
      node("Relu", {"x"}, {"y"}, "r") +
      std::string(Message().text(
          10, Message().text(1, "theirs").text(2, Message().text(1, "x"))));
  const std::string bytes =
      model(graph({own}, {"x"}, {"y"})) + devices("theirs", 3);
  Annotation annotation;
  annotation.configuration = {"pcc", 2, {}};
  annotation.nodes[0] = {"pcc", {}, 1};
  const std::string both = annotated(bytes, annotation);
  const StatusOr<Model> model = readModelFromBytes(both, "x.onnx");
  ASSERT_TRUE(model) << model.status().message();
  EXPECT_EQ(model->configurations.size(), 2u);
  const auto &read = model->graph.nodes[0].deviceConfigurations;
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].configurationId, "theirs");
  EXPECT_EQ(read[0].shardingSpecs.at(0).tensorName, "x");
}

TEST(Annotate, LocationsTakeAPrefix) {
  const std::string bytes = model(
      graph({node("MatMul", {"x", "w"}, {"y"})}, {"x"}, {"y"},
            {external("w", {2, 3}, {{"location", "w.bin"}, {"offset", "8"}})}));
  Annotation annotation;
  annotation.configuration = {"pcc", 1, {}};
  annotation.locationPrefix = "models/";
  const std::string moved = annotated(bytes, annotation);
  const StatusOr<Model> model = readModelFromBytes(moved, "x.onnx");
  ASSERT_TRUE(model) << model.status().message();
  EXPECT_EQ(model->graph.initializers[0].external->location, "models/w.bin");
  EXPECT_EQ(model->graph.initializers[0].external->offset, "8");
}
