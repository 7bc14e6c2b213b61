//===- GatherRank.cpp - a rank executable without a compiler --------------===//
//
// The program of two ranks that gather y from the halves of x, linked with the
// main() of all ranks.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/program/TestProgram.h"

#include "runtime/program/ProgramImage.h"

using namespace pcc;
using namespace pcc::runtime;

/// The program, and the bytes in which it is sealed.
static PccProgramImage makeImage() {
  test::TestProgram builder({{"pp", 1}, {"tp", 2}});
  const Layout half = test::makeLayout({{{8, {{"tp", 1, 2}}}}});
  const Layout whole = test::makeLayout({{{8}}});
  const int x = builder.input("x", ElementType::F32, {8}, half);
  const int y = builder.output("y", ElementType::F32, {8}, whole);
  const int group = builder.group({builder.axis(1)});
  builder.collective(program::CollectiveKind::AllGather, group, x, y, {8}, half,
                     whole);
  builder.runAll();
  const auto sealed = sealProgram(builder.tables, {});
  static std::vector<std::byte> storage(sealed.size() + kAlignment);
  const auto begin = reinterpret_cast<uintptr_t>(storage.data());
  auto *aligned = reinterpret_cast<std::byte *>((begin + kAlignment - 1) /
                                                kAlignment * kAlignment);
  std::memcpy(aligned, sealed.data(), sealed.size());
  return {aligned, sealed.size(), nullptr, 0, nullptr};
}

extern "C" const PccProgramImage pcc_program_image = makeImage();
