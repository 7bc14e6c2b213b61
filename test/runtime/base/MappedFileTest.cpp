//===- MappedFileTest.cpp -------------------------------------------------===//

#include "runtime/base/MappedFile.h"
#include "status/PrintableText.h"
#include "test/runtime/base/Folder.h"

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace pcc;
using namespace pcc::runtime;
using pcc::test::Folder;
using testing::HasSubstr;

namespace {
/// A file of eight pages of ones.
class MappedFileTest : public testing::Test {
protected:
  void SetUp() override { write(8 * kPage); }

  void write(size_t bytes) { std::ofstream(path) << std::string(bytes, '\1'); }
  MappedFile open() {
    MappedFile file;
    const Status status = MappedFile::open(path, file);
    EXPECT_TRUE(status.ok()) << status.message();
    return file;
  }
  static int sum(const MappedFile &file) {
    int total = 0;
    for (std::byte byte : file.bytes())
      total += int(byte);
    return total;
  }

  static constexpr size_t kPage = 4096;
  Folder folder;
  const std::string path = folder.path + "/file";
};
} // namespace

TEST_F(MappedFileTest, FileThatStaysIsUnchanged) {
  const MappedFile file = open();
  EXPECT_EQ(sum(file), 8 * 4096);
  EXPECT_TRUE(file.checkUnchanged(CannotRead).ok());
}

// A page that is beyond the end of the file reads as zeros; the error names the
// file and both sizes.
TEST_F(MappedFileTest, FileThatShrinksIsAnError) {
  const MappedFile file = open();
  ASSERT_EQ(truncate(path.c_str(), kPage), 0);
  EXPECT_EQ(sum(file), 4096);
  EXPECT_EQ(file.checkRead(InputOutput).code(), InputOutput);
  const Status status = file.checkUnchanged(DamagedBundle);
  EXPECT_EQ(status.code(), DamagedBundle);
  EXPECT_THAT(status.message(),
              HasSubstr("file' changed while it was read: it had 32768 bytes "
                        "and has 4096"));
}

// Even if the file has its old size again when it is checked.
TEST_F(MappedFileTest, FileThatShrankIsAnError) {
  const MappedFile file = open();
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_EQ(sum(file), 0);
  write(8 * kPage);
  EXPECT_EQ(file.checkUnchanged(CannotRead).code(), CannotRead);
}

TEST_F(MappedFileTest, EveryThreadSurvives) {
  const MappedFile file = open();
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] { EXPECT_EQ(sum(file), 0); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(file.checkRead(InputOutput).code(), InputOutput);
}

TEST_F(MappedFileTest, FileThatIsWrittenToIsAnError) {
  const MappedFile file = open();
  const timespec times[] = {{0, UTIME_OMIT}, {1, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  EXPECT_THAT(file.checkUnchanged(CannotRead).message(),
              HasSubstr("it was written to"));
}

// The mapping has the content of the file that was opened.
TEST_F(MappedFileTest, FileThatIsReplacedIsUnchanged) {
  const MappedFile file = open();
  std::ofstream(path + ".new") << "other";
  ASSERT_EQ(rename((path + ".new").c_str(), path.c_str()), 0);
  EXPECT_EQ(sum(file), 8 * 4096);
  EXPECT_TRUE(file.checkUnchanged(CannotRead).ok());
}

TEST_F(MappedFileTest, OtherFilesThanRegularOnesAreRefusedAtOnce) {
  MappedFile file;
  const std::string pipe = folder.path + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(MappedFile::open(pipe, file).message(),
              HasSubstr("it is not a regular file"));
  EXPECT_EQ(MappedFile::open("/dev/zero", file).code(), InputOutput);
  EXPECT_EQ(MappedFile::open(pipe, file, DamagedBundle).code(), DamagedBundle);
  EXPECT_EQ(MappedFile::open(folder.path, file, CannotRead).code(), CannotRead);
  EXPECT_EQ(MappedFile::open(path + "/x", file, CannotRead).code(), CannotRead);
}

TEST_F(MappedFileTest, SlicesLieWithinTheFile) {
  const MappedFile file = open();
  const uint64_t size = file.bytes().size();
  std::span<const std::byte> part;
  ASSERT_TRUE(file.slice(size - 4, 4, CannotRead, part).ok());
  EXPECT_EQ(part.data(), file.bytes().data() + size - 4);
  EXPECT_TRUE(file.slice(size, 0, CannotRead, part).ok());
  EXPECT_EQ(file.slice(size - 4, 5, CannotRead, part).code(), CannotRead);
  EXPECT_EQ(file.slice(size + 1, 0, CannotRead, part).code(), CannotRead);
  EXPECT_EQ(file.slice(4, UINT64_MAX, CannotRead, part).code(), CannotRead);
}

TEST_F(MappedFileTest, TextFilesAreBounded) {
  std::string text;
  std::ofstream(path) << "four";
  EXPECT_TRUE(readTextFile(path, 4, text).ok());
  EXPECT_EQ(text, "four");
  EXPECT_EQ(readTextFile(path, 3, text, CannotMeet).code(), CannotMeet);
  EXPECT_EQ(readTextFile(folder.path, 4, text).code(), InputOutput);
}

TEST(PrintableText, ControlCharactersAndInvalidBytesAreEscaped) {
  EXPECT_EQ(printable("plain é … 𝄞"), "plain é … 𝄞");
  EXPECT_EQ(printable(std::string_view("a\0b\x1b[2J\x7f\n", 9)),
            "a\\x00b\\x1b[2J\\x7f\\x0a");
  EXPECT_EQ(printable("two\nlines\r", "\n"), "two\nlines\\x0d");
  // U+009B begins a terminal code, as ESC [ does.
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");
  // A cut character, an overlong form, a surrogate, and a byte of no character.
  EXPECT_EQ(printable("\xe2\x80"), "\\xe2\\x80");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(printable("\xff"), "\\xff");
}

// Other mappings are not ours: their failures go to the previous handler, here
// that of the system.
TEST_F(MappedFileTest, OtherBusErrorsStayFatal) {
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "the sanitizer has a handler of its own";
#endif
  EXPECT_EXIT(
      {
        const MappedFile ours = open();
        const std::string other = folder.path + "/other";
        std::ofstream(other) << std::string(kPage, '\1');
        const int descriptor = ::open(other.c_str(), O_RDONLY);
        const void *mapped =
            mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE, descriptor, 0);
        (void)truncate(other.c_str(), 0);
        std::exit(*static_cast<const volatile char *>(mapped));
      },
      testing::KilledBySignal(SIGBUS), "");
}
