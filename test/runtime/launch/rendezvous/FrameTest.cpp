//===- FrameTest.cpp - messages between ranks at start-up -----------------===//

#include "runtime/launch/rendezvous/Frame.h"

#include <gtest/gtest.h>

namespace pcc::runtime {

TEST(Frame, ComesBack) {
  Frame frame;
  ASSERT_TRUE(decodeFrame(encodeFrame({FrameKind::Hello, "a=1\n"}), frame));
  EXPECT_EQ(frame.kind, FrameKind::Hello);
  EXPECT_EQ(frame.payload, "a=1\n");
  ASSERT_TRUE(decodeFrame(encodeFrame({FrameKind::Leave}), frame));
  EXPECT_EQ(frame.kind, FrameKind::Leave);
  EXPECT_EQ(frame.payload, "");
}

TEST(Frame, MayBeOf64KiB) {
  Frame frame;
  std::string bytes =
      encodeFrame({FrameKind::Data, std::string(kLongestPayload, 'x')});
  EXPECT_TRUE(decodeFrame(bytes, frame));
  EXPECT_FALSE(decodeFrame(bytes + "x", frame));
}

TEST(Frame, OfUnknownKindIsRefused) {
  Frame frame;
  for (const char kind : {char(0), char(99)})
    EXPECT_FALSE(decodeFrame({kind, '\0'}, frame));
  for (const char *bytes : {"", "\x01"})
    EXPECT_FALSE(decodeFrame(bytes, frame));
}

TEST(Fields, ComeBack) {
  const Fields fields = {{"a", "1=2"}, {"b", ""}, {"c", "x y"}};
  EXPECT_EQ(decodeFields(encodeFields(fields)), fields);
  EXPECT_EQ(decodeFields("\n=\nnothing\na=1"), (Fields{{"", ""}, {"a", "1"}}));
  EXPECT_EQ(encodeFields({{"a", "1\nb=2"}}), "a=1 b=2\n");
}

TEST(Hex, ComesBack) {
  const std::string bytes("\x00\xff\x10", 3);
  EXPECT_EQ(toHex(bytes), "00ff10");
  EXPECT_EQ(fromHex("00FF10"), bytes);
  for (const char *wrong : {"0", "0x", "zz", "00 1"})
    EXPECT_EQ(fromHex(wrong), "") << wrong;
}

} // namespace pcc::runtime
