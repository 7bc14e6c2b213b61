//===- SafetensorsTest.cpp ------------------------------------------------===//

#include "test/runtime/base/Folder.h"

#include "runtime/tensor/Safetensors.h"

using namespace pcc;
using namespace pcc::runtime;
using namespace pcc::test;

namespace {
/// Opens a file with this header, followed by this many bytes.
Status openFile(const Folder &folder, const std::string &header, size_t bytes,
                SafetensorsFile &file) {
  const std::string path = folder.path + "/a.safetensors";
  const uint64_t length = header.size();
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char *>(&length), sizeof length);
  out << header << std::string(bytes, '\1');
  out.close();
  return SafetensorsFile::open(path, file);
}
} // namespace

TEST(Safetensors, HeaderIsReadAsItWasWritten) {
  const Folder folder;
  const std::string header = safetensorsHeader(
      {{"a \"quoted\"/näme", ElementType::BF16, {2, 3}, 0, 12},
       {"none", ElementType::F32, {0}, 12, 12},
       {"scalar", ElementType::I64, {}, 12, 20}});
  EXPECT_EQ(header.size() % 64, 0u);
  SafetensorsFile file;
  const Status status = openFile(folder, header.substr(8), 20, file);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(file.entries().size(), 3u);
  const SafetensorsEntry *entry = file.find("a \"quoted\"/näme");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->type, ElementType::BF16);
  EXPECT_EQ(entry->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(file.bytesOf(*entry).size(), 12u);
  EXPECT_EQ(file.offsetOf(*file.find("scalar")), header.size() + 12);
  EXPECT_EQ(file.find("other"), nullptr);
}

/// Files of other writers: metadata, and tensors in any order.
TEST(Safetensors, MetadataAndAnyOrder) {
  const Folder folder;
  SafetensorsFile file;
  const Status status =
      openFile(folder,
               R"({"__metadata__":{"format":"pt"},)"
               R"("b":{"dtype":"U8","shape":[3],"data_offsets":[4,7]},)"
               R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
               7, file);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(file.entries()[0].name, "a");
}

TEST(Safetensors, FaultsAreNamed) {
  const Folder folder;
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"[]", "its header is not a JSON object"},
      {"{", "its header is not a JSON object"},
      {R"({"a":3})", "tensor 'a' is not described"},
      {R"({"a":{"dtype":"F4","shape":[1],"data_offsets":[0,4]}})",
       "tensor 'a' is of an unknown type"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})",
       "tensor 'a' has an impossible shape"},
      {R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})",
       "tensor 'a' has an impossible shape"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})",
       "tensor 'a' has another size than its shape"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})",
       "tensor 'a' has another size than its shape"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387905],)"
       R"("data_offsets":[0,4]}})",
       "tensor 'a' has another size than its shape"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
       R"("b":{"dtype":"U8","shape":[3],"data_offsets":[1,4]}})",
       "tensor 'b' begins at 1 and not at 2"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
       "tensor 'a' begins at 2 and not at 0"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
       "its tensors end at 2 of 4 bytes"},
      {R"({"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})",
       "its tensors end at 9 of 4 bytes"}};
  for (const auto &[header, fault] : faults) {
    SafetensorsFile file;
    const Status status = openFile(folder, header, 4, file);
    EXPECT_EQ(status.code(), DamagedBundle);
    EXPECT_NE(status.message().find(fault), std::string::npos)
        << status.message();
  }
}
