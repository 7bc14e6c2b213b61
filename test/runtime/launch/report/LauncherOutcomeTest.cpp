//===- LauncherOutcomeTest.cpp - from a launcher's end to the exit code ---===//

#include "runtime/launch/report/LauncherOutcome.h"
#include "runtime/launch/report/FirstFailure.h"
#include "runtime/launch/report/LauncherOutput.h"

#include <gtest/gtest.h>

namespace pcc::runtime {

static int exited(int code) { return code << 8; }

TEST(LauncherOutput, PassesOnWhatRanksMeanForTheUser) {
  LauncherOutput output;
  const std::string table = tableLines("ranks  step\n0      1 s\n");
  EXPECT_EQ(output.take("-----\n" + table.substr(0, 20)), "");
  EXPECT_EQ(output.take(table.substr(20) + "\nmpirun detected\npcc: note: x\n"),
            "ranks  step\n0      1 s\npcc: note: x\n");
  EXPECT_EQ(output.take("note: unended"), "");
  EXPECT_EQ(output.takeRest(), "note: unended\n");
  EXPECT_EQ(output.takeRest(), "");
  EXPECT_EQ(firstStatement(output.noise()), "mpirun detected");
}

TEST(LauncherOutput, TakesTrainingStepsInTheirOrder) {
  LauncherOutput output;
  const std::string lines = trainingStepLine({.step = 1, .lastStep = 2}) +
                            trainingStepLine({.step = 2, .lastStep = 2});
  EXPECT_EQ(output.take(lines.substr(0, 20)), "");
  EXPECT_TRUE(output.takeSteps().empty());
  EXPECT_EQ(output.take(lines.substr(20) + "pcc-step: nonsense\n"), "");
  const std::vector<TrainingLine> steps = output.takeSteps();
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].step, 1);
  EXPECT_EQ(steps[1].step, 2);
  EXPECT_TRUE(output.takeSteps().empty()) << "each is taken once";
  EXPECT_EQ(output.noise().size(), 1u);
}

TEST(LauncherOutput, IsSafeToPrint) {
  LauncherOutput output;
  EXPECT_EQ(output.take("note: \x1b[31mred\n"), "note: \\x1b[31mred\n");
  EXPECT_EQ(formatFailure(Status::error(PeerLost, "a\x1b", {"b\a"})),
            "pcc: error: a\\x1b\nnote: b\\x07\n");
}

TEST(LauncherOutput, KeepsTheLatestNoise) {
  LauncherOutput output;
  for (int i = 0; i < 1000; ++i)
    output.take("line " + std::to_string(i) + "\n");
  EXPECT_EQ(output.noise().size(), 200u);
  EXPECT_EQ(output.noise().back(), "line 999");
}

TEST(Outcome, SuccessNeedsZero) {
  EXPECT_TRUE(translateOutcome({.waitStatus = 0, .started = true}).ok());
}

TEST(Outcome, ReportOfARankCountsMost) {
  const Status reported = Status::error(BadInput, "input ids is missing");
  const Status status = translateOutcome(
      {.waitStatus = exited(137), .started = true, .reported = reported});
  EXPECT_EQ(status.code(), BadInput);
  EXPECT_EQ(status.message(), "input ids is missing");
}

TEST(Outcome, KilledRankIsNamed) {
  for (const std::deque<std::string> &noise :
       {std::deque<std::string>{"mpirun noticed that process rank 3 with PID 0 "
                                "on node vm exited on signal 9 (Killed)."},
        {"mpirun noticed that process rank 3 with PID 71 on node vm",
         "exited on signal 9 (Killed)."}}) {
    const Status status = translateOutcome(
        {.waitStatus = exited(137), .started = true, .noise = noise});
    EXPECT_EQ(status.code(), PeerLost);
    EXPECT_EQ(status.message(),
              "rank 3 was lost: it was ended by signal 9 (Killed)");
  }
}

TEST(Outcome, FirstToEndIsTheCauseIfTheLauncherIsSilent) {
  const Status killed = translateOutcome(
      {.waitStatus = exited(137), .started = true, .firstEnded = 2});
  EXPECT_EQ(killed.code(), PeerLost);
  EXPECT_EQ(killed.message(),
            "rank 2 was lost: it was ended by signal 9 (Killed)");
}

TEST(Outcome, AGuessCarriesTheLaunchersLastWords) {
  const Status guess =
      translateOutcome({.waitStatus = exited(1),
                        .started = true,
                        .firstEnded = 3,
                        .noise = {"cannot unlink /dev/shm/x"}});
  EXPECT_EQ(guess.message(),
            "rank 3 ended with exit code 1 and without a message");
  EXPECT_EQ(guess.notes(),
            std::vector<std::string>{"cannot unlink /dev/shm/x"});
}

TEST(Outcome, SilentExitCodeIsKeptIfItMeansSomething) {
  auto noise = [](const char *code) {
    return std::deque<std::string>{"  Process name: [[2134,1],2]",
                                   std::string("  Exit code:    ") + code};
  };
  const Status known = translateOutcome(
      {.waitStatus = exited(11), .started = true, .noise = noise("11")});
  EXPECT_EQ(known.code(), DamagedBundle);
  EXPECT_NE(known.message().find("rank 2 ended with exit code 11"),
            std::string::npos);
  const Status unknown = translateOutcome(
      {.waitStatus = exited(77), .started = true, .noise = noise("77")});
  EXPECT_EQ(unknown.code(), PeerLost);
  const Status library = translateOutcome(
      {.waitStatus = exited(1), .started = true, .noise = noise("1")});
  EXPECT_EQ(library.code(), PeerLost);
}

TEST(Outcome, AnMpiThatDoesNotStartIsMissing) {
  const Status status = translateOutcome(
      {.waitStatus = exited(1),
       .started = true,
       .isStarting = true,
       .noise = {"*** An error occurred in MPI_Init_thread",
                 "  Process name: [[2134,1],2]", "  Exit code:    1"}});
  EXPECT_EQ(status.code(), NoDevice);
  EXPECT_EQ(status.message(),
            "rank 2 ended with exit code 1 and without a message");
  EXPECT_EQ(status.notes().at(0), "*** An error occurred in MPI_Init_thread");
}

TEST(LauncherOutput, AStatementGoesOnWhereItAnnouncesSomething) {
  EXPECT_EQ(firstStatement({"----", "The agent", "was not found:", "",
                            "  agent: /none/ssh", "", "Please check"}),
            "The agent was not found: agent: /none/ssh");
  EXPECT_EQ(firstStatement({"A component was not found.", "",
                            "  Framework: pml", "  Component: ucx", "----"}),
            "A component was not found. Framework: pml Component: ucx");
  EXPECT_EQ(firstStatement({"One.", "", "Two."}), "One.");
}

TEST(Outcome, LauncherThatStartsNothingIsMissing) {
  const Status status = translateOutcome(
      {.waitStatus = exited(1), .noise = {"----", "no slots available"}});
  EXPECT_EQ(status.code(), NoDevice);
  EXPECT_NE(status.message().find("no slots available"), std::string::npos);
}

TEST(Outcome, OnlyRankIsItsOwnLauncher) {
  const Status killed = translateOutcome(
      {.launcher = "rank 0", .waitStatus = 9, .started = true});
  EXPECT_EQ(killed.code(), PeerLost);
  EXPECT_NE(killed.message().find("signal 9"), std::string::npos);
}

TEST(Outcome, RanksThatWereAskedToStopHaveNotFailed) {
  EXPECT_TRUE(
      translateOutcome({.waitStatus = 0, .started = true, .askedBy = 15}).ok());
  const Status status = translateOutcome(
      {.waitStatus = exited(143), .started = true, .askedBy = 15});
  EXPECT_EQ(status.code(), endedBySignal(15));
  EXPECT_EQ(status.message(), "the run was ended by signal 15 (Terminated)");
}

TEST(Outcome, ALauncherThatEndsAfterItsRanksIsTheOneToBlame) {
  const Status status = translateOutcome({.waitStatus = exited(1),
                                          .started = true,
                                          .firstEnded = 2,
                                          .allLeft = true});
  EXPECT_EQ(status.code(), PeerLost);
  EXPECT_EQ(status.message(),
            "mpirun ended with exit code 1 after all ranks had left");
}

TEST(Outcome, InterruptedRunIsNotDone) {
  const Status status =
      translateOutcome({.waitStatus = 0, .started = true, .interruptedBy = 15});
  EXPECT_EQ(status.code(), endedBySignal(15));
  EXPECT_NE(status.message().find("signal 15"), std::string::npos);
}

TEST(Outcome, ALauncherThatLeavesItsRanksHasNotSucceeded) {
  EXPECT_EQ(translateOutcome({.waitStatus = 0}).code(), NoDevice);
  EXPECT_TRUE(translateOutcome({.waitStatus = 0, .isOnOneHost = false}).ok());
  const Status status =
      translateOutcome({.waitStatus = 0, .started = true, .someStay = true});
  EXPECT_EQ(status.code(), PeerLost);
  EXPECT_EQ(status.message(), "mpirun ended with exit code 0 before the ranks");
}

TEST(Outcome, AFailureOfStdoutHasTheStopAsItsNotes) {
  const Status status = translateOutcome(
      {.started = true,
       .stdoutFailure = Status::error(InputOutput, "cannot write 'stdout'"),
       .reported =
           Status::error(Stopped, "training was stopped", {"--resume"})});
  EXPECT_EQ(status.code(), InputOutput);
  EXPECT_EQ(status.notes(),
            (std::vector<std::string>{"training was stopped", "--resume"}));
}

} // namespace pcc::runtime
