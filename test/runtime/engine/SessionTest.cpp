//===- SessionTest.cpp - ranks that are told what to do next --------------===//

#include "test/runtime/engine/ThreadRun.h"

using namespace pcc;
using namespace pcc::runtime;
using namespace pcc::test;

namespace {
/// y = x [4, 6], whose columns are split over two ranks.
class Session : public testing::Test {
protected:
  Session() {
    TestProgram builder({{"pp", 1}, {"tp", 2}});
    const Layout columns = test::makeLayout({{{4}}, {{6, {builder.axis(1)}}}});
    const int x = builder.input("x", ElementType::F32, {4, 6}, columns);
    builder.output("y", x, {4, 6}, columns);
    builder.runAll();
    run.add(builder);
    options.quiet = true;
  }

  static InputArrays given(const std::vector<float> &x) {
    return {{"x", {ElementType::F32, {4, 6}, x.data()}}};
  }

  ThreadRun run;
  RunOptions options;
};
} // namespace

TEST_F(Session, EveryStepSeesItsArrays) {
  std::vector<float> first = iota(24), second = iota(24), y(24);
  for (float &value : second)
    value *= 10;
  std::byte *const places[] = {reinterpret_cast<std::byte *>(y.data())};
  for (const std::vector<float> &x : {first, second}) {
    const Status status = run.each(options, [&](Rank &rank) {
      RankReport report;
      Status status = rank.open();
      for (const InputArrays &arrays : {given(first), given(x)}) {
        if (status.ok())
          status = rank.setInputs(arrays);
        if (status.ok())
          status = rank.step(report);
      }
      return status.ok() ? rank.copyOutputs(places) : status;
    });
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(y, x);
  }
}

TEST_F(Session, AnInputThatDoesNotFitEndsNothing) {
  const std::vector<float> x = iota(24);
  const Status status = run.each(options, [&](Rank &rank) {
    RankReport report;
    Status status = rank.open();
    const InputArrays flat = {{"x", {ElementType::F32, {24}, x.data()}}};
    EXPECT_EQ(rank.setInputs(flat).message(),
              "input 'x' has shape [24], not [4, 6]");
    const InputArrays integers = {{"x", {ElementType::I32, {4, 6}, x.data()}}};
    EXPECT_EQ(rank.setInputs(integers).message(),
              "input 'x' has type i32, not f32");
    EXPECT_EQ(rank.setInputs({{"z", {}}}).message(),
              "the model has no input 'z'; nearest: 'x'");
    EXPECT_EQ(rank.setInputs({}).code(), BadInput);
    if (status.ok())
      status = rank.setInputs(given(x));
    return status.ok() ? rank.step(report) : status;
  });
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(Session, ARankThatIsGivenUpTakesNoStep) {
  RunOptions hurried = options;
  hurried.isGivenUp = [] { return true; };
  const std::vector<float> x = iota(24);
  const Status status = run.each(hurried, [&](Rank &rank) {
    RankReport report;
    Status status = rank.open();
    if (status.ok())
      status = rank.setInputs(given(x));
    return status.ok() ? rank.step(report) : status;
  });
  EXPECT_EQ(status.code(), PeerLost);
  EXPECT_EQ(status.message(), "the run was aborted");
}

TEST_F(Session, AProgramThatDoesNotTrainHasNoCheckpoints) {
  const Status status = run.each(options, [](Rank &rank) {
    Status status = rank.open();
    return status.ok() ? rank.save("nowhere") : status;
  });
  EXPECT_EQ(status.code(), WrongUsage);
  EXPECT_EQ(status.message(), "the bundle does not train");
}
