//===- OutputFilesTest.cpp ----------------------------------------------------===//

#include "runtime/engine/io/OutputFiles.h"
#include "runtime/tensor/OutputNames.h"
#include "test/runtime/engine/ThreadRun.h"

using namespace pcc;
using namespace pcc::runtime;
using namespace pcc::test;

namespace {
using Names = std::vector<std::string>;

/// Returns a program in which y is x, in the layout of the caller.
TestProgram identity(ElementType type, const std::string &output) {
  TestProgram builder({{"pp", 1}, {"tp", 3}});
  const Layout layout = test::makeLayout({{{2}}, {{5, {builder.axis(1)}}}});
  const int x = builder.input("x", type, {2, 5}, layout);
  builder.output(output, x, {2, 5}, layout);
  builder.runAll();
  return builder;
}
} // namespace

TEST(Outputs, NamesStayInTheirDirectory) {
  EXPECT_EQ(
      outputFileNames({"logits", "../../etc/passwd", "", ".", "a/b", "a b"}),
      (Names{"logits.npy", "_.._.._etc_passwd.npy", "_.npy", "_..npy",
             "a_b.npy", "a_b_2.npy"}));
}

TEST(Outputs, UnevenColumnsOfSeveralRanksBecomeOneFile) {
  const Folder folder;
  ThreadRun run;
  run.add(identity(ElementType::I64, "y"));
  std::vector<int64_t> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const Status status =
      run.run({{"x", folder.write("x.npy", ElementType::I64, {2, 5}, values)}},
              folder.path + "/a/b");
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(folder.read<int64_t>("a/b/y.npy"), values);
}

TEST(Outputs, BFloat16IsFloat32InFiles) {
  const Folder folder;
  ThreadRun run;
  run.add(identity(ElementType::BF16, "y"));
  const Status status = run.run(
      {{"x", folder.write("x.npy", ElementType::F32, {2, 5}, iota(10))}},
      folder.path);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(folder.read<float>("y.npy"), iota(10));
}

TEST(Outputs, NothingIsLeftWhereTheyCannotBeWritten) {
  const Folder folder;
  ThreadRun run;
  TestProgram builder = identity(ElementType::F32, "y");
  builder.output("z", 0, {2, 5},
                 test::makeLayout({{{2}}, {{5, {builder.axis(1)}}}}));
  run.add(builder);
  std::filesystem::create_directories(folder.path + "/out/z.npy/occupied");
  const Status status = run.run(
      {{"x", folder.write("x.npy", ElementType::F32, {2, 5}, iota(10))}},
      folder.path + "/out");
  EXPECT_EQ(status.code(), InputOutput);
  EXPECT_NE(status.message().find("z.npy"), std::string::npos);
  EXPECT_EQ(folder.files(),
            (Names{"out", "out/z.npy", "out/z.npy/occupied", "x.npy"}));
}

TEST(Outputs, DirectoryThatIsAFile) {
  const Folder folder;
  ThreadRun run;
  run.add(identity(ElementType::F32, "y"));
  const std::string x =
      folder.write("x.npy", ElementType::F32, {2, 5}, iota(10));
  EXPECT_EQ(run.run({{"x", x}}, x).code(), InputOutput);
  EXPECT_EQ(folder.files(), Names{"x.npy"});
}
