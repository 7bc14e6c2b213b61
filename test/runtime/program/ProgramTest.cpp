//===- ProgramTest.cpp - sealing, opening and refusing programs -----------===//

#include "runtime/program/Program.h"
#include "runtime/program/VerifyProgram.h"
#include "test/runtime/program/TestProgram.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

using namespace pcc;
using namespace pcc::runtime;
using namespace pcc::test;

namespace {
/// Returns a valid program with one of most things.
TestProgram sample() {
  TestProgram builder({{"pp", 1}, {"tp", 2}}, /*microbatches=*/2);
  const Layout x = test::makeLayout({{{2, {builder.mb()}}, {3}}, {{4}}});
  const Layout w = test::makeLayout({{{4}}, {{6, {builder.axis(1)}}}});
  const int input = builder.input("x", ElementType::F32, {6, 4}, x);
  const int weight = builder.randomParameter("w", {4, 6}, w);
  const int y = builder.arena("y", ElementType::F32, {3, 3});
  const int all = builder.arena("all", ElementType::F32, {3, 6});
  const int scratch = builder.arena("scratch", ElementType::F32, {18});
  builder.matmul(input, weight, y, 3, 3, 4);
  builder.collective(program::CollectiveKind::AllGather,
                     builder.group({builder.axis(1)}), y, all, {3, 6},
                     test::makeLayout({{{3}}, {{6, {builder.axis(1)}}}}),
                     wholeLayout(std::vector<int64_t>{3, 6}), scratch);
  builder.kernel({all}, 3);
  builder.runAll();
  return builder;
}

std::vector<std::byte> aligned(const std::vector<std::byte> &bytes,
                               std::span<std::byte> &view) {
  std::vector<std::byte> storage(bytes.size() + 64);
  auto *at = reinterpret_cast<std::byte *>(
      (reinterpret_cast<uintptr_t>(storage.data()) + 63) / 64 * 64);
  std::memcpy(at, bytes.data(), bytes.size());
  view = {at, bytes.size()};
  return storage;
}

/// Returns the error of verifyProgram after one change.
std::string faultAfter(const std::function<void(program::ProgramT &)> &change) {
  TestProgram builder = sample();
  change(builder.tables);
  return verifyProgram(builder.tables, 0).message();
}
} // namespace

TEST(Program, OpensWhatWasSealed) {
  const TestProgram builder = sample();
  const auto bytes = sealProgram(builder.tables, {});
  std::span<std::byte> view;
  const auto storage = aligned(bytes, view);
  OpenedProgram opened;
  const Status status = openProgram(view, opened);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(opened.tables->buffers.size(), builder.tables.buffers.size());
  EXPECT_EQ(sealProgram(*opened.tables, {}), bytes);
}

TEST(Program, EveryFlippedByteIsNoticed) {
  std::span<std::byte> view;
  const auto storage = aligned(sealProgram(sample().tables, {}), view);
  for (std::byte &byte : view) {
    byte ^= std::byte(16);
    OpenedProgram opened;
    EXPECT_EQ(openProgram(view, opened).code(), DamagedBundle);
    byte ^= std::byte(16);
  }
}

TEST(Program, EveryTruncationIsNoticed) {
  std::span<std::byte> view;
  const auto storage = aligned(sealProgram(sample().tables, {}), view);
  for (size_t size = 0; size < view.size(); ++size) {
    OpenedProgram opened;
    EXPECT_EQ(openProgram(view.first(size), opened).code(), DamagedBundle);
  }
}

TEST(Verify, SampleIsFine) {
  EXPECT_EQ(faultAfter([](auto &) {}), "");
}

TEST(Verify, BufferOutsideTheArena) {
  EXPECT_NE(faultAfter([](program::ProgramT &p) {
              --p.arena_bytes;
            }).find("ends outside its memory"),
            std::string::npos);
}

TEST(Verify, SlotsThatOverlap) {
  EXPECT_NE(faultAfter([](program::ProgramT &p) {
              p.buffers[0]->slot_stride = 4;
            }).find("overlapping slots"),
            std::string::npos);
}

TEST(Verify, KernelThatDoesNotExist) {
  EXPECT_NE(faultAfter([](program::ProgramT &p) {
              p.num_kernels = 0;
            }).find("calls kernel 0 of 0"),
            std::string::npos);
}

TEST(Verify, MatmulOutsideItsMatrices) {
  EXPECT_NE(faultAfter([](program::ProgramT &p) {
              p.functions[0]->instructions[0]->body.AsMatmul()->m = 4;
            }).find("reaches outside its matrices"),
            std::string::npos);
}

TEST(Verify, LayoutThatDoesNotFit) {
  EXPECT_NE(faultAfter([](program::ProgramT &p) {
              p.inputs[0]->layout->dims[0]->factors[1]->size = 4;
            }).find("do not multiply to its dim"),
            std::string::npos);
}

TEST(Verify, WriteToAWeight) {
  EXPECT_NE(faultAfter([](program::ProgramT &p) {
              p.functions[0]->instructions[0]->body.AsMatmul()->c = 1;
            }).find("cannot be written"),
            std::string::npos);
}

TEST(Verify, ProductOverItsOwnOperand) {
  EXPECT_NE(faultAfter([](program::ProgramT &p) {
              p.functions[0]->instructions[0]->body.AsMatmul()->bias = 2;
            }).find("writes where it reads"),
            std::string::npos);
}

/// Changes the first product to one that is added to its result.
static void accumulate(program::ProgramT &program) {
  auto &matmul = *program.functions[0]->instructions[0]->body.AsMatmul();
  matmul.residual = matmul.c;
  matmul.residual_strides = matmul.c_strides;
}

static void runOnGpus(program::ProgramT &program) {
  program.target = "cuda";
  for (const auto &function : program.functions)
    for (const auto &instruction : function->instructions)
      if (auto *kernel = instruction->body.AsKernel())
        kernel->blocks = kernel->threads = 1;
}

TEST(Verify, ProductsAreAddedInPlaceOnGpus) {
  EXPECT_EQ(faultAfter([](program::ProgramT &p) {
              runOnGpus(p);
              accumulate(p);
            }),
            "");
  EXPECT_NE(faultAfter(accumulate).find("writes where it reads"),
            std::string::npos);
  EXPECT_NE(
      faultAfter([](program::ProgramT &p) {
        runOnGpus(p);
        accumulate(p);
        p.functions[0]->instructions[0]->body.AsMatmul()->residual_strides[0] =
            0;
      }).find("writes where it reads"),
      std::string::npos);
}

TEST(Verify, SumsOfAFactorOnGpus) {
  const auto sum = [](program::ProgramT &p, int32_t buffer) {
    auto &matmul = *p.functions[0]->instructions[0]->body.AsMatmul();
    matmul.bias = -1;
    matmul.activation = program::Activation::None;
    matmul.b_sums = buffer;
  };
  const auto fault = [&](int32_t buffer, bool isOfGpus) {
    return faultAfter([&](program::ProgramT &p) {
      if (isOfGpus)
        runOnGpus(p);
      sum(p, buffer);
    });
  };
  EXPECT_NE(fault(0, false).find("sums that cannot be computed"),
            std::string::npos);
  EXPECT_NE(fault(2, true).find("writes where it reads"), std::string::npos);
  EXPECT_NE(fault(1, true).find("cannot be written"), std::string::npos);
  EXPECT_NE(fault(99, true).find("cannot be written"), std::string::npos);
}

TEST(Verify, Tf32OnProcessors) {
  EXPECT_NE(faultAfter([](program::ProgramT &p) {
              p.tf32 = true;
            }).find("which only GPUs do"),
            std::string::npos);
}

TEST(Verify, FileOutsideItsRoot) {
  EXPECT_NE(faultAfter([](program::ProgramT &p) {
              p.files.push_back(std::make_unique<program::WeightFileT>());
              p.files[0]->path = "a/../../etc/passwd";
            }).find("lies outside its root"),
            std::string::npos);
}

namespace {
/// Returns the error for a reduction whose instructions have these parts.
std::string faultOfParts(const std::vector<program::CollectivePart> &parts) {
  TestProgram builder({{"pp", 1}, {"tp", 2}});
  const int x = builder.arena("x", ElementType::F32, {4});
  const int group = builder.group({builder.axis(1)});
  for (program::CollectivePart part : parts) {
    auto &half = builder.collective(program::CollectiveKind::AllReduce, group,
                                    x, x, {4}, test::makeLayout({{{4}}}),
                                    test::makeLayout({{{4}}}));
    half.part = part;
    half.only = part == program::CollectivePart::Whole ? -1 : 0;
  }
  builder.runAll();
  return verifyProgram(builder.tables, 0).message();
}
} // namespace

TEST(Verify, PartsOfCollectives) {
  const auto whole = program::CollectivePart::Whole;
  const auto start = program::CollectivePart::Start;
  const auto finish = program::CollectivePart::Finish;
  EXPECT_EQ(faultOfParts({start, finish, start, start, finish, finish}), "");
  EXPECT_NE(faultOfParts({start}).find("does not finish the collective"),
            std::string::npos);
  EXPECT_NE(faultOfParts({finish, start}).find("which it has not started"),
            std::string::npos);
  EXPECT_NE(faultOfParts({whole, start, finish}).find("in one part and in two"),
            std::string::npos);
}

TEST(Verify, ActionsOfWhatIsNotThere) {
  EXPECT_NE(faultAfter([](program::ProgramT &p) {
              p.actions[0]->microbatch = 2;
            }).find("action 0 is impossible"),
            std::string::npos);
}

TEST(Verify, BytesThatActionsUse) {
  for (const auto &change :
       std::vector<std::function<void(program::ActionT &)>>{
           [](program::ActionT &action) { action.bytes_after = -1; },
           [](program::ActionT &action) { action.gradients_during = -1; },
           [](program::ActionT &action) { action.gradients_after = 1; }})
    EXPECT_NE(faultAfter([&](program::ProgramT &p) {
                change(*p.actions[0]);
              }).find("action 0 is impossible"),
              std::string::npos);
}

/// Returns the error for these posts and waits of one value, all in microbatch
/// 0.
static std::string
faultOfMessages(const std::vector<program::ActionKind> &kinds) {
  return faultAfter([&](program::ProgramT &p) {
    auto &transfer =
        p.transfers.emplace_back(std::make_unique<program::TransferT>());
    transfer->value = "h";
    transfer->from_buffer = 0;
    transfer->to_stage = 0;
    transfer->to_buffer = -1;
    for (program::ActionKind kind : kinds) {
      auto &action =
          p.actions.emplace_back(std::make_unique<program::ActionT>());
      action->kind = kind;
      action->function = -1;
      action->sends.emplace_back(0, 0);
    }
  });
}

TEST(Verify, MessagesAreWaitedForOnceBehindTheirPost) {
  constexpr auto post = program::ActionKind::Post,
                 wait = program::ActionKind::Wait;
  EXPECT_EQ(faultOfMessages({post, wait}), "");
  EXPECT_NE(faultOfMessages({post}).find("'h' is never waited for"),
            std::string::npos);
  for (const auto &kinds :
       {std::vector{wait, post}, {post, post, wait}, {post, wait, wait}})
    EXPECT_NE(faultOfMessages(kinds).find("at another place"),
              std::string::npos);
}

TEST(Verify, ActionsOfAStageThatIsNotThere) {
  EXPECT_NE(faultAfter([](program::ProgramT &p) {
              p.actions[0]->stage = 1;
            }).find("action 0 is impossible"),
            std::string::npos);
}

TEST(Verify, WhatIsSaidOfStages) {
  const auto faultOf =
      [](const std::function<void(program::StageT &)> &change) {
        return faultAfter([&](program::ProgramT &p) {
          p.stages.push_back(std::make_unique<program::StageT>());
          change(*p.stages[0]);
        });
      };
  EXPECT_EQ(faultOf([](program::StageT &) {}), "");
  for (const auto &change : std::vector<std::function<void(program::StageT &)>>{
           [](program::StageT &stage) { stage.stage = 1; },
           [](program::StageT &stage) { stage.flops = -1; }})
    EXPECT_NE(faultOf(change).find("its description of stage"),
              std::string::npos);
}

TEST(Verify, SamplesAndTheirDim) {
  EXPECT_NE(faultAfter([](program::ProgramT &p) {
              p.samples = 0;
            }).find("impossible counts"),
            std::string::npos);
  EXPECT_NE(faultAfter([](program::ProgramT &p) {
              p.inputs[0]->batch_dim = 2;
            }).find("input 'x' has no dim 2"),
            std::string::npos);
}

/// For any change of one byte of the tables, the verifiers return.
TEST(Verify, SurvivesMutatedTables) {
  flatbuffers::FlatBufferBuilder flat;
  const TestProgram builder = sample();
  program::FinishProgramBuffer(flat,
                               program::CreateProgram(flat, &builder.tables));
  std::vector<uint8_t> bytes(flat.GetBufferPointer(),
                             flat.GetBufferPointer() + flat.GetSize());
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int flip : {1, 0x80, 0xff}) {
      bytes[at] ^= flip;
      flatbuffers::Verifier verifier(bytes.data(), bytes.size(), 32, 100000);
      if (program::VerifyProgramBuffer(verifier)) {
        const std::unique_ptr<program::ProgramT> tables(
            program::GetProgram(bytes.data())->UnPack());
        (void)verifyProgram(*tables, 0);
      }
      bytes[at] ^= flip;
    }
}

/// The verifier reads neither layouts nor views of an AllReduce.
TEST(Program, ViewsWithoutLayoutsAreIgnored) {
  TestProgram builder({{"pp", 1}, {"tp", 2}});
  const int x = builder.arena("x", ElementType::F32, {4});
  auto &collective =
      builder.collective(program::CollectiveKind::AllReduce,
                         builder.group({builder.axis(1)}), x, x, {4}, {}, {});
  collective.to.reset();
  collective.views.push_back(std::make_unique<program::ViewT>());
  collective.views[0]->blocks = 1;
  EXPECT_EQ(collectiveOf(builder.tables, collective).to, Layout());
}
