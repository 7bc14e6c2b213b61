//===- FlightTest.cpp - where each rank was when a run failed -------------===//

#include "runtime/comm/flight/FailureReport.h"
#include "runtime/comm/flight/FlightRecorder.h"
#include "runtime/launch/job/PrivateFolder.h"
#include "runtime/launch/report/FlightFile.h"
#include "runtime/launch/thread/RunThreads.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace pcc::runtime {

/// Puts the rank into `action`, in which it waits for `peer`, or computes if
/// there is none.
static void goTo(FlightRecorder &recorder, const char *action, int peer = -1) {
  recorder.beginAction(action);
  if (peer >= 0)
    recorder.addPeer(
        recorder.begin(FlightKind::Wait, "all_reduce", {action, "h"}), peer);
}

TEST(FlightRecorder, KeepsTheLatest) {
  FlightRecorder recorder(3);
  recorder.beginStep(7);
  const auto first = recorder.beginAction("first");
  for (uint32_t i = 1; i <= FlightRecorder::kCapacity; ++i)
    recorder.end(recorder.beginAction(std::to_string(i)));
  // Another one has its place.
  recorder.end(first);
  recorder.addPeer(first, 5);
  const FlightLog log = recorder.log();
  ASSERT_EQ(log.entries.size(), FlightRecorder::kCapacity);
  EXPECT_STREQ(log.entries.front().action, "1");
  EXPECT_EQ(log.entries.front().numPeers, 0u);
  EXPECT_EQ(log.entries.back().step, 7);
  EXPECT_EQ(log.rank, 3);
}

TEST(FlightRecorder, KeepsTheEndOfLongNamesAndTheFirstPeers) {
  FlightRecorder recorder(0);
  const std::string name = std::string(500, 'x') + "/weight";
  const auto entry =
      recorder.begin(FlightKind::Wait, "exchange", {"0F1", name});
  for (int rank = 20; rank > 0; --rank)
    recorder.addPeer(entry, rank);
  recorder.addPeer(entry, 20);
  const FlightEntry kept = recorder.log().entries.at(0);
  EXPECT_TRUE(std::string(kept.value).ends_with("x/weight"));
  EXPECT_EQ(kept.peers[0], 20);
  EXPECT_EQ(kept.numPeers, 20u);
}

TEST(FlightRecorder, OutlivesItsProcess) {
  PrivateFolder folder;
  ASSERT_TRUE(folder.create().ok());
  const pid_t child = fork();
  if (child == 0) {
    FlightRecorder recorder(1, flightFile(folder.path(), 1));
    recorder.beginStep(4);
    goTo(recorder, "0B2", 3);
    kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
  const auto flights = readFlights(folder.path());
  ASSERT_EQ(flights.size(), 1u);
  const FlightState place = stateAt(flights[0]);
  ASSERT_TRUE(place.wait);
  EXPECT_STREQ(place.wait->action, "0B2");
  EXPECT_EQ(place.wait->step, 4);
}

TEST(FlightRecorder, SurvivesATruncatedFile) {
  PrivateFolder folder;
  ASSERT_TRUE(folder.create().ok());
  const std::string path = flightFile(folder.path(), 0);
  FlightRecorder recorder(0, path);
  std::filesystem::resize_file(path, 0);
  recorder.beginAction("0F1");
  ASSERT_EQ(recorder.log().entries.size(), 1u);
  EXPECT_STREQ(recorder.log().entries[0].action, "0F1");
}

TEST(FlightRecorder, OtherFilesAreNoRecorders) {
  PrivateFolder folder;
  ASSERT_TRUE(folder.create().ok());
  std::ofstream(folder.path() + "/flight.0") << std::string(1 << 20, 'x');
  std::ofstream(folder.path() + "/flight.1") << "short";
  EXPECT_TRUE(readFlights(folder.path()).empty());
}

TEST(FlightRecorder, AnUnwritableFolderIsNoError) {
  FlightRecorder recorder(0, "/nowhere/flight.0");
  goTo(recorder, "0F0");
  EXPECT_EQ(recorder.log().entries.size(), 1u);
}

TEST(FailureReport, LostRankIsMissedBySomebody) {
  FlightRecorder one(0), other(1);
  goTo(one, "0F3", 1);
  goTo(other, "0F2");
  const Status status = explainLoss(Status::error(PeerLost, "rank 1 was lost"),
                                    {one.log(), other.log()}, {.lost = 1});
  EXPECT_EQ(status.message(), "rank 1 was lost; action 0F2; rank 0 waits for "
                              "it: action 0F3, all_reduce of h with rank 1");
  ASSERT_EQ(status.notes().size(), 2u);
  EXPECT_TRUE(status.notes()[1].starts_with("rank 1: action 0F2, for "));
}

/// Returns the rank that the report on a deadline of `waiter` names.
static std::optional<int> findCulprit(const std::vector<FlightLog> &flights,
                                      int waiter, double time = kAtTheEnd) {
  const Status status = explainLoss(Status::error(PeerLost, "late"), flights,
                                    {.waiter = waiter, .time = time});
  for (int rank = 0; rank < int(flights.size()); ++rank)
    if (status.message().starts_with("late; rank " + std::to_string(rank) +
                                     " has not moved for"))
      return rank;
  return std::nullopt;
}

/// 0 waits for 1, which waits for 2, which waits for no rank.
TEST(FailureReport, CulpritIsAtTheEndOfTheChain) {
  FlightRecorder a(0), b(1), c(2);
  goTo(a, "0F3", 1);
  goTo(b, "0F3", 2);
  goTo(c, "1B0");
  EXPECT_EQ(findCulprit({a.log(), b.log(), c.log()}, 0), 2);
}

/// A rank that is stopped while it waits has a peer that arrived long ago.
TEST(FailureReport, WhoHasNotMovedStandsStill) {
  FlightRecorder a(0), b(1), c(2);
  goTo(a, "0F3", 1);
  goTo(b, "0F3", 2);
  goTo(c, "0F3", 0);
  FlightLog stopped = b.log();
  EXPECT_EQ(findCulprit({a.log(), stopped, c.log()}, 0), std::nullopt);
  stopped.moved -= 10;
  for (FlightEntry &entry : stopped.entries)
    entry.begin -= 10;
  EXPECT_EQ(findCulprit({a.log(), stopped, c.log()}, 0), 1);
  EXPECT_EQ(findCulprit({a.log(), stopped, c.log()}, 2), 1);
}

TEST(FailureReport, RankThatHasNotBegunHasStoodStillForNoTime) {
  FlightRecorder a(0), b(1);
  goTo(a, "0F3", 1);
  FlightLog idle = b.log();
  idle.moved = 0;
  const Status told =
      explainLoss(Status::error(PeerLost, "rank 0 waited too long"),
                  {a.log(), idle}, {.waiter = 0});
  EXPECT_EQ(told.message(), "rank 0 waited too long; rank 1 has not begun");
}

/// Actions of ranks after the run has failed do not count.
TEST(FailureReport, LooksAtTheTimeOfTheFailure) {
  FlightRecorder a(0), b(1);
  goTo(a, "0F3", 1);
  const auto action = b.beginAction("1B0");
  const double time = FlightRecorder::now();
  b.end(action);
  goTo(b, "1B1", 0);
  EXPECT_STREQ(stateAt(b.log(), time).action->action, "1B0");
  EXPECT_EQ(findCulprit({a.log(), b.log()}, 0, time), 1);
  EXPECT_EQ(findCulprit({a.log(), b.log()}, 0), std::nullopt);
}

TEST(FailureReport, ThreadsTellWhereTheyWere) {
  PrivateFolder folder;
  ASSERT_TRUE(folder.create().ok());
  const std::string file = folder.path() + "/flight.json";
  const Status status = runThreads(
      3,
      [](World &world) {
        world.setDeadline(0.3);
        const auto action = world.recorder().beginAction("1F0");
        if (world.rank() == 2)
          std::this_thread::sleep_for(std::chrono::milliseconds(900));
        world.recorder().end(action);
        return world.all().barrier({"1F0", "x"});
      },
      file);
  EXPECT_EQ(status.code(), PeerLost);
  EXPECT_NE(status.message().find("rank 2 has not moved for"),
            std::string::npos)
      << status.message();
  ASSERT_EQ(status.notes().size(), 4u);
  std::ifstream stream(file);
  const auto json = nlohmann::json::parse(stream);
  EXPECT_EQ(json["ranks"].size(), 3u);
  EXPECT_EQ(json["reason"], status.message());
}

} // namespace pcc::runtime
