//===- ScheduleFixtures.h - transfers, updates and charts for tests -------===//

#ifndef PCC_TEST_PASSES_PLAN_SCHEDULE_SCHEDULEFIXTURES_H
#define PCC_TEST_PASSES_PLAN_SCHEDULE_SCHEDULEFIXTURES_H

#include "passes/plan/schedule/PipelineMessages.h"
#include "passes/plan/schedule/Schedules.h"
#include "passes/plan/schedule/Simulate.h"

#include <string>
#include <vector>

namespace pcc::plan {

/// Returns the transfers of a plain chain of stages: one activation from each
/// stage to the next and, if `trains`, one gradient back.
std::vector<Transfer> chainTransfers(int numStages, bool trains);

/// Returns the program with a blocking call in place of each post, that is a
/// post of one message and a wait for it. Sends come before receives. The waits
/// of `program` are dropped.
PipelineProgram withBlockingCalls(const PipelineProgram &program);

/// Returns the program of `position` as one line of text, such as
///
///     0F0 {+s0F0>1 +r1B0<1} {?r1B0<1} 0B0
///
/// Here, stage 0 runs F; it posts a send to position 1 and a receive from
/// position 1; it waits for the receive; it runs B.
std::string print(const PipelineProgram &program, int position);

/// Returns the table of actions in the form of printCsv, which may break the
/// rules of a schedule. A stage belongs to the first line that mentions it.
ActionTable parseTable(std::string_view csv);

/// Draws a timeline as text: a row per position with `width` columns, which
/// show the first letter of the running action (F, B, I, W, U), or a dot if the
/// position is idle.
std::string drawTimeline(const Timeline &timeline, int width = 100);

/// Returns updates of one part for each stage.
std::vector<StageUpdate> wholeUpdates(int numStages);

} // namespace pcc::plan

#endif // PCC_TEST_PASSES_PLAN_SCHEDULE_SCHEDULEFIXTURES_H
