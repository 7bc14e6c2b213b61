//===- open-seeds.cpp - a corpus of small sound programs ------------------===//

#include "test/runtime/program/TestProgram.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>

using namespace pcc;
using namespace pcc::runtime;
using test::TestProgram;

namespace {
struct Seed {
  const char *name;
  std::function<void(TestProgram &)> build;
};

Layout columns(const TestProgram &builder) {
  return test::makeLayout(
      {{{2, {builder.mb()}}, {3}}, {{4, {builder.axis(1)}}}});
}

void addMatmul(TestProgram &builder) {
  const int x = builder.input("x", ElementType::F32, {6, 4}, columns(builder));
  const int w = builder.fileParameter(
      "w", 0, 64, {4, 6}, test::makeLayout({{{4, {builder.axis(1)}}}, {{6}}}));
  const int y = builder.arena("y", ElementType::F32, {3, 6});
  builder.tables.files.push_back(std::make_unique<program::WeightFileT>());
  builder.tables.files[0]->path = "weights.bin";
  builder.tables.files[0]->size = 4096;
  builder.matmul(x, w, y, 3, 6, 2);
  builder.collective(program::CollectiveKind::AllReduce,
                     builder.group({builder.axis(1)}), y, y, {3, 6}, {}, {});
}

void addMoves(TestProgram &builder) {
  const Layout from = test::makeLayout({{{6}}, {{4, {builder.axis(1)}}}});
  const Layout to = test::makeLayout({{{6, {builder.axis(1)}}}, {{4}}});
  const int x = builder.input("x", ElementType::F32, {6, 4}, from);
  const int y = builder.output("y", ElementType::F32, {6, 4}, to);
  builder.collective(program::CollectiveKind::AllToAll,
                     builder.group({builder.axis(1)}), x, y, {6, 4}, from, to,
                     builder.arena("scratch", ElementType::F32, {24}));
  auto &copy = builder.instruction<program::CopyT>("copy");
  copy.source = x;
  copy.target = y;
  copy.source_offset = std::make_unique<program::ScalarT>();
  copy.source_offset->terms.push_back(std::make_unique<program::TermT>());
  copy.source_offset->terms[0]->coefficient = 2;
  copy.source_offset->terms[0]->part = std::make_unique<program::Part>(1, 1, 2);
  copy.loops = {{5, 2, 1}};
}

void addRareOps(TestProgram &builder) {
  const int x = builder.arena("x", ElementType::F32, {1, 2, 5, 5});
  const int w = builder.arena("w", ElementType::F32, {4, 2, 3, 3});
  const int y = builder.arena("y", ElementType::F32, {1, 4, 5, 5});
  auto &conv = builder.instruction<program::ConvT>("conv");
  conv.x = x;
  conv.w = w;
  conv.y = y;
  conv.strides = conv.dilations = conv.pads_begin = conv.pads_end = {1, 1};
  const int pooled = builder.arena("pooled", ElementType::F32, {1, 4, 4, 4});
  auto &pool = builder.instruction<program::PoolT>("pool");
  pool.x = y;
  pool.y = pooled;
  pool.window = {2, 2};
  pool.strides = pool.dilations = {1, 1};
  pool.pads_begin = pool.pads_end = {0, 0};
  auto &fill = builder.instruction<program::FillT>("fill");
  fill.buffer = pooled;
  fill.element = {0, 0, 0, 0};
  auto &op = builder.instruction<program::HostOpT>("cumsum");
  op.name = "cumsum";
  op.inputs = op.outputs = {pooled};
  op.integers = {1, 0, 0};
  builder.kernel({x, y}, 10);
}

const Seed seeds[] = {
    {"matmul", addMatmul}, {"moves", addMoves}, {"rare", addRareOps}};
} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: program-open-seeds FOLDER\n");
    return 2;
  }
  std::filesystem::create_directories(argv[1]);
  for (const Seed &seed : seeds) {
    TestProgram builder({{"pp", 1}, {"tp", 2}}, /*microbatches=*/2);
    seed.build(builder);
    builder.runAll();
    flatbuffers::FlatBufferBuilder flat;
    program::FinishProgramBuffer(flat,
                                 program::CreateProgram(flat, &builder.tables));
    std::ofstream(std::string(argv[1]) + "/" + seed.name, std::ios::binary)
        .write(reinterpret_cast<const char *>(flat.GetBufferPointer()),
               flat.GetSize());
  }
  return 0;
}
