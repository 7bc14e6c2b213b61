//===- FrameTest.cpp - what ranks say to each other at the rendezvous -----===//

#include "runtime/launch/rendezvous/Frame.h"

#include <gtest/gtest.h>

namespace pcc::runtime {

TEST(Frame, ComesBackWhateverItsPieces) {
  const std::string bytes = encodeFrame({FrameKind::Hello, "a=1\n"}) +
                            encodeFrame({FrameKind::Leave, ""});
  std::string arrived;
  std::vector<Frame> frames;
  for (const char byte : bytes) {
    arrived += byte;
    Frame frame;
    const Parsed parsed = takeFrame(arrived, frame);
    ASSERT_TRUE(parsed == Parsed::Partial || parsed == Parsed::Whole);
    if (parsed == Parsed::Whole)
      frames.push_back(frame);
  }
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].kind, FrameKind::Hello);
  EXPECT_EQ(frames[0].payload, "a=1\n");
  EXPECT_EQ(frames[1].kind, FrameKind::Leave);
  EXPECT_TRUE(arrived.empty());
}

TEST(Frame, MayBeOf64KiB) {
  std::string arrived =
      encodeFrame({FrameKind::Data, std::string(kLongestPayload, 'x')});
  Frame frame;
  EXPECT_EQ(takeFrame(arrived, frame), Parsed::Whole);
  arrived = encodeFrame({FrameKind::Data, std::string(kLongestPayload + 1, 0)});
  EXPECT_EQ(takeFrame(arrived, frame), Parsed::Garbage);
}

TEST(Frame, IsToldFromWhatOthersSay) {
  Frame frame;
  std::string request = "GET / HTTP/1.1\r\n\r\n";
  EXPECT_EQ(takeFrame(request, frame), Parsed::Garbage);
  std::string short_ = "P!";
  EXPECT_EQ(takeFrame(short_, frame), Parsed::Garbage);
  std::string newer = encodeFrame({FrameKind::Hello, ""});
  newer[4] = char(kProtocolVersion + 1);
  EXPECT_EQ(takeFrame(newer, frame), Parsed::OtherVersion);
  for (const char kind : {char(0), char(99)}) {
    std::string unknown = encodeFrame({FrameKind::Hello, ""});
    unknown[6] = kind;
    EXPECT_EQ(takeFrame(unknown, frame), Parsed::Garbage);
  }
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
