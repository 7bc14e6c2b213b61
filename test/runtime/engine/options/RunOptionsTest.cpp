//===- RunOptionsTest.cpp -------------------------------------------------===//

#include "runtime/base/NumberCheck.h"
#include "runtime/engine/options/RunOptionsCheck.h"

#include <gtest/gtest.h>

using namespace pcc;
using namespace pcc::runtime;

TEST(NumberCheck, WholeNumbersHaveBounds) {
  for (const char *good : {"1", "4096", "007"})
    EXPECT_EQ(checkWholeNumber(good, 1, 4096), "") << good;
  EXPECT_EQ(checkWholeNumber("two", 1, 4096),
            "needs a whole number of at least 1, got 'two'");
  EXPECT_EQ(checkWholeNumber("4097", 1, 4096),
            "needs a whole number of at most 4096, got '4097'");
  EXPECT_EQ(checkWholeNumber("99999999999999999999", 1),
            "needs a whole number of at most 9223372036854775807, got "
            "'99999999999999999999'");
  for (const char *bad : {"", "0", "-1", "1.5", "1e3", "0x10", "1 ", "+1"})
    EXPECT_NE(checkWholeNumber(bad, 1, 4096), "") << bad;
}

TEST(NumberCheck, SeedsHave64Bits) {
  EXPECT_EQ(checkSeed("18446744073709551615"), "");
  for (const char *bad : {"18446744073709551616", "-1", "1.0", ""})
    EXPECT_NE(checkSeed(bad), "") << bad;
}

TEST(NumberCheck, RealNumbersAreFiniteAndInRange) {
  const RealRange positive{.least = 0, .excludesLeast = true};
  EXPECT_EQ(checkRealNumber("1.2e12", positive), "");
  EXPECT_EQ(checkRealNumber("nan", positive),
            "needs a number above 0, got 'nan'");
  for (const char *bad : {"0", "-1", "inf", "1e999", "", "1x", "-nan"})
    EXPECT_NE(checkRealNumber(bad, positive), "") << bad;
  const RealRange beta{.least = 0, .most = 1, .excludesMost = true};
  EXPECT_EQ(checkRealNumber("0", beta), "");
  EXPECT_EQ(checkRealNumber("1", beta),
            "needs a number from 0 to below 1, got '1'");
}

TEST(RunOptionsCheck, WeightsAreReadFromTheFolderThatIsGiven) {
  program::ProgramT program;
  RunOptions options;
  options.weights = "folder";
  EXPECT_TRUE(checkWeightsOption(options, program).ok());
  program.parameters.push_back(std::make_unique<program::ParameterT>());
  EXPECT_EQ(checkWeightsOption(options, program).code(), WrongUsage);
  EXPECT_TRUE(checkWeightsOption({}, program).ok());
  program.parameters[0]->filled = true;
  EXPECT_TRUE(checkWeightsOption(options, program).ok());
  program.files.push_back(std::make_unique<program::WeightFileT>());
  program.files[0]->in_bundle = true;
  EXPECT_EQ(checkWeightsOption(options, program).message(),
            "--weights replaces the folder of weight files, but the bundle "
            "holds its weights");
  program.files[0]->in_bundle = false;
  EXPECT_TRUE(checkWeightsOption(options, program).ok());
}

TEST(RunOptionsCheck, NoOptionIsIgnored) {
  const RunOptions none;
  EXPECT_TRUE(checkRunOptions(none, false, false).ok());
  EXPECT_TRUE(checkRunOptions(none, true, false).ok());
  RunOptions training;
  training.save = "saved";
  training.saveEvery = 2;
  training.steps = 3;
  EXPECT_TRUE(checkRunOptions(training, true, false).ok());
  EXPECT_EQ(checkRunOptions(training, false, false).code(), WrongUsage);
  training.save.clear();
  EXPECT_EQ(checkRunOptions(training, true, false).message(),
            "--save-every needs --save DIR");
  RunOptions lines;
  lines.metrics = "-";
  EXPECT_EQ(checkRunOptions(lines, true, false).message(),
            "--metrics needs a file, since the lines of steps are on stdout, "
            "got '-'");
  RunOptions inference;
  inference.repeat = 3;
  EXPECT_TRUE(checkRunOptions(inference, false, false).ok());
  EXPECT_EQ(checkRunOptions(inference, true, false).code(), WrongUsage);
  RunOptions gpus;
  gpus.shareGpu = true;
  EXPECT_TRUE(checkRunOptions(gpus, false, true).ok());
  EXPECT_EQ(checkRunOptions(gpus, false, false).message(),
            "--share-gpu is for GPUs, but the bundle runs on CPUs");
}
