//===- PipelineTest.cpp - stages, microbatches, kernels -------------------===//

#include "test/runtime/engine/ThreadRun.h"

#include <fstream>
#include <nlohmann/json.hpp>

using namespace pcc;
using namespace pcc::runtime;
using namespace pcc::test;

/// Kernel out = in + scalar.
static void addScalar(void *const *buffers, const int64_t *scalars,
                      int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    static_cast<float *>(buffers[1])[i] =
        static_cast<const float *>(buffers[0])[i] + float(scalars[0]);
}

namespace {
constexpr int32_t microbatches = 3;
const std::vector<int64_t> shape = {6, 4};

/// x [6, 4] in 3 microbatches. Two or more stages add 1, 10, 100, …; every
/// transfer carries the buffers in `sent`: the value, or the value twice.
struct Pipeline {
  int64_t numPositions = 2;
  int64_t dp = 1;
  int messages = 1;
};

Layout rows(const TestProgram &builder, int64_t dp) {
  test::DividedFactor rest{6 / microbatches};
  if (dp > 1)
    rest.axes = {builder.axis(1)};
  return test::makeLayout({{{microbatches, {builder.mb()}}, rest}, {{4}}});
}

/// Adds `messages` transfers along each edge of the pipeline.
void addTransfers(TestProgram &builder, const Pipeline &pipeline, int in,
                  int out) {
  const int32_t index = builder.tables.position;
  const auto last = int32_t(pipeline.numPositions) - 1;
  for (int32_t stage = 0; stage < last; ++stage)
    for (int i = 0; i < pipeline.messages; ++i) {
      auto &transfer = builder.tables.transfers.emplace_back(
          std::make_unique<program::TransferT>());
      transfer->value = "value " + std::to_string(i);
      transfer->from_stage = stage;
      transfer->to_stage = stage + 1;
      transfer->from_buffer = stage == index ? out : -1;
      transfer->to_buffer = stage + 1 == index ? in : -1;
    }
}

/// Receives, runs and sends every microbatch in turn.
void addActions(TestProgram &builder, const Pipeline &pipeline) {
  const int32_t index = builder.tables.position;
  const auto last = int32_t(pipeline.numPositions) - 1;
  for (int32_t m = 0; m < microbatches; ++m) {
    const auto exchange = [&](int32_t edge, bool sends) {
      for (auto kind : {program::ActionKind::Post, program::ActionKind::Wait}) {
        auto &action = builder.action(kind, index, m, -1);
        auto &list = sends ? action.sends : action.receives;
        for (int i = 0; i < pipeline.messages; ++i)
          list.emplace_back(edge * pipeline.messages + i, m);
      }
    };
    if (index > 0)
      exchange(index - 1, false);
    builder.action(program::ActionKind::Forward, index, m, 0);
    if (index < last)
      exchange(index, true);
  }
}

TestProgram position(const Pipeline &pipeline, int32_t index) {
  TestProgram builder({{"pp", pipeline.numPositions}, {"dp", pipeline.dp}},
                      microbatches);
  const auto last = int32_t(pipeline.numPositions) - 1;
  builder.tables.position = index;
  builder.tables.stage_positions.clear();
  for (int32_t stage = 0; stage <= last; ++stage)
    builder.tables.stage_positions.push_back(stage);
  const Layout layout = rows(builder, pipeline.dp);
  const std::vector<int64_t> local = localShape(layout);
  int in = -1, out = -1;
  if (index == 0)
    in = builder.input("x", ElementType::F32, shape, layout);
  else
    in = builder.arena("received", ElementType::F32, local);
  if (index == last)
    out = builder.output("y", ElementType::F32, shape, layout);
  else
    out = builder.arena("sent", ElementType::F32, local);
  if (index != 0) {
    builder.tables.inputs.push_back(std::make_unique<program::InputT>());
    builder.tables.inputs.back()->name = "x";
    builder.tables.inputs.back()->shape = shape;
  }
  if (index != last) {
    builder.tables.outputs.push_back(std::make_unique<program::OutputT>());
    builder.tables.outputs.back()->name = "y";
    builder.tables.outputs.back()->shape = shape;
  }
  addTransfers(builder, pipeline, in, out);
  auto &kernel = builder.kernel({in, out}, numElements(local));
  kernel.scalars.push_back(std::make_unique<program::ScalarT>());
  int64_t step = 1;
  for (int32_t i = 0; i < index; ++i)
    step *= 10;
  kernel.scalars[0]->base = step;
  addActions(builder, pipeline);
  return builder;
}

void check(const Pipeline &pipeline) {
  ThreadRun run;
  run.setKernels({addScalar});
  float sum = 0, step = 1;
  for (int32_t i = 0; i < pipeline.numPositions; ++i, step *= 10) {
    run.add(position(pipeline, i));
    sum += step;
  }
  const Folder folder;
  const Status status =
      run.run({{"x", folder.write("x.npy", ElementType::F32, shape, iota(24))}},
              folder.path + "/out");
  ASSERT_TRUE(status.ok()) << status.message();
  auto expected = iota(24);
  for (float &value : expected)
    value += sum;
  EXPECT_EQ(folder.read<float>("out/y.npy"), expected);
  EXPECT_EQ(folder.files(),
            (std::vector<std::string>{"out", "out/y.npy", "x.npy"}));
}
} // namespace

TEST(Pipeline, OneStageRunsItsMicrobatches) { check({.numPositions = 1}); }
TEST(Pipeline, TwoStages) { check({}); }
TEST(Pipeline, FourStagesTimesTwo) { check({.numPositions = 4, .dp = 2}); }
TEST(Pipeline, SeveralValuesCrossAtOnce) { check({.messages = 3}); }

TEST(Pipeline, RepeatsAreReported) {
  ThreadRun run;
  run.setKernels({addScalar});
  for (int32_t i = 0; i < 2; ++i)
    run.add(position({}, i));
  const Folder folder;
  RunOptions options;
  options.randomInputs = 5;
  options.repeat = 3;
  options.warmup = 1;
  options.quiet = true;
  options.report = folder.path + "/report.json";
  const Status status = run.run(options);
  ASSERT_TRUE(status.ok()) << status.message();
  std::ifstream file(options.report);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  for (const char *key :
       {"\"ranks\"", "\"rank\": 1", "\"idle_seconds\"", "\"compute_seconds\"",
        "\"wait_seconds\"", "\"arena_bytes\"", "\"peak_memory_bytes\"",
        "\"step\": 2"})
    EXPECT_NE(text.find(key), std::string::npos) << key;
  EXPECT_EQ(text.find("\"step\": 3"), std::string::npos);
}

/// A row per rank with its actions and exchanges, by one clock.
TEST(Pipeline, TheLastStepIsDrawn) {
  ThreadRun run;
  run.setKernels({addScalar});
  for (int32_t i = 0; i < 2; ++i)
    run.add(position({.dp = 2}, i));
  const Folder folder;
  RunOptions options;
  options.randomInputs = 5;
  options.repeat = 2;
  options.quiet = true;
  options.trace = folder.path + "/step.json";
  options.scheduleSvg = folder.path + "/step.svg";
  const Status status = run.run(options);
  ASSERT_TRUE(status.ok()) << status.message();
  std::ifstream file(options.trace);
  const auto trace = nlohmann::json::parse(file);
  std::map<std::string, int> counts;
  for (const auto &event : trace.at("traceEvents"))
    if (event.at("ph") == "X") {
      ++counts[event.at("name").get<std::string>().substr(0, 3)];
      EXPECT_GE(event.at("ts").get<double>(), 0);
      const bool isKernel = event.at("cat") == "kernel";
      EXPECT_EQ(event.contains("tdur"), event.at("tid") == 0 && !isKernel)
          << "the time on a core is that of actions";
      EXPECT_TRUE(!isKernel || event.at("tid") == 0)
          << "kernels are below the actions";
    }
  EXPECT_GT(counts["Ker"], 0) << "a kernel that tells no ops";
  EXPECT_EQ(counts["0F0"], 2);
  EXPECT_EQ(counts["1F1"], 2);
  EXPECT_GT(counts["1X0"], 0);
  EXPECT_EQ(folder.files(),
            (std::vector<std::string>{"step.json", "step.svg"}));
}

TEST(Pipeline, WrongPositionIsRefused) {
  ThreadRun run;
  run.setKernels({addScalar});
  run.add(position({}, 1));
  run.add(position({}, 0));
  RunOptions options;
  options.randomInputs = 5;
  options.timeout = options.loadTimeout = 5;
  EXPECT_EQ(run.run(options).code(), DamagedBundle);
}

TEST(Pipeline, MixedBundlesAreRefused) {
  ThreadRun run;
  run.setKernels({addScalar});
  TestProgram other = position({}, 1);
  other.tables.plan_hash = 77;
  run.add(position({}, 0));
  run.add(other);
  RunOptions options;
  options.randomInputs = 5;
  options.timeout = options.loadTimeout = 5;
  const Status status = run.run(options);
  EXPECT_EQ(status.code(), DamagedBundle);
  EXPECT_EQ(status.message(), "rank 1 has another bundle than rank 0");
}
